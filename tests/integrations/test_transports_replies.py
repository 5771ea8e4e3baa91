"""What a client gives its program is the same when it is recorded, when it is replayed and without us."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integrations._clients import CLIENTS, Client, Reply
from tests.integrations._server import BINARY, DOCUMENT, EVENTS, Server
from tests.integrations._sessions import MemoryRig, RealRig

PATHS = ("/zipped?key=1", "/binary", "/until-closed", "/missing", "/empty", "/events")


def three_times(server: Server, rig: Any, program: Callable[[], Any]) -> tuple[Any, Any, Any]:
    """What ``program`` gives without us, recorded, and replayed with the server off."""
    with server:
        bare = program()
        with rig.record():
            recorded = program()
    with rig.replay():
        replayed = program()
    return bare, recorded, replayed


@pytest.mark.parametrize("path", PATHS)
def test_a_reply_is_the_same_bare_recorded_and_replayed(
    path: str, client: Client, any_rig: MemoryRig | RealRig
) -> None:
    server = Server(events=lambda e: (e.head([("Transfer-Encoding", "chunked")]), *map(e.chunk, (*EVENTS, b""))))
    bare, recorded, replayed = three_times(server, any_rig, lambda: client.fetch(server.url + path))
    assert bare == recorded == replayed


def test_a_body_is_kept_as_it_was_on_the_wire_and_decoded_by_whichever_client_replays_it(rig: MemoryRig) -> None:
    """B04."""
    for recording in CLIENTS:
        with Server() as server, rig.record():
            first = recording.fetch(server.url + "/zipped")
            assert recording.fetch(server.url + "/binary").body == BINARY
        assert json.loads(first.body) == DOCUMENT
        assert rig.exchanges[0].body.startswith(b"\x1f\x8b")
        for replaying in CLIENTS:
            with rig.replay():
                assert json.loads(replaying.fetch(server.url + "/zipped").body) == DOCUMENT
                assert replaying.fetch(server.url + "/binary").body == BINARY


def test_each_replayed_reply_has_a_body_of_its_own(client: Client, any_rig: MemoryRig | RealRig) -> None:
    """B02."""

    def program() -> list[int]:
        return [len(client.fetch(server.url + "/bytes/30").body) for _ in range(3)]

    server = Server()
    assert three_times(server, any_rig, program) == ([30] * 3, [30] * 3, [30] * 3)


def test_repeated_headers_stay_apart_in_order_and_case(client: Client, rig: MemoryRig) -> None:
    """B09."""

    def program() -> Reply:
        return client.fetch(server.url + "/cookies")

    server = Server()
    bare, recorded, replayed = three_times(server, rig, program)
    assert bare == recorded == replayed
    said = [(name, value) for name, value in rig.exchanges[0].head.headers if name != "Content-Length"]
    assert said == [
        ("Set-Cookie", "a=1; Path=/"),
        ("Warning", '199 - "first"'),
        ("set-cookie", "b=2; Path=/; Expires=Wed, 01 Jan 2098 00:00:00 GMT"),
        ("Warning", '199 - "second"'),
    ]
    if client.name != "urllib3":
        assert replayed.cookies == {"a": "1", "b": "2"}


@pytest.mark.parametrize("name", ["httpx", "httpx2-async", "urllib3", "aiohttp"])
def test_repeated_request_headers_are_all_handed_over(name: str, rig: MemoryRig) -> None:
    """B09, the request's side."""
    client = next(client for client in CLIENTS if client.name == name)
    pairs: Any = [("X-Trace", "one"), ("X-Trace", "two")]
    if name == "urllib3":
        import urllib3

        pairs = urllib3.HTTPHeaderDict(pairs)
    with Server() as server, rig.record():
        client.fetch(server.url + "/echo", headers=pairs)
    kept = [value for name, value in rig.exchanges[0].request.headers if name.lower() == "x-trace"]
    assert kept == ["one", "two"]


def test_each_hop_of_a_redirect_is_an_exchange(client: Client, any_rig: MemoryRig | RealRig) -> None:
    """B14."""

    def program() -> list[Any]:
        followed = client.fetch(server.url + "/a")
        posted = client.fetch(server.url + "/form", method="POST", content=b"x=1")
        return [followed, posted]

    server = Server()
    bare, recorded, replayed = three_times(server, any_rig, program)
    assert bare == recorded == replayed
    followed, posted = replayed
    assert (followed.status, followed.body, followed.history) == (200, b"arrived", [302, 307])
    assert (posted.status, posted.history) == (200, [303])
    if isinstance(any_rig, MemoryRig):
        asked = [(e.request.method, e.request.url.removeprefix(server.url), e.head.status) for e in any_rig.exchanges]
        hops = [("GET", "/a", 302), ("GET", "/b", 307), ("GET", "/c", 200)]
        assert asked == [*hops, ("POST", "/form", 303), ("GET", "/c", 200)]


def test_without_following_the_replay_gives_the_redirect_itself(client: Client, rig: MemoryRig) -> None:
    """B14, the other half: the first hop can be asked for alone."""
    with Server() as server, rig.record():
        client.fetch(server.url + "/a")
    with rig.replay(whole=False):
        reply = client.fetch(server.url + "/a", follow=False)
    assert (reply.status, reply.history) == (302, [])
    assert rig.player.left == 2


def test_head_requests_have_a_length_and_no_body(client: Client, any_rig: MemoryRig | RealRig) -> None:
    server = Server()
    bare, recorded, replayed = three_times(server, any_rig, lambda: client.fetch(server.url + "/head", method="HEAD"))
    assert bare == recorded == replayed
    assert (replayed.body, dict(replayed.headers)["Content-Length"]) == (b"", "30")


def test_a_request_is_handed_over_with_its_whole_url_and_body(client: Client, rig: MemoryRig) -> None:
    with Server() as server, rig.record():
        client.fetch(server.url + "/echo?q=a%20b", method="POST", json={"city": "Łódź"})
    exchange = rig.exchanges[0]
    assert exchange.call.name == f"POST {server.url}/echo"
    assert exchange.request.url == f"{server.url}/echo?q=a%20b"
    assert json.loads(exchange.request.body or b"") == {"city": "Łódź"}
    assert exchange.request.body == server.exchanges[0].body


def test_a_body_that_can_be_read_once_is_sent_as_ever_and_noted(client: Client, rig: MemoryRig) -> None:
    def program() -> str:
        steps.clear()
        if client.awaits:

            async def pieces() -> Any:
                for step in ("one", "two"):
                    steps.append(step)
                    yield step.encode()

        else:

            def pieces() -> Any:
                for step in ("one", "two"):
                    steps.append(step)
                    yield step.encode()

        said: str = json.loads(client.fetch(server.url + "/echo", method="POST", content=pieces()).body)["body"]
        return said

    steps: list[str] = []
    server = Server()
    assert three_times(server, rig, program) == ("onetwo",) * 3
    assert steps == ["one", "two"]  # also read in the replay: a program may do its work there
    assert rig.exchanges[0].request.body is None
    assert [name for name, _ in rig.recorder.notices] == ["request body that can be read once"]


@pytest.mark.parametrize("name", ["httpx", "httpx-async", "httpx2", "httpx2-async", "requests", "aiohttp"])
def test_a_multipart_body_is_handed_over_whole_and_its_file_sent_whole(name: str, rig: MemoryRig) -> None:
    """B11, the transports' part: the matcher is given the parts to compare."""
    import aiohttp

    client = next(client for client in CLIENTS if client.name == name)

    def program() -> bool:
        file = io.BytesIO(b"f" * 1000)
        if name == "aiohttp":
            form = aiohttp.FormData({"model": "x"})
            form.add_field("file", file, filename="a.bin")
            reply = client.fetch(server.url + "/echo", method="POST", content=form)
        else:
            reply = client.fetch(server.url + "/echo", method="POST", data={"model": "x"}, files={"file": file})
        return "f" * 1000 in json.loads(reply.body)["body"]

    server = Server()
    assert three_times(server, rig, program) == (True, True, True)
    assert rig.exchanges[0].request.body == server.exchanges[1].body
