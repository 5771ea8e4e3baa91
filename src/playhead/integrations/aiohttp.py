"""`aiohttp` (client): each request as it goes over the wire, below redirects, middlewares and retries.

A connection is asked for in one place, the request sent in a second and the head awaited in a third. Here the
first hands out a ticket to the second, which does all three as one crossing: with a connection of the connector,
whose bytes are followed on their way into the library's parser, or with one that holds the recorded bytes. The
`ClientResponse`, its parser and its reader are the library's own either way.

A recorded piece is fed when the program waits for one, so reads return what they returned when recorded. Bodies
that are bytes, text, JSON, forms and rewindable files are handed over; others are passed on unread and noted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import (
    Call,
    HttpRequest,
    Lane,
    Patches,
    PlayedStream,
    Tap,
    cross_stream_async,
    current_lane,
    in_lane,
    pass_uncaptured,
)
from playhead.integrations._imports import when_imported
from playhead.integrations._wire import WireTap, pairs_of

_LARGEST_COPY = 32 * 1024 * 1024


def install(patches: Patches) -> None:
    """Have the requests of `aiohttp` sessions cross the boundary, once it is imported."""
    when_imported("aiohttp", partial(_instrument, patches=patches), patches)


def _instrument(package: ModuleType, *, patches: Patches) -> None:
    connect, send = package.BaseConnector.connect, package.ClientRequest.send
    start, wait = package.ClientResponse.start, package.StreamReader._wait

    @wraps(connect)
    async def connect_later(connector: Any, request: Any, *args: Any, **kwargs: Any) -> Any:
        lane = _lane_for(request)
        connecting = partial(connect, connector, request, *args, **kwargs)
        return await connecting() if lane is None else _Asked(lane, connector, connecting)

    @wraps(start)
    async def start_once(response: Any, connection: Any) -> Any:
        return response if isinstance(connection, _Asked) else await start(response, connection)

    patches.replace(package.BaseConnector, "connect", connect_later)
    patches.replace(package.ClientRequest, "send", wraps(send)(_sending(package, send)))
    patches.replace(package.ClientResponse, "start", start_once)
    patches.replace(package.StreamReader, "_wait", wraps(wait)(_waiting(wait)))


def _sending(package: ModuleType, send: Any) -> Any:
    from playhead.integrations._aiohttp_played import PlayedConnection

    timed_out = getattr(package, "ConnectionTimeoutError", package.ServerTimeoutError)

    async def send_across(request: Any, asked: Any) -> Any:
        if not isinstance(asked, _Asked):
            return await send(request, asked)

        async def live(tap: Tap) -> Any:
            with request._timer:
                try:
                    connection = await asked.connecting()
                except TimeoutError as error:
                    raise timed_out(f"Connection timeout to host {request.url}") from error
            wire = WireTap(tap, request.method)
            parser = _follow(connection.protocol, asked.terms, wire)
            response = await _exchange(send, request, connection)
            parser.reader = response.content
            connection.add_callback(partial(_leave, wire, response.content))
            return response

        async def play(stream: PlayedStream) -> Any:
            connection = PlayedConnection(asked.connector, request, stream)
            connection.played.set_response_params(**{**asked.terms, "read_timeout": None})
            return await _exchange(send, request, connection, connection.played.feed_head)

        call = await _call(asked.lane, request)
        revive = partial(_revive, package, request)
        return await cross_stream_async(asked.lane, call, live=live, play=play, revive=revive)

    return send_across


async def _exchange(send: Any, request: Any, connection: Any, sent: Callable[[], None] = lambda: None) -> Any:
    """Send and await the head, letting go of everything where that fails, as a session does."""
    try:
        response = await send(request, connection)
        sent()
        try:
            await response.start(connection)
        except BaseException:
            response.close()
            raise
    except BaseException:
        connection.close()
        raise
    return response


def _waiting(wait: Any) -> Any:
    from playhead.integrations._aiohttp_played import PlayedProtocol

    async def wait_for_piece(reader: Any, name: str) -> None:
        protocol = reader._protocol
        parser = getattr(protocol, "_parser", None)
        if isinstance(protocol, PlayedProtocol):
            await protocol.feed_piece(reader)
            return
        if not isinstance(parser, _FollowedParser):
            await wait(reader, name)
            return
        try:
            with in_lane(parser.wire.inside):
                await wait(reader, name)
        except BaseException as error:
            parser.wire.fail(error)
            raise

    return wait_for_piece


class _Asked:
    """What a session gets for a connection: a promise that sending will see to it.

    It is its own protocol and, for older versions, which only ask whether there is one, its own transport.
    """

    def __init__(self, lane: Lane, connector: Any, connecting: Any) -> None:
        self.lane = lane
        self.connector = connector
        self.connecting = connecting
        self.terms: dict[str, Any] = {}

    @property
    def protocol(self) -> _Asked:
        return self

    transport = protocol

    def set_response_params(self, **terms: Any) -> None:
        self.terms = terms

    def close(self) -> None:
        """There is nothing to close."""


def _follow(protocol: Any, terms: dict[str, Any], wire: WireTap) -> _FollowedParser:
    """Have ``protocol`` tell ``wire`` the bytes that it parses from now on."""
    early, protocol._tail = protocol._tail, b""
    protocol.set_response_params(**terms)
    parser = protocol._parser = _FollowedParser(protocol._parser, wire)
    if early:
        protocol.data_received(early)
    return parser


class _FollowedParser:
    """The library's parser, with every byte that it is fed told to a tap.

    The protocol drops it when the connection is lost: then a response that was never let go of is left, too.
    """

    def __init__(self, parser: Any, wire: WireTap) -> None:
        self._parser = parser
        self.wire = wire
        self.reader: Any = None

    def __del__(self) -> None:
        if self.reader is not None:
            _leave(self.wire, self.reader)

    def feed_data(self, data: bytes, *args: Any) -> Any:
        if data:
            unread = self.reader is None or bool(self.reader._buffer)
            self.wire.feed(data, together=unread)
        return self._parser.feed_data(data, *args)

    def feed_eof(self) -> Any:
        if self.wire.open_ended:  # any other body is not whole: the parser raises, and the reader tells
            self.wire.eof()
        return self._parser.feed_eof()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parser, name)


def _leave(wire: WireTap, reader: Any) -> None:
    error = reader.exception()
    if error is None or str(error) == "Connection closed":  # which letting go of a response sets
        wire.leave()
    else:
        wire.fail(error)


def _lane_for(request: Any) -> Lane | None:
    """The lane that a request belongs to, unless it lies outside the run or cannot be captured."""
    lane = current_lane()
    if lane is None or lane.opaque or lane.session.ignores(f"{request.url.host}:{request.url.port}"):
        return None
    if request.headers.get("Upgrade", "").lower() == "websocket":
        pass_uncaptured(lane, "websocket", _place(request))
        return None
    return lane


async def _call(lane: Lane, request: Any) -> Call:
    body = await _body(request.body)
    place = _place(request)
    if body is None:
        lane.session.notice(lane, "request body that can be read once", {"place": place})
    asked = HttpRequest(request.method, str(request.url), pairs_of(request.headers.items()), body, "aiohttp")
    return Call("http", f"{request.method} {place}", asked)


async def _body(body: Any) -> bytes | None:
    """The whole body; ``None`` where reading it would take it from the program."""
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    if not _rereadable(body) or body.size is None or body.size > _LARGEST_COPY:
        return None
    if not hasattr(body, "as_bytes"):  # older versions
        return bytes(body._value) if isinstance(body._value, bytes | bytearray | memoryview) else None
    content: bytes = await body.as_bytes()
    return bytes(content)


def _rereadable(body: Any) -> bool:
    """Whether a payload can be read now and again when it is sent."""
    names = {base.__name__ for base in type(body).__mro__}
    if "MultipartWriter" in names:
        return all(_rereadable(part) for part, *_ in body)
    if "IOBasePayload" in names:
        return bool(body._value.seekable())
    return "BytesPayload" in names


def _revive(package: ModuleType, request: Any, error: BaseException) -> None:
    """Give a recorded error the connection's key, and the numbers that its class keeps out of its arguments."""
    if isinstance(error, package.ClientConnectorError) and len(error.args) == 2:
        cause = error.args[1]
        error._conn_key = request.connection_key
        error.args = (request.connection_key, cause)
        error.errno, error.strerror = getattr(cause, "errno", None), getattr(cause, "strerror", None)


def _place(request: Any) -> str:
    return str(request.url.with_query(None))
