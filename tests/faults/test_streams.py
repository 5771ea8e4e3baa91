"""Faults that people suffered where answers come piece by piece, over recordings in files."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

import playhead
from playhead.providers import parse_events
from playhead.testing import ModelServer, Raw
from tests.faults.playing import record, replay
from tests.integrations._clients import Client, Reading
from tests.integrations._server import EVENTS, Server

AWKWARD = 'event: x\r\ndata:{"t":"né"}\r\n\r\n: ping\r\n\r\ndata: line1\r\ndata: line2\r\n\r\n'.encode()


def test_five_events_are_five_events_and_the_first_is_not_held_back(client: Client, server: Server) -> None:
    """B01: the server sends each event only when the one before it has been read."""

    def program() -> list[bytes]:
        return client.stream(f"{server.url}/events", Reading(seen=server.seen))

    run, live = record(program)
    assert live == list(EVENTS)
    assert server.impatient == 0
    with replay(run):
        assert program() == live


def test_each_of_equal_replies_is_a_fresh_one(client: Client, server: Server) -> None:
    """B02: three times the same thirty bytes."""

    def program() -> list[int]:
        return [len(client.fetch(f"{server.url}/bytes/30").body) for _ in range(3)]

    run, live = record(program)
    assert live == [30, 30, 30]
    with replay(run):
        assert program() == live


@pytest.mark.parametrize("ends", [b"\r\n", b"\n", b"\r"])
def test_events_cut_anywhere_come_back_in_the_same_pieces(ends: bytes) -> None:
    """B23: within a character of two bytes, within an end of a line, around a comment."""
    body = AWKWARD.replace(b"\r\n", ends)
    kind = {"content-type": "text/event-stream"}
    cuts = [Raw(chunks=[body[:at], body[at:]], headers=kind, delays=(0, 0.002)) for at in range(1, len(body))]

    def program() -> list[list[bytes]]:
        with httpx2.Client(verify=False) as client:
            return [_pieces(client, f"{server.url}/cut/{number}") for number in range(len(cuts))]

    routes = {f"/cut/{number}": cut for number, cut in enumerate(cuts)}
    with ModelServer(routes=routes) as server:
        run, live = record(program)
    assert {b"".join(pieces) for pieces in live} == {body}
    with replay(run):
        played = program()
    expected = parse_events(body)
    assert [event.data for event in expected if event.data] == ['{"t":"né"}', "line1\nline2"]
    for before, after in zip(live, played, strict=True):
        assert len(after) == len(before)
        assert parse_events(b"".join(after)) == expected


def _pieces(client: httpx2.Client, url: str) -> list[bytes]:
    with client.stream("GET", url) as response:
        return list(response.iter_raw())


def rpc(message: dict[str, Any]) -> Raw:
    return Raw(body=json.dumps({"jsonrpc": "2.0", "id": 1, **message}))


TOOL_ANSWERS = [
    rpc({"result": {"content": [{"type": "text", "text": "ok"}]}}),
    rpc({"result": {"content": [{"type": "text", "text": "no such row"}], "isError": True}}),
    rpc({"error": {"code": -32603, "message": "internal error"}}),
    Raw(502, "bad gateway"),
    Raw(hang=True),
]


class ToolFailedError(Exception):
    """The tool says that it failed."""


class ProtocolError(Exception):
    """The tool's server says that it failed."""


def call_tool(url: str, patience: float) -> str:
    """A client of a tool server, in few lines."""
    answer = httpx2.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/call"}, timeout=patience)
    answer.raise_for_status()
    said = answer.json()
    if "error" in said:
        raise ProtocolError(said["error"]["code"], said["error"]["message"])
    if said["result"].get("isError"):
        raise ToolFailedError(said["result"]["content"][0]["text"])
    return str(said["result"]["content"][0]["text"])


@pytest.mark.parametrize("level", ["http", "wrap"])
def test_five_ways_in_which_a_tool_server_answers_stay_five(level: str) -> None:
    """B35: a result, an error of the tool, of the protocol, of the transport, and silence."""
    call = playhead.wrap("tool server", call_tool) if level == "wrap" else call_tool

    def program() -> list[tuple[str, str]]:
        seen = []
        for number in range(len(TOOL_ANSWERS)):
            try:
                seen.append(("ok", call(f"{server.url}/tool/{number}", 0.4 if number == 4 else 20.0)))
            except Exception as error:
                seen.append((type(error).__name__, str(error)))
        return seen

    routes = {f"/tool/{number}": answer for number, answer in enumerate(TOOL_ANSWERS)}
    with ModelServer(routes=routes) as server:
        run, live = record(program)
    assert [kind for kind, _ in live] == ["ok", "ToolFailedError", "ProtocolError", "HTTPStatusError", "ReadTimeout"]
    with replay(run):
        assert program() == live
    kinds = [exchange.answer.kind for exchange in playhead.load(run).exchanges if exchange.answer is not None]
    failed = ["boundary.failed"]
    answered = ["boundary.answered"]
    assert kinds == (answered + failed * 4 if level == "wrap" else answered * 4 + failed)
