"""`httpx` and `httpx2`: each request as it stands just before it leaves, below redirects, retries and decoding.

The seam is ``HTTPTransport.handle_request`` and its asynchronous sister, which proxies and mounts share. A
transport of the program's own that answers in process (``WSGITransport``, ``ASGITransport``) is not touched.

A body is handed over where reading it disturbs nobody: bytes, text, forms, JSON, and multipart whose files can be
read again. Anything that can be read once is passed on unread and noted; in a replay it is still read to its end,
since reading it may be what the program does its work in.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
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
    Stream,
    Tap,
    TeedStream,
    cross_stream,
    cross_stream_async,
    current_lane,
    pass_uncaptured,
)
from playhead.integrations._imports import when_imported

_LARGEST_COPY = 32 * 1024 * 1024


def install(patches: Patches) -> None:
    """Have the requests of `httpx` and `httpx2` cross the boundary, once either is imported."""
    for name in ("httpx", "httpx2"):
        when_imported(name, partial(_instrument, patches=patches), patches)


def _instrument(package: ModuleType, *, patches: Patches) -> None:
    plain, awaited = package.HTTPTransport, package.AsyncHTTPTransport
    if hasattr(plain.handle_request, "__playhead__"):  # the one package may go by the other's name
        return
    for owner, name, make in ((plain, "handle_request", _plain_door), (awaited, "handle_async_request", _awaited_door)):
        original = getattr(owner, name)
        door: Any = wraps(original)(make(package, original))
        door.__playhead__ = True
        patches.replace(owner, name, door)


def _plain_door(package: ModuleType, original: Any) -> Any:
    class Pieces(package.SyncByteStream):  # type: ignore[name-defined,misc]
        """The body of a response, teed or played."""

        def __init__(self, stream: Stream) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._stream)

        def close(self) -> None:
            self._stream.close()

    def handle_request(transport: Any, request: Any) -> Any:
        lane = _lane_for(request)
        if lane is None:
            return original(transport, request)
        call, unread = _call(package, lane, request)

        def live(tap: Tap) -> Any:
            response = original(transport, request)
            tap.head = _head(response)
            source = response.stream
            response.stream = Pieces(TeedStream(source, source.close, tap))
            return response

        def play(stream: PlayedStream) -> Any:
            if unread:
                for _ in request.stream:
                    pass
            return _response(package, stream, Pieces(stream))

        return cross_stream(lane, call, live=live, play=play, revive=partial(_revive, package, request))

    return handle_request


def _awaited_door(package: ModuleType, original: Any) -> Any:
    class Pieces(package.AsyncByteStream):  # type: ignore[name-defined,misc]
        """The body of a response, teed or played."""

        def __init__(self, stream: Stream) -> None:
            self._stream = stream

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._stream.__aiter__()

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def handle_async_request(transport: Any, request: Any) -> Any:
        lane = _lane_for(request)
        if lane is None:
            return await original(transport, request)
        call, unread = _call(package, lane, request)

        async def live(tap: Tap) -> Any:
            response = await original(transport, request)
            tap.head = _head(response)
            source = response.stream
            response.stream = Pieces(TeedStream(source, source.aclose, tap))
            return response

        async def play(stream: PlayedStream) -> Any:
            if unread:
                async for _ in request.stream:
                    pass
            return _response(package, stream, Pieces(stream))

        return await cross_stream_async(lane, call, live=live, play=play, revive=partial(_revive, package, request))

    return handle_async_request


def _lane_for(request: Any) -> Lane | None:
    """The lane that a request belongs to, unless it lies outside the run or cannot be captured."""
    lane = current_lane()
    if lane is None or lane.opaque or lane.session.ignores(_host(request.url)):
        return None
    if request.headers.get("upgrade", "").lower() == "websocket":
        pass_uncaptured(lane, "websocket", _without_query(request.url))
        return None
    return lane


def _call(package: ModuleType, lane: Lane, request: Any) -> tuple[Call, bool]:
    """The call, and whether its body is left unread."""
    body = _body(package, request)
    place = _without_query(request.url)
    if body is None:
        lane.session.notice(lane, "request body that can be read once", {"place": place})
    asked = HttpRequest(request.method, str(request.url), _pairs(request.headers), body, package.__name__)
    return Call("http", f"{request.method} {place}", asked), body is None


def _body(package: ModuleType, request: Any) -> bytes | None:
    """The whole body; ``None`` where reading it would take it from the program."""
    content: bytes | None = getattr(request, "_content", None)
    if content is not None:
        return content
    if isinstance(request.stream, package.ByteStream):
        return b"".join(request.stream)
    fields = getattr(request.stream, "fields", None)
    if fields is None or not all(_rereadable(getattr(field, "file", b"")) for field in fields):
        return None
    length = request.stream.get_content_length()
    if length is None or length > _LARGEST_COPY:
        return None
    return b"".join(request.stream.iter_chunks())


def _rereadable(file: Any) -> bool:
    """Whether a multipart file can be read now and again when it is sent: the client rewinds it each time."""
    return isinstance(file, str | bytes) or (hasattr(file, "seekable") and file.seekable())


def _revive(package: ModuleType, request: Any, error: BaseException) -> None:
    """What an edit says of any connection, in the words of this package, whose transports raise no built-in ones."""
    if type(error) is TimeoutError:
        raise package.ReadTimeout(str(error), request=request)
    if type(error) is ConnectionError:
        raise package.ConnectError(str(error), request=request)


def _head(response: Any) -> HttpHead:
    said = response.extensions
    version: bytes = said.get("http_version", b"HTTP/1.1")
    reason: bytes = said.get("reason_phrase", b"")
    return HttpHead(response.status_code, _pairs(response.headers), version.decode("latin-1"), reason.decode("latin-1"))


def _response(package: ModuleType, stream: PlayedStream, pieces: Any) -> Any:
    head = stream.head or HttpHead(200, ())
    said = {"http_version": head.version.encode("latin-1"), "reason_phrase": head.reason.encode("latin-1")}
    return package.Response(
        head.status,
        headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in head.headers],
        stream=pieces,
        extensions={**said, "network_stream": _NoNetwork()},
    )


class _NoNetwork:
    """What stands for the connection of a response that came over none."""

    def get_extra_info(self, info: str) -> None:
        """Nothing is known of a connection that was not made."""


def _pairs(headers: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw)


def _host(url: Any) -> str:
    return f"{url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"


def _without_query(url: Any) -> str:
    path = url.raw_path.partition(b"?")[0]
    return f"{url.scheme}://{(url.netloc + path).decode('ascii', 'replace')}"
