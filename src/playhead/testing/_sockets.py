"""A guard that refuses and counts every attempt to reach the network."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["ConnectionGuard", "ForbiddenConnectionError", "forbid_connections"]


class ForbiddenConnectionError(AssertionError):
    """Code tried to reach the network while `forbid_connections` was in force.

    It is no OSError, so that no client library takes it for a fault of the network and tries again.
    """


class ConnectionGuard:
    """``attempts`` lists where code tried to connect to, as ``"host:port"``, in order."""

    def __init__(self) -> None:
        self.attempts: list[str] = []


_guards: list[ConnectionGuard] = []
_lock = threading.Lock()
_hooked = False


@contextlib.contextmanager
def forbid_connections() -> Iterator[ConnectionGuard]:
    """While it is in force every connection, datagram and name look-up of the process raises and is counted.

    It sees what any thread does through Python's sockets, whichever library asks, even by functions taken from the
    socket module beforehand. Unix sockets and socket pairs are free. It does not see libraries that bring
    a network stack of their own in C, nor other processes.

        >>> with forbid_connections() as guard:
        ...     pass
        >>> guard.attempts
        []

    It listens to the interpreter's audit events, so nothing is patched. An audit hook cannot be taken out again:
    after the first use one stays in the process, asleep.
    """
    global _hooked
    guard = ConnectionGuard()
    with _lock:
        if not _hooked:
            sys.addaudithook(_watch)
            _hooked = True
        _guards.append(guard)
    try:
        yield guard
    finally:
        with _lock:
            _guards.remove(guard)


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not _guards or not event.startswith("socket."):
        return
    target = _target(event, arguments)
    if target is None:
        return
    for guard in tuple(_guards):
        guard.attempts.append(target)
    raise ForbiddenConnectionError(f"{event[7:]} to {target} while connections are forbidden")


def _target(event: str, arguments: tuple[Any, ...]) -> str | None:
    """Where a socket event would reach; None when it stays within the machine's own pipes."""
    if event == "socket.getaddrinfo":
        host, port = arguments[:2]
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
        return None if _is_local(name) else f"{name}:{port}"
    if event not in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        return None
    sock, address = arguments[:2]
    if address is None or sock.family == getattr(socket, "AF_UNIX", None) or _makes_socketpair():
        return None
    return f"{address[0]}:{address[1]}" if isinstance(address, tuple) and len(address) > 1 else str(address)


def _is_local(host: str | None) -> bool:
    """Whether a name is known without asking anyone; the connection that follows is judged by itself."""
    if host in (None, "", "localhost"):
        return True
    try:
        ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return True


def _makes_socketpair() -> bool:
    """Whether the standard library is connecting the two ends of a pair, as it has to where there are no Unix ones."""
    frame = sys._getframe(3)
    return frame.f_code.co_filename == socket.__file__ and "socketpair" in frame.f_code.co_name
