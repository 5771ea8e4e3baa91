"""Streams: each piece passes at once, each way of leaving ends the exchange once, and a replay does the same."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from tests.integrations._clients import CLIENTS, WAYS, Client, Reading, Way
from tests.integrations._server import EVENTS, Server
from tests.integrations._sessions import MemoryRig, RealRig


def test_a_piece_reaches_the_program_before_the_next_is_sent(client: Client, any_rig: MemoryRig | RealRig) -> None:
    """B01: the server sends an event only when the one before it has been read."""
    with Server() as server:
        with any_rig.record():
            recorded = client.stream(server.url + "/events", Reading(server.seen))
        assert server.impatient == 0
    assert recorded == list(EVENTS)
    with any_rig.replay():
        assert client.stream(server.url + "/events", Reading()) == list(EVENTS)


@pytest.mark.parametrize(
    ("client", "way"),
    [(client, way) for client in CLIENTS for way in WAYS if way != "cancel" or client.awaits],
    ids=str,
)
def test_each_way_of_leaving_a_stream_ends_its_exchange_once(client: Client, way: Way, rig: MemoryRig) -> None:
    """B58."""
    with Server() as server, rig.record():
        recorded = client.stream(server.url + "/events", Reading(server.seen, way))
    assert recorded == list(EVENTS[: 0 if way == "never" else 2])
    (exchange,) = rig.exchanges
    assert exchange.streamed.end == ("cancelled" if way == "cancel" else "closed")
    assert rig.recorder.double == 0
    assert all(item in EVENTS for item in exchange.streamed.items)
    with rig.replay():
        assert client.stream(server.url + "/events", Reading(way=way)) == recorded
    (exchange,) = rig.player.exchanges
    assert exchange.outcome is not None
    assert rig.player.double == 0


def test_reading_on_where_the_recorded_run_left_a_stream_is_a_divergence(client: Client, rig: MemoryRig) -> None:
    from playhead.errors import DivergenceError

    with Server() as server, rig.record():
        client.stream(server.url + "/events", Reading(server.seen, "close"))
    with rig.replay(), pytest.raises(DivergenceError, match="reads on where the recorded run left"):
        client.stream(server.url + "/events", Reading())


def test_a_stream_that_is_read_to_its_end_is_complete(client: Client, rig: MemoryRig) -> None:
    with Server() as server, rig.record():
        client.stream(server.url + "/events", Reading(server.seen))
        client.stream(server.url + "/until-closed", Reading())
        client.stream(server.url + "/bytes/70000", Reading())
    ends = [exchange.streamed.end for exchange in rig.exchanges]
    assert ends == ["complete"] * 3
    with rig.replay():
        client.stream(server.url + "/events", Reading())
        client.stream(server.url + "/until-closed", Reading())
        client.stream(server.url + "/bytes/70000", Reading())
    assert [exchange.streamed.end for exchange in rig.player.exchanges] == ends


@pytest.mark.parametrize("how", ["iter_any", "iter_chunks", "iter_chunked", "lines", "read"])
def test_aiohttp_reads_give_the_same_in_every_manner(how: str, rig: MemoryRig) -> None:
    """Also where several pieces had come before the program looked: the server does not wait here."""
    import aiohttp

    async def program() -> list[Any]:
        async with aiohttp.ClientSession() as session, session.get(server.url + "/burst") as response:
            reader, got = response.content, []
            if how == "read":
                got.append(await response.read())
            elif how == "lines":
                got += [line async for line in reader]
            else:
                pieces = reader.iter_chunked(65536) if how == "iter_chunked" else getattr(reader, how)()
                async for piece in pieces:
                    got.append(piece)
                    await asyncio.sleep(0.002 * (len(got) % 3))
            return got

    with (
        Server(
            burst=lambda e: (e.head([("Transfer-Encoding", "chunked")]), *map(e.chunk, (*EVENTS * 4, b"")))
        ) as server,
        rig.record(),
    ):
        recorded = asyncio.run(program())
    with rig.replay():
        assert asyncio.run(program()) == recorded


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("package", ["httpx", "httpx2"])
@pytest.mark.parametrize("leaving", ["end", "cancel"])
def test_httpx_under_anyio(backend: str, package: str, leaving: str, rig: MemoryRig) -> None:
    pytest.importorskip(backend)
    anyio = pytest.importorskip("anyio")
    client_of = pytest.importorskip(package).AsyncClient

    async def program() -> list[bytes]:
        got: list[bytes] = []
        with anyio.CancelScope() as scope:
            async with client_of(verify=False) as client, client.stream("GET", server.url + "/events") as response:
                async for piece in response.aiter_bytes():
                    got.append(piece)
                    if leaving == "cancel" and len(got) == 2:
                        scope.cancel()
                        await anyio.sleep(0)
                    server.seen()
        return got

    with Server() as server, rig.record():
        recorded = anyio.run(program, backend=backend)
    assert recorded == list(EVENTS[: 5 if leaving == "end" else 2])
    assert rig.exchanges[0].streamed.end == ("complete" if leaving == "end" else "closed")
    with rig.replay():
        assert anyio.run(program, backend=backend) == recorded


def test_a_cancellation_of_trio_is_one(rig: MemoryRig) -> None:
    trio = pytest.importorskip("trio")
    import httpx2

    async def program() -> None:
        with trio.move_on_after(0.2):
            async with httpx2.AsyncClient(verify=False) as client, client.stream("GET", server.url + "/stall") as reply:
                async for _ in reply.aiter_bytes():
                    pass

    with Server() as server, rig.record():
        trio.run(program)
    assert rig.exchanges[0].streamed.end == "cancelled"


def test_http2_is_recorded_above_its_connection(rig: MemoryRig) -> None:
    pytest.importorskip("h2")
    import httpx2

    from tests.integrations._http2 import Http2Server

    def program() -> tuple[str, int, bytes]:
        with httpx2.Client(http1=False, http2=True, verify=False) as client:
            reply = client.get(url)
            return reply.http_version, reply.status_code, reply.content

    with Http2Server(b"over two") as url, rig.record():
        recorded = program()
    assert recorded == ("HTTP/2", 200, b"over two")
    with rig.replay():
        assert program() == recorded


def test_a_dropped_response_ends_when_it_is_collected_though_a_cycle_held_it(rig: MemoryRig) -> None:
    """B58, dropping the object."""
    import httpx2

    with Server() as server, rig.record(), httpx2.Client(verify=False) as client:
        response: Any = client.send(client.build_request("GET", server.url + "/stall"), stream=True)
        response.myself = response
        assert rig.exchanges[0].outcome is None
        del response
        gc.collect()
        assert rig.exchanges[0].streamed.end == "closed"
