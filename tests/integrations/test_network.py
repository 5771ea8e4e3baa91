"""While a replay goes on, nothing that belongs to it or to nobody opens a connection."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from playhead.boundary import Lane, in_lane
from playhead.errors import ConnectionRefusedInReplayError
from playhead.integrations.network import forbid
from tests.integrations._server import Server
from tests.integrations._sessions import Player, Recorder


@contextmanager
def replaying(*, allow: tuple[str, ...] = (), ignored: tuple[str, ...] = ()) -> Iterator[Lane]:
    session = Player([], ignored=ignored)
    leave = forbid(session, allow=allow)
    try:
        with in_lane(Lane(session)) as lane:
            assert lane is not None
            yield lane
    finally:
        leave()


def in_thread(work: Callable[[], object]) -> Any:
    """What ``work`` returns or raises in a thread, which has no lane."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def connect(server: Server, host: str = "127.0.0.1") -> bool:
    with socket.create_connection((host, server.port), timeout=5):
        return True


async def open_stream(server: Server) -> bool:
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.close()
    return True


@pytest.mark.parametrize(
    "attempt",
    [
        connect,
        lambda server: asyncio.run(open_stream(server)),
        lambda server: socket.socket().connect_ex(("127.0.0.1", server.port)),
        lambda server: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", server.port)),
        lambda server: socket.socket(type=socket.SOCK_DGRAM).sendmsg([b"x"], [], 0, ("127.0.0.1", server.port)),
        lambda server: socket.create_connection(("example.com", 443), timeout=5),
        lambda server: socket.getaddrinfo("example.com", 443),
    ],
    ids=["connect", "asyncio", "connect_ex", "sendto", "sendmsg", "by name", "look-up"],
)
def test_no_connection_is_opened_in_a_lane_of_a_replay_or_in_no_lane(
    attempt: Callable[[Server], object], server: Server
) -> None:
    with replaying():
        with pytest.raises(ConnectionRefusedInReplayError, match=r"127\.0\.0\.1|example\.com"):
            attempt(server)
        assert isinstance(in_thread(lambda: attempt(server)), ConnectionRefusedInReplayError)
    assert server.hits == 0


@pytest.mark.parametrize("pattern", ["127.0.0.1", "127.*:{port}", "localhost", "localhost:{port}"])
def test_what_a_rule_allows_is_reached(pattern: str, server: Server) -> None:
    host = pattern.partition(":")[0].replace("*", "0.0.1")
    with replaying(allow=(pattern.format(port=server.port),)):
        assert connect(server, host)
        assert in_thread(lambda: connect(server, host)) is True


def test_a_rule_for_another_port_allows_nothing(server: Server) -> None:
    with replaying(allow=("127.0.0.1:1",)), pytest.raises(ConnectionRefusedInReplayError):
        connect(server)


def test_hosts_outside_the_run_look_as_if_the_network_were_down(server: Server) -> None:
    """B20: a background exporter is told what it would be told without a network, and the replay goes on."""
    with replaying(ignored=("127.0.0.1",)):
        assert isinstance(in_thread(lambda: connect(server)), ConnectionRefusedError)
        with pytest.raises(ConnectionRefusedError):
            connect(server)
    assert server.hits == 0


def test_a_run_that_is_recorded_beside_a_replay_reaches_the_network(server: Server) -> None:
    with replaying():
        with in_lane(Lane(Recorder())):
            assert connect(server)
        with in_lane(Lane(Recorder()).inside()):
            assert connect(server)


def test_pipes_of_the_process_are_free() -> None:
    with replaying():
        left, right = socket.socketpair()
        with left, right:
            left.sendall(b"x")
            assert right.recv(1) == b"x"
        asyncio.run(asyncio.sleep(0))


def test_afterwards_the_socket_module_is_as_it_was() -> None:
    before = dict(vars(socket.socket)), socket.getaddrinfo
    with replaying(), replaying():
        assert dict(vars(socket.socket)) != before[0]
    assert (dict(vars(socket.socket)), socket.getaddrinfo) == before


def test_two_replays_at_once_each_forbid_until_their_own_end(server: Server) -> None:
    first = forbid(Player([]))
    second = forbid(Player([]))
    first()
    first()
    with pytest.raises(ConnectionRefusedInReplayError):
        connect(server)
    second()
    assert connect(server)
