"""`urllib3`, and `requests` which sits on it: each request as it goes over the wire, below redirects and retries.

The seam is ``HTTPConnectionPool._make_request``. Its connection writes to, and parses what comes from, either the
real socket, whose bytes are followed, or one that holds the recorded bytes; everything above is the library's own,
decoding, preloading and streaming included.

Bodies that are bytes, text or a file that can be rewound are handed over; an iterator is passed on unread and noted.
"""

from __future__ import annotations

import io
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import (
    Call,
    HttpHead,
    HttpRequest,
    Lane,
    Patches,
    PlayedStream,
    Tap,
    cross_stream,
    current_lane,
    pass_uncaptured,
)
from playhead.integrations._imports import when_imported
from playhead.integrations._wire import Played, WireTap, pairs_of

_LARGEST_COPY = 32 * 1024 * 1024
_SKIPPED = "@@@SKIP_HEADER@@@"


def install(patches: Patches) -> None:
    """Have the requests of `urllib3` cross the boundary, once it is imported."""
    when_imported("urllib3.connectionpool", partial(_instrument, patches=patches), patches)


def _instrument(module: ModuleType, *, patches: Patches) -> None:
    pool_class, secure_pool_class = module.HTTPConnectionPool, module.HTTPSConnectionPool
    make_request, prepare = pool_class._make_request, secure_pool_class._prepare_proxy

    @wraps(prepare)
    def prepare_proxy(pool: Any, conn: Any) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque or lane.session.ignores(_host(pool)):
            return prepare(pool, conn)
        conn._playhead_tunnel = prepare  # the tunnel is part of the exchange, which begins with the request
        return None

    @wraps(make_request)
    def request(pool: Any, conn: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
        send = partial(make_request, pool, conn, method, url, *args, **kwargs)
        lane = _lane_for(pool, conn, url, kwargs.get("headers"))
        if lane is None:
            _open_tunnel(pool, conn)
            return send()

        def live(tap: Tap) -> Any:
            _open_tunnel(pool, conn)
            with _followed(conn, tap, method):
                return send()

        def play(stream: PlayedStream) -> Any:
            with _played(pool, conn, Played(stream, method), stream):
                return send()

        call = _call(lane, pool, method, url, kwargs)
        return cross_stream(lane, call, live=live, play=play, revive=partial(_revive, pool, conn))

    patches.replace(secure_pool_class, "_prepare_proxy", prepare_proxy)
    patches.replace(pool_class, "_make_request", request)


def _open_tunnel(pool: Any, conn: Any) -> None:
    prepare = vars(conn).pop("_playhead_tunnel", None)
    if prepare is not None:
        try:
            prepare(pool, conn)
        except OSError as error:
            pool._raise_timeout(err=error, url=pool.proxy.url, timeout_value=conn.timeout)
            raise


@contextmanager
def _followed(conn: Any, tap: Tap, method: str) -> Iterator[None]:
    """Have the response that ``conn`` reads meanwhile tell ``tap`` what it reads, then and later."""
    original = conn.response_class

    def response_class(*args: Any, **kwargs: Any) -> Any:
        response = original(*args, **kwargs)
        begin = response.begin

        def begin_followed() -> None:
            del response.begin
            begin()
            version = "HTTP/1.0" if response.version == 10 else "HTTP/1.1"
            head = HttpHead(response.status, pairs_of(response.msg.items()), version, response.reason)
            if response.fp is not None:
                response.fp = _FollowedFile(response.fp, WireTap(tap, method, head))

        response.begin = begin_followed
        return response

    conn.response_class = response_class
    try:
        yield
    finally:
        vars(conn).pop("response_class", None)


class _FollowedFile:
    """The file that a response is read from, with every byte told to a tap."""

    def __init__(self, file: Any, wire: WireTap) -> None:
        self._file = file
        self._wire = wire
        self._finalizer = weakref.finalize(self, wire.leave)

    def _read(self, method: Any, *args: Any) -> bytes:
        try:
            data: bytes = method(*args)
        except BaseException as error:
            self._wire.fail(error)
            raise
        if data:
            self._wire.feed(data)
        elif not args or args[0] != 0:
            self._wire.eof()
        return data

    def read(self, *args: Any) -> bytes:
        data = self._read(self._file.read, *args)
        if not args or args[0] is None or args[0] < 0 or len(data) < args[0]:
            self._wire.eof()
        return data

    def read1(self, *args: Any) -> bytes:
        return self._read(self._file.read1, *args)

    def readline(self, *args: Any) -> bytes:
        return self._read(self._file.readline, *args)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._wire.leave()
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def _played(pool: Any, conn: Any, played: Played, stream: PlayedStream) -> Iterator[None]:
    """Have ``conn`` talk to a recorded response meanwhile."""
    vars(conn).pop("_playhead_tunnel", None)
    real, verified = conn.sock, getattr(conn, "is_verified", None)
    conn.sock = _PlayedSocket(played, stream)
    _reach_proxy(conn)
    if verified is not None:
        conn.is_verified = verified or getattr(pool, "cert_reqs", None) not in (0, "CERT_NONE")
    try:
        yield
    finally:
        conn.sock = real
        if verified is not None:
            conn.is_verified = verified


class _PlayedSocket:
    """A socket that swallows what is sent and holds a recorded response."""

    def __init__(self, played: Played, stream: PlayedStream) -> None:
        self._played = played
        self._stream = stream

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        return io.BufferedReader(_PlayedBytes(self._played, self._stream))

    def sendall(self, data: Any) -> None:
        """Nothing is sent."""

    def settimeout(self, timeout: float | None) -> None:
        """Nothing is waited for."""

    def shutdown(self, how: int) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Nothing is open."""


class _PlayedBytes(io.RawIOBase):
    """The bytes of a recorded response, given a frame at a time."""

    def __init__(self, played: Played, stream: PlayedStream) -> None:
        self._stream = stream
        self._frames = played.frames()
        self._rest = memoryview(played.head)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._frames, b""))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def close(self) -> None:
        self._stream.close()
        super().close()


def _lane_for(pool: Any, conn: Any, url: str, headers: Any) -> Lane | None:
    """The lane that a request belongs to, unless it lies outside the run or cannot be captured."""
    lane = current_lane()
    if lane is None or lane.opaque or lane.session.ignores(_host(pool)):
        return None
    names = {str(name).lower(): value for name, value in (headers or {}).items()}
    if str(names.get("upgrade", "")).lower() == "websocket":
        pass_uncaptured(lane, "websocket", _place(pool, url))
        return None
    if type(conn).__module__.startswith("urllib3.http2"):
        pass_uncaptured(lane, "HTTP/2 connection of urllib3", _place(pool, url))
        return None
    return lane


def _call(lane: Lane, pool: Any, method: str, url: str, kwargs: dict[str, Any]) -> Call:
    body = _body(kwargs.get("body"))
    place = _place(pool, url)
    if body is None:
        lane.session.notice(lane, "request body that can be read once", {"place": place})
    headers = pairs_of(pair for pair in (kwargs.get("headers") or {}).items() if pair[1] != _SKIPPED)
    asked = HttpRequest(method, _full(pool, url), headers, body, "urllib3")
    return Call("http", f"{method} {place}", asked)


def _body(body: Any) -> bytes | None:
    """The whole body; ``None`` where reading it would take it from the program."""
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode("utf-8")
    if isinstance(body, bytes | bytearray | memoryview):
        return bytes(body)
    with suppress(Exception):
        if body.seekable():
            start = body.tell()
            rest = body.read(_LARGEST_COPY + 1)
            body.seek(start)
            if len(rest) <= _LARGEST_COPY:
                return rest.encode("utf-8") if isinstance(rest, str) else bytes(rest)
    return None


def _revive(pool: Any, conn: Any, error: BaseException) -> None:
    """Give a recorded error the pool or the connection that it spoke of."""
    names = {base.__name__ for base in type(error).__mro__}
    about_connection = "NewConnectionError" in names
    if about_connection or "PoolError" in names:
        vars(error).update({"conn": conn, "pool": conn} if about_connection else {"pool": pool})
    elif "ConnectTimeoutError" in names and len(error.args) == 2:
        error.args = (conn, error.args[1])
    if "ConnectTimeoutError" not in names:  # the one kind that is raised before a proxy is reached
        _reach_proxy(conn)


def _reach_proxy(conn: Any) -> None:
    """Have ``conn`` say that it had reached its proxy, so that errors are not taken for the proxy's."""
    if getattr(conn, "proxy", None) is not None:
        conn._has_connected_to_proxy = True


def _host(pool: Any) -> str:
    return f"{pool.host}:{pool.port or (443 if pool.scheme == 'https' else 80)}"


def _full(pool: Any, url: str) -> str:
    if not url.startswith("/"):  # through a proxy, the target is whole
        return url
    host = f"[{pool.host}]" if ":" in pool.host else pool.host
    default = pool.port in (None, 443 if pool.scheme == "https" else 80)
    return f"{pool.scheme}://{host}{'' if default else f':{pool.port}'}{url}"


def _place(pool: Any, url: str) -> str:
    return _full(pool, url).partition("?")[0]
