"""Whose a request is: one crossing for each, counted to its own run, or to none."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import httpx2
import pytest
import requests
import urllib3

from playhead.boundary import Installation, Lane, in_lane
from playhead.errors import ConnectionRefusedInReplayError
from playhead.integrations import aiohttp as aiohttp_seam
from playhead.integrations import httpx as httpx_seam
from playhead.integrations import urllib3 as urllib3_seam
from tests.integrations._clients import Client
from tests.integrations._server import Server
from tests.integrations._sessions import MemoryRig, RealRig

SEAMS = (httpx_seam.install, urllib3_seam.install, aiohttp_seam.install)


def test_layers_that_are_all_recorded_give_one_exchange_a_request(client: Client, rig: MemoryRig) -> None:
    """B62: requests sits on urllib3, and a second installation sits on the first."""
    again = Installation()
    with Server() as server, rig.record():
        again.enter(SEAMS)
        try:
            for _ in range(3):
                client.fetch(server.url + "/c")
        finally:
            again.leave()
    assert len(rig.exchanges) == 3
    assert server.hits == 3
    assert rig.recorder.double == 0


@pytest.mark.parametrize("package", [httpx, httpx2, requests, urllib3], ids=lambda package: package.__name__)
def test_no_request_of_any_thread_is_missed(package: Any, rig: MemoryRig) -> None:
    """B07: eight threads with twenty-five requests each, over one client."""

    def work(lane: Lane, get: Callable[[str], Any], number: int) -> list[int]:
        with in_lane(lane):
            return [get(f"{server.url}/bytes/{number * 25 + turn}") for turn in range(25)]

    def program(main: Lane) -> list[list[int]]:
        match package.__name__:
            case "requests":
                session = requests.Session()
                get: Any = lambda url: len(session.get(url).content)  # noqa: E731
            case "urllib3":
                manager = urllib3.PoolManager(maxsize=8)
                get = lambda url: len(manager.request("GET", url).data)  # noqa: E731
            case _:
                client = package.Client(verify=False)
                get = lambda url: len(client.get(url).content)  # noqa: E731
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(work, [main.child("work") for _ in range(8)], [get] * 8, range(8)))

    expected = [[number * 25 + turn for turn in range(25)] for number in range(8)]
    for _ in range(3):
        with Server() as server:
            with rig.record() as lane:
                assert program(lane) == expected
            assert len(rig.exchanges) == server.hits == 200
        assert all(exchange.outcome is not None for exchange in rig.exchanges)
        with rig.replay() as lane:
            assert program(lane) == expected


def test_traffic_of_no_lane_and_of_ignored_hosts_lies_outside_the_run(client: Client, rig: MemoryRig) -> None:
    """B20."""
    stop = threading.Event()

    def report() -> None:
        while not stop.is_set():
            requests.post(telemetry.url + "/echo", data=b"span")

    with Server() as server, Server() as telemetry:
        rig.ignored = (f"127.0.0.1:{telemetry.port}",)
        with rig.record():
            thread = threading.Thread(target=report)
            thread.start()
            for number in range(2):
                client.fetch(f"{server.url}/bytes/{number}")
                client.fetch(telemetry.url + "/echo", method="POST", content=b"span")
            stop.set()
            thread.join()
        assert telemetry.hits >= 2
        assert [exchange.request.url for exchange in rig.exchanges] == [f"{server.url}/bytes/{n}" for n in range(2)]
        hits = telemetry.hits
        with rig.replay():
            for number in range(2):
                client.fetch(f"{server.url}/bytes/{number}")
        with rig.replay(whole=False), pytest.raises(Exception, match=r"refused|onnect"):
            client.fetch(telemetry.url + "/echo", method="POST", content=b"span")
        assert telemetry.hits == hits


@pytest.mark.parametrize("package", [httpx, httpx2], ids=lambda package: package.__name__)
def test_a_client_made_in_one_run_serves_the_next_its_replay_and_what_comes_after(package: Any, rig: MemoryRig) -> None:
    """B08 (b): no socket is opened in the replay, and afterwards the client is as good as new."""
    with Server() as server:
        with rig.record():
            client = package.Client(verify=False)
            session = requests.Session()
            first = client.get(server.url + "/bytes/1").content, session.get(server.url + "/bytes/2").content
        with rig.replay():
            again = client.get(server.url + "/bytes/1").content, session.get(server.url + "/bytes/2").content
        assert again == first
        assert server.hits == 2
        after = client.get(server.url + "/bytes/3").content, session.get(server.url + "/bytes/4").content
        assert tuple(map(len, after)) == (3, 4)
        assert server.hits == 4
        assert len(rig.exchanges) == 2


def test_a_session_of_aiohttp_serves_a_run_its_replay_and_what_comes_after(rig: MemoryRig) -> None:
    """B08 (b)."""
    import aiohttp

    async def fetch(session: aiohttp.ClientSession, count: int) -> int:
        async with session.get(f"{server.url}/bytes/{count}") as response:
            return len(await response.read())

    async def program() -> list[int]:
        async with aiohttp.ClientSession() as session:
            with rig.record():
                got = [await fetch(session, 1), await fetch(session, 2)]
            with rig.replay():
                got += [await fetch(session, 1), await fetch(session, 2)]
            hits = server.hits
            return [*got, hits, await fetch(session, 3)]

    with Server() as server:
        assert asyncio.run(program()) == [1, 2, 1, 2, 2, 3]


def test_a_stream_abandoned_in_one_run_ends_in_that_run(rig: MemoryRig) -> None:
    """B08 (a): its generator is collected while the next run is recorded."""
    with Server() as server, httpx2.Client(verify=False) as client:
        with rig.record():
            abandoned: Any = client.send(client.build_request("GET", server.url + "/stall"), stream=True)
            pieces = abandoned.iter_bytes()
            next(pieces)
        (first,) = rig.exchanges
        with rig.record():
            client.get(server.url + "/c")
            del abandoned, pieces
            gc.collect()
        assert first.streamed.end == "closed"
        assert [exchange.call.name for exchange in rig.exchanges] == [f"GET {server.url}/c"]
        with rig.replay():
            client.get(server.url + "/c")
        assert server.hits == 2


def test_a_request_after_the_end_of_its_run_is_never_counted_to_the_next(rig: MemoryRig) -> None:
    """B08 (c): a thread outlives its run."""
    go, done = threading.Event(), threading.Event()

    def late(lane: Lane) -> None:
        with in_lane(lane):
            go.wait(10)
            with httpx2.Client(verify=False) as client:
                client.get(server.url + "/bytes/1")
            done.set()

    with Server() as server:
        with rig.record() as lane:
            threading.Thread(target=late, args=(lane,)).start()
        first = rig.recorder
        with rig.record():
            go.set()
            done.wait(10)
            httpx2.get(server.url + "/c", verify=False)
        assert [exchange.call.name for exchange in rig.exchanges] == [f"GET {server.url}/c"]
        assert len(first.exchanges) <= 1


def test_requests_inside_a_tool_belong_to_the_tool(client: Client, rig: MemoryRig) -> None:
    with Server() as server, rig.record() as lane, in_lane(lane.inside()):
        assert client.fetch(server.url + "/c").body == b"arrived"
    assert rig.exchanges == []


def test_transports_that_answer_in_process_are_not_touched(rig: MemoryRig) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="from here")

    with rig.record(), httpx.Client(transport=httpx.MockTransport(answer)) as client:
        assert client.get("http://inside/").text == "from here"
    assert rig.exchanges == []


@pytest.mark.parametrize("package", [httpx, httpx2, requests, urllib3], ids=lambda package: package.__name__)
def test_a_request_through_a_proxy_is_one_exchange_and_needs_none_in_the_replay(package: Any, rig: MemoryRig) -> None:
    def program() -> bytes:
        match package.__name__:
            case "requests":
                return bytes(requests.get("http://far.invalid/x?y=1", proxies={"http": proxy.url}).content)
            case "urllib3":
                return bytes(urllib3.ProxyManager(proxy.url).request("GET", "http://far.invalid/x?y=1").data)
            case _:
                with package.Client(proxy=proxy.url, verify=False) as client:
                    return bytes(client.get("http://far.invalid/x?y=1").content)

    def forward(exchange: Any) -> None:
        exchange.answer(exchange.target.encode())

    with Server(**{"": forward}) as proxy, rig.record():
        assert program() == b"http://far.invalid/x?y=1"
    assert [exchange.request.url for exchange in rig.exchanges] == ["http://far.invalid/x?y=1"]
    with rig.replay():
        assert program() == b"http://far.invalid/x?y=1"


def test_afterwards_the_packages_are_as_they_were(rig: MemoryRig) -> None:
    import aiohttp

    owners: list[Any] = [httpx.HTTPTransport, httpx2.AsyncHTTPTransport, urllib3.HTTPConnectionPool]
    owners += [aiohttp.BaseConnector, aiohttp.ClientRequest, aiohttp.ClientResponse, aiohttp.StreamReader]
    before = [dict(vars(owner)) for owner in owners]
    with rig.record():
        assert [dict(vars(owner)) for owner in owners] != before
    assert [dict(vars(owner)) for owner in owners] == before


def test_a_websocket_is_noted_when_recorded_and_refused_when_replayed(rig: MemoryRig) -> None:
    """B25, of aiohttp."""
    import aiohttp

    async def program() -> list[str]:
        async with aiohttp.ClientSession() as session:
            async with session.get(server.url + "/c") as response:
                got = [await response.text()]
            try:
                async with session.ws_connect(server.url + "/ws?key=FAKE") as _:
                    pass
            except aiohttp.WSServerHandshakeError as error:
                got.append(str(error.status))
        return got

    def decline(exchange: Any) -> None:
        exchange.answer(b"no", status="403 Forbidden")

    with Server(ws=decline) as server, rig.record():
        assert asyncio.run(program()) == ["arrived", "403"]
    assert [exchange.call.name for exchange in rig.exchanges] == [f"GET {server.url}/c"]
    assert rig.recorder.notices == [("websocket", {"place": f"{server.url}/ws"})]
    with rig.replay(), pytest.raises(ConnectionRefusedInReplayError, match="websockets are not captured"):
        asyncio.run(program())


@pytest.mark.parametrize("kind", ["sync", "asyncio"])
def test_a_session_of_websockets_is_noted_when_recorded_and_refused_when_replayed(
    kind: str, any_rig: MemoryRig | RealRig
) -> None:
    """B25: three frames out and four in, one of them binary, beside an HTTP call."""
    pytest.importorskip("websockets")
    from websockets.asyncio.client import connect as connect_async
    from websockets.sync.client import connect
    from websockets.sync.server import serve

    def talk(socket: Any) -> None:
        socket.send(b"\x00hello")
        for message in socket:
            socket.send(message.upper())

    async def speak_async() -> list[Any]:
        async with connect_async(url) as ws:
            got = [await ws.recv()]
            for word in ("a", "b", "c"):
                await ws.send(word)
                got.append(await ws.recv())
            return got

    def speak() -> list[Any]:
        with connect(url) as ws:
            got = [ws.recv()]
            for word in ("a", "b", "c"):
                ws.send(word)
                got.append(ws.recv())
            return got

    def program() -> list[Any]:
        with httpx2.Client(verify=False) as client:
            client.get(server.url + "/c")
        return speak() if kind == "sync" else asyncio.run(speak_async())

    with Server() as server, serve(talk, "127.0.0.1", 0) as live:
        threading.Thread(target=live.serve_forever, daemon=True).start()
        url = f"ws://127.0.0.1:{live.socket.getsockname()[1]}/live?key=FAKE"
        with any_rig.record():
            assert program() == [b"\x00hello", "A", "B", "C"]
        live.shutdown()
    if isinstance(any_rig, MemoryRig):
        assert len(any_rig.exchanges) == 1
        assert any_rig.recorder.notices == [("websocket", {"place": url.partition("?")[0]})]
    with pytest.raises(ConnectionRefusedInReplayError, match="websockets are not captured"), any_rig.replay():
        program()
