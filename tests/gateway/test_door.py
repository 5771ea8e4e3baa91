"""Who may come in, and what goes on as it came."""

from __future__ import annotations

import gzip
import json
import socket
from pathlib import Path

import pytest

import playhead
from playhead.boundary import current_lane, outside_runs
from playhead.gateway import Conversations, Gateway
from playhead.testing import Fail, ModelServer, Raw, Text
from tests.gateway.standing import Client, question, recorded, replayed


def test_it_listens_on_the_loopback_interface_alone(tmp_path: Path) -> None:
    with recorded(tmp_path, openai="http://127.0.0.1:9") as gateway:
        host, port = gateway.url("openai").split("/")[2].split(":")
        assert host == "127.0.0.1"
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", int(port)), timeout=5):
            pass


@pytest.mark.parametrize(
    "path", ["/", "/wrong/openai/models", "/{token}", "/{token}/other/models", "/{token}x/openai/m"]
)
def test_who_does_not_know_the_token_gets_404_and_nothing_is_asked(tmp_path: Path, path: str) -> None:
    with ModelServer(Text("hi")) as server:
        with recorded(tmp_path, openai=server.openai_url) as gateway:
            client = Client(gateway.url("openai"))
            token = client.base.split("/")[1]
            client.base = ""
            assert client.ask(b"", path.format(token=token), method="GET")[0] == 404
            assert client.ask(b"", path.format(token=token), method="GET")[0] == 404  # on the same connection
        assert server.hits == 0
    assert len(playhead.load("run-1", store=tmp_path).questions) == 0


def test_one_connection_carries_many_requests_of_all_methods(tmp_path: Path) -> None:
    routes = {"GET /v1/models": Raw(body=b'{"data": []}', headers={"content-type": "application/json", "x-one": "1"})}
    routes["HEAD /v1/models"] = routes["GET /v1/models"]
    seen = []

    def ask(url: str) -> list[object]:
        client = Client(url)
        got: list[object] = [client.ask(question()), client.ask(b"", "/models?limit=2", method="GET")]
        client.send(b"", "/models", method="HEAD")
        got.append(client.head())
        got.append(client.ask(question(stream=False)))
        return got

    with ModelServer(Text("hello"), routes=routes, padding=False) as server:
        with recorded(tmp_path, openai=server.openai_url) as gateway:
            seen.append(ask(gateway.url("openai")))
        assert [request.path for request in server.requests] == [
            *("/v1/chat/completions", "/v1/models", "/v1/models", "/v1/chat/completions")
        ]
        assert dict(server.requests[0].headers)["Host"] == server.url.removeprefix("http://")
    with replayed(tmp_path, openai=server.openai_url) as (gateway, report):
        seen.append(ask(gateway.url("openai")))
    assert seen[0] == seen[1]
    assert report.identical


def test_a_request_in_chunks_arrives_whole(tmp_path: Path) -> None:
    with ModelServer(Text("hello")) as server:
        with recorded(tmp_path, openai=server.openai_url) as gateway:
            client = Client(gateway.url("openai"))
            body = question(stream=False)
            chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:10], body[10:])) + b"0\r\n\r\n"
            head = f"POST {client.base}/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n"
            client.sock.sendall(head.encode() + b"expect: 100-continue\r\n\r\n")
            assert client.head()[0] == 100
            client.sock.sendall(chunks)
            assert client.answer()[0] == 200
        assert server.requests[0].body == body


def test_the_content_coding_is_left_as_it_is(tmp_path: Path) -> None:
    seen = []
    with (
        ModelServer(Text("hello " * 200), gzip=True) as server,
        recorded(tmp_path, openai=server.openai_url) as gateway,
    ):
        seen.append(Client(gateway.url("openai")).ask(question(stream=False), headers="accept-encoding: gzip\r\n"))
    with replayed(tmp_path, openai=server.openai_url) as (gateway, report):
        seen.append(Client(gateway.url("openai")).ask(question(stream=False), headers="accept-encoding: gzip\r\n"))
    assert [b"hello hello" in gzip.decompress(body) for _, body in seen] == [True, True]
    assert report.identical


def test_an_error_of_the_provider_passes_through(tmp_path: Path) -> None:
    answer = Fail(429, "slow down", headers={"retry-after": "7"})
    with ModelServer(answer) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        client = Client(gateway.url("openai"))
        client.send(question())
        status, headers = client.head()
        assert (status, headers["retry-after"]) == (429, "7")


def test_bytes_that_are_no_request_are_refused_and_nothing_else_suffers(tmp_path: Path) -> None:
    with ModelServer(Text("hello")) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        bad = Client(gateway.url("openai"))
        bad.sock.sendall(b"\x16\x03\x01 not HTTP at all\r\n\r\n")
        assert bad.head()[0] == 400
        assert Client(gateway.url("openai")).ask(question())[0] == 200


def test_a_websocket_is_answered_with_501_and_noted(tmp_path: Path) -> None:
    with recorded(tmp_path, openai="http://127.0.0.1:9/v1") as gateway:
        headers = "connection: upgrade\r\nupgrade: websocket\r\n"
        status, body = Client(gateway.url("openai")).ask(b"", "/realtime", method="GET", headers=headers)
        assert (status, "websocket" in json.loads(body)["error"]["message"]) == (501, True)
    finished = playhead.load("run-1", store=tmp_path).finished
    assert finished is not None
    assert finished.unseen["websocket"] == 1  # others than ours may count what earlier tests left


def test_a_conversation_has_one_lane_and_its_parallel_twin_another(tmp_path: Path) -> None:
    def talk(*said: str) -> bytes:
        roles = ("system", "user", "assistant")
        messages = [{"role": roles[min(n, 1 + (n + 1) % 2)], "content": text} for n, text in enumerate(said)]
        return json.dumps({"model": "gpt-4o", "messages": messages}).encode()

    with ModelServer(Text("hello")) as server, recorded(tmp_path, openai=server.openai_url) as gateway:
        client = Client(gateway.url("openai"))
        for body in (talk("be kind", "hi"), talk("be kind", "hi", "hello", "more"), talk("be curt", "hi")):
            client.ask(body)
    lanes = [question.lane for question in playhead.load("run-1", store=tmp_path).questions]
    assert lanes == ["main/openai#1", "main/openai#1", "main/openai#2"]


def test_an_integration_can_say_which_lane_a_request_belongs_to(tmp_path: Path) -> None:
    with ModelServer(Text("hello")) as server, playhead.record(id="run-1", store=tmp_path):
        main = current_lane()
        assert main is not None
        mine = main.child("mine")
        standing = Gateway(main, {"openai": server.openai_url}, lane_of=lambda route, request: mine)
        with standing as gateway, outside_runs():
            Client(gateway.url("openai")).ask(question())
    assert [question.lane for question in playhead.load("run-1", store=tmp_path).questions] == ["main/mine#1"]


def test_lanes_are_labelled_by_what_is_said_first(tmp_path: Path) -> None:
    with ModelServer(Text("hello")) as server, playhead.record(id="run-1", store=tmp_path):
        main = current_lane()
        assert main is not None
        label = Conversations(main, label=lambda first: first.upper())
        with Gateway(main, {"openai": server.openai_url}, conversations=label) as gateway, outside_runs():
            Client(gateway.url("openai")).ask(question("at 12:30 four"))
    assert playhead.load("run-1", store=tmp_path).questions[0].lane == "main/openai.AT  FOUR#1"
