"""What a transport raises comes back as the same class with the same words, and after the same pieces."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from tests.integrations._clients import CLIENTS, Client, Reading
from tests.integrations._server import EVENTS, Server
from tests.integrations._sessions import MemoryRig, RealRig

HURRIED = 0.3


def anatomy(error: BaseException) -> list[Any]:
    """An exception as a program can see it: classes, words, what it carries in turn, and the request it is about."""
    carried = [anatomy(arg) for arg in (*error.args, getattr(error, "reason", None)) if isinstance(arg, BaseException)]
    about = getattr(error, "_request", None) or getattr(error, "request", None)
    return [type(error).__mro__, str(error), getattr(error, "errno", None), str(getattr(about, "url", "")), carried]


def caught(program: Callable[[], object]) -> list[Any]:
    with pytest.raises(Exception) as info:
        program()
    return anatomy(info.value)


@pytest.mark.parametrize("path", ["/drop", "/short", "/cut", "/reset", "/stall", "/no-head"])
def test_a_failing_request_raises_the_same_when_replayed(
    path: str, client: Client, any_rig: MemoryRig | RealRig
) -> None:
    patience = HURRIED if path in ("/stall", "/no-head") else 20

    def program() -> list[Any]:
        server.seen()
        return caught(lambda: client.fetch(server.url + path, patience=patience))

    with Server() as server:
        bare = program()
        with any_rig.record():
            recorded = program()
    with any_rig.replay():
        replayed = program()
    assert bare == recorded == replayed


@pytest.mark.parametrize("path", ["/cut", "/reset", "/stall"])
def test_what_had_come_before_a_stream_broke_comes_again(
    path: str, client: Client, any_rig: MemoryRig | RealRig
) -> None:
    def program() -> tuple[list[Any], list[bytes]]:
        reading = Reading(server.seen, patience=HURRIED if path == "/stall" else 20)
        return caught(lambda: client.stream(server.url + path, reading)), reading.got

    with Server() as server, any_rig.record():
        recorded = program()
    assert recorded[1] == list(EVENTS[: 2 if path == "/cut" else 1])
    if isinstance(any_rig, MemoryRig):
        assert any_rig.exchanges[0].streamed.end == "broken"
        assert any_rig.exchanges[0].streamed.error is not None
    with any_rig.replay():
        assert program() == recorded


def test_a_server_that_is_not_there_is_not_there_in_the_replay(client: Client, any_rig: MemoryRig | RealRig) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"

    def program() -> list[Any]:
        return caught(lambda: client.fetch(url))

    bare = program()
    with any_rig.record():
        recorded = program()
    with any_rig.replay():
        assert program() == recorded == bare


def test_a_host_without_a_name_is_unknown_in_the_replay(client: Client, rig: MemoryRig) -> None:
    def program() -> list[Any]:
        return caught(lambda: client.fetch("http://nobody.invalid/"))

    with rig.record():
        recorded = program()
    with rig.replay():
        assert program() == recorded


def test_live_objects_are_given_back_to_recorded_errors(rig: MemoryRig) -> None:
    """An error speaks of its own request, pool or connection, which no recording can hold."""
    import httpx2
    import urllib3

    def program() -> None:
        with httpx2.Client(verify=False, timeout=HURRIED) as client:
            with pytest.raises(httpx2.ReadTimeout) as timeout:
                client.get(server.url + "/no-head")
            assert timeout.value.request.url == server.url + "/no-head"
        with urllib3.HTTPConnectionPool("127.0.0.1", server.port, timeout=HURRIED, retries=False) as pool:
            with pytest.raises(urllib3.exceptions.ReadTimeoutError) as slow:
                pool.request("GET", "/no-head")
            assert slow.value.pool is pool
            with pytest.raises(urllib3.exceptions.ReadTimeoutError) as stalled:
                pool.request("GET", "/stall", preload_content=False).data  # noqa: B018
            assert stalled.value.pool is pool

    with Server() as server, rig.record():
        program()
    with rig.replay():
        program()


def test_each_attempt_of_a_retry_is_an_exchange(any_rig: MemoryRig | RealRig) -> None:
    import requests
    import urllib3

    def program() -> list[Any]:
        retries = urllib3.Retry(3, status_forcelist=[503], backoff_factor=0)
        with urllib3.PoolManager(retries=retries) as manager:
            bare = manager.request("GET", server.url + "/flaky")
        with requests.Session() as session:
            session.mount("http://", requests.adapters.HTTPAdapter(max_retries=retries))
            over = session.get(server.url + "/flaky?again")
        return [bare.status, bare.data, over.status_code, over.content]

    with Server() as server, any_rig.record():
        assert program() == [200, b"yes"] * 2
        assert server.hits == 4
    if isinstance(any_rig, MemoryRig):
        assert [exchange.head.status for exchange in any_rig.exchanges] == [503, 200, 503, 200]
    with any_rig.replay():
        assert program() == [200, b"yes"] * 2


@pytest.mark.parametrize("total", [True, False], ids=["total", "sock_read"])
@pytest.mark.parametrize("path", ["/stall", "/no-head"])
def test_timeouts_of_aiohttp_keep_their_kind(path: str, total: bool, any_rig: MemoryRig | RealRig) -> None:
    import asyncio

    import aiohttp

    async def program() -> list[Any]:
        timeout = aiohttp.ClientTimeout(total=HURRIED) if total else aiohttp.ClientTimeout(sock_read=HURRIED)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            try:
                async with session.get(server.url + path) as response:
                    await response.read()
            except TimeoutError as error:
                return anatomy(error)
        raise AssertionError("no timeout")

    with Server() as server:
        bare = asyncio.run(program())
        with any_rig.record():
            recorded = asyncio.run(program())
    with any_rig.replay():
        assert asyncio.run(program()) == recorded == bare


def test_an_error_status_is_an_answer_like_any_other(client: Client, rig: MemoryRig) -> None:
    with Server() as server, rig.record():
        recorded = client.fetch(server.url + "/missing")
    assert (recorded.status, recorded.body) == (404, b'{"error": "none"}')
    with rig.replay():
        assert client.fetch(server.url + "/missing") == recorded


def test_every_client_is_here() -> None:
    assert {client.name.removesuffix("-async") for client in CLIENTS} == {
        "aiohttp",
        "httpx",
        "httpx2",
        "requests",
        "urllib3",
    }
