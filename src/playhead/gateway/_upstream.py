"""Requests to the server that is really asked: connections kept open, and waiting that notices who goes away.

A client library blocks in its own read until something comes, and would not see meanwhile that whoever asked has
gone. Here one thread waits for both at once, which is why the connection is ours.
"""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import h11

from playhead import _system
from playhead.boundary import HttpHead, HttpRequest
from playhead.gateway._headers import from_raw, to_raw

_CONNECT_S = 30.0
_END_S = 0.05
"""How long the end of a reply may be behind its last piece."""

_AT_ONCE = 65536
_LONGEST_HEAD = 256 * 1024
Place = tuple[str, str, int]


class AskerGoneError(BrokenPipeError):
    """Whoever asked has closed the connection."""


class Upstream:
    """All connections to the servers that are asked."""

    def __init__(self) -> None:
        self._idle: dict[Place, list[Connection]] = {}
        self._lock = threading.Lock()
        self._tls: ssl.SSLContext | None = None
        self._closed = False

    def ask(self, request: HttpRequest, asker: socket.socket) -> Reply:
        """Send ``request``, and give the reply once its head is there.

        Raises `ConnectionError`, `TimeoutError` or another `OSError`; `AskerGoneError` where ``asker`` goes away first.
        """
        place = _place(request.url)
        connection = self._take(place)
        while connection is not None:
            try:
                return Reply(self, connection, connection.ask(request, asker), asker)
            except StaleError:  # closed by the server while nothing was asked of it: nothing has been done
                connection.close()
                connection = self._take(place)
            except BaseException:
                connection.close()
                raise
        connection = self._connect(place)
        try:
            return Reply(self, connection, connection.ask(request, asker), asker)
        except StaleError:
            connection.close()
            raise ConnectionError("the server closed the connection before it answered") from None
        except BaseException:
            connection.close()
            raise

    def give_back(self, connection: Connection) -> None:
        """The connection can be used again."""
        with self._lock:
            if not self._closed:
                self._idle.setdefault(connection.place, []).append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what is not in use, and from now on what comes back."""
        with self._lock:
            self._closed = True
            connections = [each for kept in self._idle.values() for each in kept]
            self._idle.clear()
        for connection in connections:
            connection.close()

    def _take(self, place: Place) -> Connection | None:
        while True:
            with self._lock:
                kept = self._idle.get(place)
                connection = kept.pop() if kept else None
            if connection is None or not connection.is_stale:
                return connection
            connection.close()

    def _connect(self, place: Place) -> Connection:
        scheme, host, port = place
        proxy = None if proxy_bypass(host) else getproxies().get(scheme) or getproxies().get("all")
        if proxy is None or not proxy.startswith("http"):
            sock = socket.create_connection((host, port), timeout=_CONNECT_S)
        else:
            sock = _through(proxy, host, port)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if scheme == "https":
            if self._tls is None:
                self._tls = ssl.create_default_context()
            sock = self._tls.wrap_socket(sock, server_hostname=host)
        sock.settimeout(None)
        return Connection(sock, place)


class StaleError(Exception):
    """A connection had been closed before anything was answered on it."""


class Connection:
    """One connection to a server, used for one request after the other."""

    def __init__(self, sock: socket.socket, place: Place) -> None:
        self.place = place
        self._sock = sock
        self._wire = _client()

    @property
    def is_stale(self) -> bool:
        """Whether the server has closed it while nothing was asked."""
        return bool(select_readable([self._sock], 0))

    def ask(self, request: HttpRequest, asker: socket.socket) -> HttpHead:
        """Send the request and read the head of the reply."""
        target = urlsplit(request.url)
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        self._sock.setblocking(True)
        try:
            asked = h11.Request(
                method=request.method, target=path.encode("ascii", "replace"), headers=to_raw(request.headers)
            )
            sent = [self._wire.send(asked)]
            sent.append(self._wire.send(h11.Data(data=request.body or b"")))
            sent.append(self._wire.send(h11.EndOfMessage()))
        except h11.LocalProtocolError as error:
            raise ConnectionError(f"this request cannot be sent: {error}") from error
        try:
            self._sock.sendall(b"".join(each or b"" for each in sent))
        except OSError:
            pass  # it may have answered before it had read all
        self._sock.setblocking(False)
        while True:
            event = self.next(asker)
            if isinstance(event, h11.Response):
                version = "HTTP/" + event.http_version.decode("ascii")
                return HttpHead(
                    event.status_code, from_raw(event.headers.raw_items()), version, event.reason.decode("latin-1")
                )

    def next(self, asker: socket.socket | None) -> Any:
        """The next event; waits for it, or that the asker goes away."""
        while True:
            event = self.ready()
            if event is not h11.NEED_DATA:
                return event
            self._receive(asker)

    def ready(self) -> Any:
        """The next event if it has come; else ``h11.NEED_DATA``."""
        is_awaited = self._wire.their_state is h11.SEND_RESPONSE
        rest, has_ended = self._wire.trailing_data
        try:
            return self._wire.next_event()
        except h11.RemoteProtocolError as error:
            if has_ended and is_awaited and not rest:
                raise StaleError from error
            if has_ended:
                raise ConnectionError("the server closed the connection in the middle of its answer") from error
            raise ConnectionError(f"the server did not speak HTTP/1.1: {error}") from error

    def _receive(self, asker: socket.socket | None) -> None:
        while True:
            try:
                data = self._sock.recv(_AT_ONCE)
            except (BlockingIOError, ssl.SSLWantReadError):
                asker = _wait(self._sock, asker)
                continue
            except ConnectionResetError:
                if self._wire.their_state is h11.SEND_RESPONSE and not self._wire.trailing_data[0]:
                    raise StaleError from None
                raise
            except ssl.SSLError as error:
                raise ConnectionError(f"{type(error).__name__}: {error}") from error
            self._wire.receive_data(data)
            return

    def ends_within(self, seconds: float) -> bool:
        """Whether the reply ends so soon, with nothing more before its end."""
        deadline = _system.SystemClock.mono_ns() + int(seconds * 1e9)
        try:
            while (event := self.ready()) is h11.NEED_DATA:
                left = (deadline - _system.SystemClock.mono_ns()) / 1e9
                if left <= 0 or not select_readable([self._sock], left):
                    return False
                self._wire.receive_data(self._sock.recv(_AT_ONCE))
        except OSError:
            return False
        return isinstance(event, h11.EndOfMessage)

    def reuse(self) -> bool:
        """After a whole reply: be ready for the next request; whether that may be."""
        if self._wire.our_state is not h11.DONE or self._wire.their_state is not h11.DONE:
            return False
        self._wire.start_next_cycle()
        return True

    def close(self) -> None:
        """Hang up."""
        self._sock.close()


class Reply:
    """A reply whose head has come. `pieces` gives its body, piece by piece as it comes."""

    def __init__(self, upstream: Upstream, connection: Connection, head: HttpHead, asker: socket.socket) -> None:
        self.head = head
        self._upstream = upstream
        self._connection = connection
        self._asker = asker

    def pieces(self) -> Iterator[tuple[bytes, bool, bool]]:
        """Each piece, whether it came together with the one before it, and whether it is known to be the last."""
        event, together = self._connection.next(self._asker), False
        while not isinstance(event, h11.EndOfMessage):
            broken: ConnectionError | None = None
            try:
                after = self._connection.ready()
            except ConnectionError as error:
                after, broken = None, error
            is_last = isinstance(after, h11.EndOfMessage)
            if is_last:
                self._finish()
            yield bytes(event.data), together, is_last
            if broken is not None:
                raise broken
            if is_last:
                return
            together = after is not h11.NEED_DATA
            event = after if together else self._connection.next(self._asker)
        self._finish()

    def _finish(self) -> None:
        if self._connection.reuse():
            self._upstream.give_back(self._connection)
        else:
            self._connection.close()

    def ends_at_once(self) -> bool:
        """Whether nothing more comes but its end: who reads a last event as such hangs up without waiting for that."""
        return self._connection.ends_within(_END_S)

    def close(self) -> None:
        """Leave it before its end."""
        self._connection.close()


def _client() -> h11.Connection:
    return h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD)


def _place(url: str) -> Place:
    target = urlsplit(url)
    return target.scheme, target.hostname or "", target.port or (443 if target.scheme == "https" else 80)


def select_readable(sockets: list[socket.socket], timeout: float | None) -> list[socket.socket]:
    """Those of the sockets from which something can be read, or that have ended, after at most so many seconds."""
    if not hasattr(select, "poll"):
        return select.select(sockets, [], [], timeout)[0]
    poll = select.poll()
    by_number = {sock.fileno(): sock for sock in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(None if timeout is None else timeout * 1000)]


def _wait(sock: socket.socket, asker: socket.socket | None) -> socket.socket | None:
    """Wait until the server says something; the asker, if it is still to be watched."""
    while True:
        ready = select_readable([sock] if asker is None else [sock, asker], None)
        if asker is not None and asker in ready:
            if has_gone(asker):
                raise AskerGoneError("the client went away")
            asker = None  # it has asked the next thing already, and waits for the answer
        if sock in ready:
            return asker


def has_gone(sock: socket.socket) -> bool:
    """Whether the other side of a readable connection has closed it."""
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _through(proxy: str, host: str, port: int) -> socket.socket:
    """A way to the host through an HTTP proxy."""
    from base64 import b64encode
    from http.client import HTTPConnection

    address = urlsplit(proxy)
    tunnel = HTTPConnection(address.hostname or "", address.port or 80, timeout=_CONNECT_S)
    headers = {}
    if address.username is not None:
        user = f"{unquote(address.username)}:{unquote(address.password or '')}".encode()
        headers["Proxy-Authorization"] = f"Basic {b64encode(user).decode()}"
    tunnel.set_tunnel(host, port, headers)
    tunnel.connect()
    assert tunnel.sock is not None
    return tunnel.sock
