"""No connection is opened while a replay goes on, whichever library asks for it.

The methods of `socket.socket` are replaced for as long as a session forbids the network, and put back afterwards.
An audit hook would see the same, but can never be taken out again and slows every audited call of the process.
What opens sockets in C of its own (uvloop, gRPC) is not seen here.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import wraps
from typing import Any

from playhead.boundary import Lane, Patches, Session, current_lane

_LOCAL = ("", "localhost", "localhost.localdomain", "ip6-localhost")
_lock = threading.Lock()
_guards: list[_Guard] = []
_patches = Patches()


def forbid(session: Session, *, allow: Sequence[str] = ()) -> Callable[[], None]:
    """Let no connection be opened by a lane of ``session``, nor by code of no lane, until the result is called.

    Hosts that match one of ``allow`` (``name``, ``name:port``; ``*`` stands for anything) may be reached. Lanes of
    other sessions that go on, Unix sockets and socket pairs are free. Hosts that the session ignores are out of
    reach as if the network were down; any other attempt raises what the session has to say of it.
    """
    guard = _Guard(session, allow)
    with _lock:
        _guards.append(guard)
        if len(_guards) == 1:
            _replace()

    def leave() -> None:
        with _lock:
            if guard in _guards:
                _guards.remove(guard)
                if not _guards:
                    _patches.undo()

    return leave


class _Guard:
    """A session that forbids the network, and what may be reached all the same."""

    def __init__(self, session: Session, allow: Sequence[str]) -> None:
        self.session = session
        self._allow = tuple(allow)
        self.names: defaultdict[str, set[str]] = defaultdict(set)
        """Names by the addresses that look-ups of allowed ones gave: a connection only tells its address."""

    def allows(self, host: str, port: Any) -> bool:
        known = {host, *self.names.get(host, ())}
        return any(
            fnmatchcase(name, pattern) or fnmatchcase(f"{name}:{port}", pattern)
            for pattern in self._allow
            for name in known
        )

    def refusal(self, lane: Lane | None, host: str, port: Any) -> BaseException | None:
        if self.allows(host, port):
            return None
        if self.session.ignores(f"{host}:{port}"):
            return OSError(errno.ECONNREFUSED, "connection refused: a replay is going on")
        return self.session.refuse(lane, f"{host}:{port}")


def _guard_here() -> tuple[_Guard | None, Lane | None]:
    lane = current_lane()
    guards = tuple(_guards)
    if lane is None or lane.is_over:  # what outlived its run is nobody's
        return (guards[-1] if guards else None), None
    if lane.opaque or not lane.session.forbids_network:
        return None, lane
    return next((guard for guard in guards if guard.session is lane.session), None), lane


def _check(sock: socket.socket, address: Any) -> None:
    """Raise if the code that asks may not reach ``address``."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(address, tuple):
        return
    caller = sys._getframe(2)
    if caller.f_code.co_name.endswith("socketpair") and caller.f_globals.get("__name__") == "socket":
        return
    guard, lane = _guard_here()
    if guard is not None:
        refusal = guard.refusal(lane, str(address[0]), address[1])
        if refusal is not None:
            raise refusal


def _replace() -> None:
    for name, place in (("connect", 0), ("connect_ex", 0), ("sendto", -1), ("sendmsg", 3)):
        original = getattr(socket.socket, name, None)
        if original is not None:
            _patches.replace(socket.socket, name, _checked(original, place))
    _patches.replace(socket, "getaddrinfo", _checked_look_up(socket.getaddrinfo))


def _checked(original: Any, place: int) -> Any:
    @wraps(original)
    def method(sock: socket.socket, *args: Any, **kwargs: Any) -> Any:
        if args and -len(args) <= place < len(args):
            _check(sock, args[place])
        return original(sock, *args, **kwargs)

    return method


def _checked_look_up(original: Any) -> Any:
    @wraps(original)
    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        guard, lane = _guard_here()
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else host or ""
        if guard is None:
            return original(host, port, *args, **kwargs)
        refusal = None if name in _LOCAL or _is_address(name) else guard.refusal(lane, name, port)
        if refusal is not None:
            raise refusal
        found = original(host, port, *args, **kwargs)
        for *_, address in found:
            guard.names[str(address[0])].add(name)
        return found

    return getaddrinfo


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
