"""Whoever goes away in the middle: recorded as that, and replayed the same."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.errors import DivergenceError
from playhead.testing import Drop, ModelServer, Raw, Text
from tests.gateway.standing import Client, question, recorded, replayed

DEAD = "http://127.0.0.1:9"


def answer_of(folder: Path) -> Any:
    return playhead.load("run-1", store=folder).exchanges[0].answer


def test_a_client_that_goes_away_in_the_middle_of_a_stream_is_recorded_as_such_and_the_server_let_go(
    tmp_path: Path,
) -> None:
    def leave_early(url: str) -> list[bytes]:
        client = Client(url)
        client.send(question())
        assert client.head()[0] == 200
        pieces = [client.piece() for _ in range(3)]
        client.close()
        return pieces

    hangs = Raw(chunks=[b"data: %d\n\n" % n for n in range(3)], hang=True, drop_after=3)
    with ModelServer(hangs) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        seen = leave_early(gateway.url("openai"))
    body = answer_of(tmp_path).body
    assert body.end == "closed"
    with replayed(tmp_path, openai=DEAD) as (gateway, report):
        assert leave_early(gateway.url("openai")) == seen
    assert report.identical


def test_a_client_that_goes_away_before_the_answer_begins_is_recorded_as_such(tmp_path: Path) -> None:
    def give_up(url: str) -> None:
        client = Client(url)
        client.send(question())
        client.sock.shutdown(socket.SHUT_WR)
        assert client.sock.recv(1) == b""  # the gateway has noticed

    with ModelServer(Drop(hang=True)) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        give_up(gateway.url("openai"))
    assert answer_of(tmp_path).kind == "model.failed"
    with replayed(tmp_path, openai=DEAD) as (gateway, report):
        give_up(gateway.url("openai"))
    assert report.identical


@pytest.mark.parametrize("rst", [False, True])
def test_a_server_that_breaks_off_in_the_middle_breaks_off_for_the_client_and_does_so_again(
    tmp_path: Path, rst: bool
) -> None:
    def read(url: str) -> tuple[list[bytes], str]:
        client = Client(url)
        client.send(question())
        assert client.head()[0] == 200
        pieces = []
        try:
            while True:
                pieces.append(client.piece())
        except (EOFError, ConnectionError) as error:
            return pieces, type(error).__name__

    breaks = Text("one two three four", drop_after=3, rst=rst, chunk_delay=0.05)
    with ModelServer(breaks, padding=False) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        seen = read(gateway.url("openai"))
    body = answer_of(tmp_path).body
    assert body.end == "broken"
    assert len(seen[0]) == 3
    with replayed(tmp_path, openai=DEAD) as (gateway, report):
        assert read(gateway.url("openai")) == seen
    assert report.identical


@pytest.mark.parametrize(
    ("route", "path", "where"),
    [
        ("openai", "/chat/completions", ["error", "message"]),
        ("anthropic", "/v1/messages", ["error", "message"]),
        ("gemini", "/v1beta/models/gemini-2.5-flash:generateContent", ["error", "message"]),
    ],
)
def test_a_server_that_cannot_be_reached_is_an_error_502_that_can_be_read(
    tmp_path: Path, route: str, path: str, where: list[str]
) -> None:
    bodies = {"openai": question(), "anthropic": question(max_tokens=5), "gemini": b'{"contents": [{"parts": []}]}'}
    seen = []
    with recorded(tmp_path, **{route: DEAD}) as gateway:
        seen.append(Client(gateway.url(route)).ask(bodies[route], path))
    with replayed(tmp_path, **{route: DEAD}) as (gateway, report):
        seen.append(Client(gateway.url(route)).ask(bodies[route], path))
    assert seen[0] == seen[1]
    status, body = seen[0]
    told: Any = json.loads(body)
    for key in where:
        told = told[key]
    assert (status, "cannot be reached" in told) == (502, True)
    assert answer_of(tmp_path).kind == "model.failed"
    assert report.identical


def test_a_question_that_was_not_recorded_is_answered_with_400_and_the_difference(tmp_path: Path) -> None:
    with ModelServer(Text("hello")) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        Client(gateway.url("openai")).ask(question("how are you?"))
    with pytest.raises(DivergenceError) as raised, replayed(tmp_path, openai=DEAD) as (gateway, report):
        client = Client(gateway.url("openai"))
        status, body = client.ask(question("how old are you?"))
        told = json.loads(body)["error"]["message"]
        assert status == 400
        assert "old" in told
        assert client.ask(question("how are you?"))[0] == 400  # from there on nothing is answered
    assert raised.value.message == told
    assert report.divergence is not None


def test_a_server_that_closes_an_idle_connection_costs_the_client_nothing(tmp_path: Path) -> None:
    script = [Text("one", headers={"connection": "close"}), Text("two")]
    with ModelServer(script) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        client = Client(gateway.url("openai"))
        assert [client.ask(question(text, stream=False))[0] for text in "ab"] == [200, 200]


def test_an_answer_without_a_length_ends_with_its_connection(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            sock, _ = listener.accept()
            sock.recv(65536)
            sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nfirst ")
            sock.sendall(b"second")
            sock.close()

        threading.Thread(target=serve).start()
        with recorded(tmp_path, own=f"http://127.0.0.1:{listener.getsockname()[1]}") as gateway:
            assert Client(gateway.url("own")).ask(b"", "/x", method="GET") == (200, b"first second")
    assert answer_of(tmp_path).body.end == "complete"
