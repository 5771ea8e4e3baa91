"""A connection of `aiohttp` that holds a recorded response and goes nowhere. Only imported where aiohttp is."""

from __future__ import annotations

import asyncio
from http.client import IncompleteRead
from typing import Any

from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

from playhead.boundary import PlayedStream
from playhead.integrations._wire import Played


class PlayedProtocol(ResponseHandler):
    """Feeds the library's parser from a recorded stream: each time the program waits, what had come meanwhile."""

    def __init__(self, request: Any, stream: PlayedStream) -> None:
        super().__init__(request.loop)
        self._played = Played(stream, request.method)
        self._stream = stream
        self._pieces = aiter(stream)
        self._interim = b"HTTP/1.1 100 Continue\r\n\r\n" if request._continue is not None else b""
        self.connection_made(_NoTransport())

    @property
    def should_close(self) -> bool:
        """It must not come into a pool."""
        return True

    def feed_head(self) -> None:
        """The head has come."""
        self.data_received(self._interim + self._played.head)

    async def feed_piece(self, reader: Any) -> None:
        """The next piece, the end or the recorded error comes to ``reader``."""
        await asyncio.sleep(0)  # as in life, others run while one waits
        try:
            while await self._feed() and (self._stream.next_is_together or self._stream.is_spent):
                continue  # the end, too, is taken to have come with the last piece
        except Exception as error:
            reader.set_exception(error)
        failure = reader.exception()
        if failure is not None:
            raise failure

    async def _feed(self) -> bool:
        """Feed the next piece, or the end; whether there may be more."""
        piece: bytes | None = None
        try:
            piece = await anext(self._pieces, None)
            frame = self._played.last if piece is None else self._played.frame(piece)
        except IncompleteRead:
            frame = b""
        if frame:
            self.data_received(frame)
        else:
            self.connection_lost(None)
        return piece is not None


class PlayedConnection(Connection):
    """Belongs to no pool: letting go of it leaves the recorded stream."""

    def __init__(self, connector: Any, request: Any, stream: PlayedStream) -> None:
        self.played = PlayedProtocol(request, stream)
        super().__init__(connector, request.connection_key, self.played, request.loop)
        self._stream = stream

    def close(self) -> None:
        self._notify_release()
        self._stream.close()
        if self._protocol is not None:
            self._protocol.close()
            self._protocol = None

    def release(self) -> None:
        self.close()


class _NoTransport(asyncio.Transport):
    """Swallows what is written."""

    def __init__(self) -> None:
        super().__init__()
        self._closed = False

    def write(self, data: Any) -> None:
        """Nothing is sent."""

    def writelines(self, list_of_data: Any) -> None:
        """Nothing is sent."""

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True

    abort = close

    def pause_reading(self) -> None:
        """Nothing comes unasked."""

    def resume_reading(self) -> None:
        """Nothing comes unasked."""
