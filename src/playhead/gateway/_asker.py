"""One connection of a client to the gateway: its requests, and the answers as they go back."""

from __future__ import annotations

import socket
import struct
from typing import Any

import h11
import msgspec

from playhead.boundary import HeaderPairs, HttpHead
from playhead.gateway._headers import end_to_end, from_raw, to_raw
from playhead.gateway._upstream import AskerGoneError

_AT_ONCE = 65536
_LONGEST_HEAD = 256 * 1024


class BadRequestError(Exception):
    """What came is not HTTP/1.1."""


class Asked(msgspec.Struct, frozen=True):
    """A request as it came: ``target`` is path and query."""

    method: str
    target: str
    headers: HeaderPairs
    body: bytes
    upgrades: bool


class Asker:
    """Who asks, over one connection. It is served by one thread."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = sock
        self._wire = h11.Connection(h11.SERVER, max_incomplete_event_size=_LONGEST_HEAD)

    def read(self) -> Asked | None:
        """The next request, whole; ``None`` where no more come. Raises `BadRequestError`."""
        try:
            asked = self._next()
            if not isinstance(asked, h11.Request):
                return None
            body = bytearray()
            while isinstance(event := self._next(), h11.Data):
                body += event.data
        except h11.RemoteProtocolError as error:
            raise BadRequestError(str(error)) from error
        except OSError:
            return None
        if not isinstance(event, h11.EndOfMessage):
            return None
        headers = from_raw(asked.headers.raw_items())
        upgrades = any(name.lower() == "upgrade" and value.lower() == "websocket" for name, value in headers)
        return Asked(asked.method.decode("latin-1"), asked.target.decode("latin-1"), headers, bytes(body), upgrades)

    def begin(self, head: HttpHead) -> None:
        """Pass on the head of an answer."""
        headers = to_raw(end_to_end(head.headers))
        if head.status < 200:  # only the last head is passed on, and this is none
            raise ConnectionError(f"the server answered with the status {head.status}")
        reason = head.reason.encode("latin-1")
        self._send(h11.Response(status_code=head.status, headers=headers, reason=reason))

    def pass_on(self, piece: bytes, *, is_last: bool = False) -> None:
        """Pass on a piece of its body; with the last the answer ends."""
        said = self._wire.send(h11.Data(data=piece)) or b""
        if is_last:
            said += self._wire.send(h11.EndOfMessage()) or b""
        self._write(said)

    def end(self) -> None:
        """The answer has ended, unless that has been said."""
        if self._wire.our_state is h11.SEND_BODY:
            self._send(h11.EndOfMessage())

    def answer(self, status: int, body: bytes, *, head_only: bool = False) -> None:
        """An answer of our own, as JSON."""
        headers = (("Content-Type", "application/json"), ("Content-Length", str(len(body))))
        self.begin(HttpHead(status, headers))
        if not head_only:
            self.pass_on(body)
        self.end()

    def is_reusable(self) -> bool:
        """Whether another request may come; then everything is ready for it."""
        if self._wire.our_state is not h11.DONE or self._wire.their_state is not h11.DONE:
            return False
        self._wire.start_next_cycle()
        return True

    def cut(self, *, reset: bool) -> None:
        """Break the connection off, as the server's was: by a ``reset``, or by an early end."""
        if reset:
            try:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            except OSError:
                pass
        else:
            self.hang_up()
        self.sock.close()

    def hang_up(self) -> None:
        """End the connection; from any thread. Whoever waits for what comes over it goes on."""
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _next(self) -> Any:
        while True:
            event = self._wire.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self._wire.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._wire.receive_data(self.sock.recv(_AT_ONCE))

    def _send(self, event: h11.Event) -> None:
        said = self._wire.send(event)
        if said:
            self._write(said)

    def _write(self, said: bytes) -> None:
        try:
            self.sock.sendall(said)
        except OSError as error:
            raise AskerGoneError("the client went away") from error
