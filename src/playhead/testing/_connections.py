"""HTTP/1.1 on one accepted socket: reading requests, writing replies, and breaking off in every way a network can."""

from __future__ import annotations

import contextlib
import re
import socket
import struct
from collections.abc import Mapping
from email.utils import formatdate
from http import HTTPStatus

from playhead import _system

__all__ = ["BadRequestError", "Connection"]

_REQUEST_LINE = re.compile(r"([A-Z]+) (\S+) (HTTP/1\.[01])\r?\n")
_LONGEST_LINE = 65536
_MOST_HEADERS = 256


class BadRequestError(Exception):
    """What came over the connection is not HTTP/1.1."""


class Connection:
    """One connection to a client, used by one thread. It is done with when ``open`` is False."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._file = sock.makefile("rb")
        self._keep_alive = True
        self._chunked = False
        self._bodyless = False
        self.open = True

    def read_request(self) -> tuple[str, str, list[tuple[str, str]], bytes] | None:
        """Method, target, headers and body of the next request; None when the client has gone."""
        line = self._line()
        while line == b"\r\n":
            line = self._line()
        if not line:
            return None
        found = _REQUEST_LINE.fullmatch(line.decode("latin-1"))
        if found is None:
            raise BadRequestError(f"not a request line: {line[:80]!r}")
        method, target, version = found.groups()
        headers = self._headers()
        fields = {name.lower(): value for name, value in headers}
        asked = fields.get("connection", "").lower()
        self._keep_alive = asked == "keep-alive" if version == "HTTP/1.0" else asked != "close"
        self._chunked = version != "HTTP/1.0"
        self._bodyless = method == "HEAD"
        if fields.get("expect", "").lower() == "100-continue":
            self._sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return method, target, headers, self._body(fields)

    def send_head(self, status: int, headers: Mapping[str, str], *, length: int | None) -> None:
        """Status line and headers. ``length`` is the size of the body, None for one sent in chunks."""
        self._bodyless = self._bodyless or status in (204, 304)
        self._chunked = self._chunked and length is None
        self._keep_alive = self._keep_alive and (self._chunked or length is not None)
        lines = {"date": formatdate(_system.SystemClock.wall_ns() / 1e9, usegmt=True), **headers}
        if self._chunked:
            lines.setdefault("transfer-encoding", "chunked")
        elif length is not None and status != 204:
            lines.setdefault("content-length", str(length))
        lines.setdefault("connection", "keep-alive" if self._keep_alive else "close")
        self._keep_alive = self._keep_alive and lines["connection"] != "close"
        reason = _reason(status)
        head = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
        self._sock.sendall("\r\n".join(head).encode("latin-1"))

    def send(self, data: bytes) -> None:
        """A part of the body, on the wire at once."""
        if data and not self._bodyless:
            self._sock.sendall(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    def finish(self) -> None:
        """The reply is complete; the connection is kept if both sides may keep it."""
        if self._chunked and not self._bodyless:
            self._sock.sendall(b"0\r\n\r\n")
        if not self._keep_alive:
            self.close()

    def close(self) -> None:
        """Hang up, even in the middle of a reply. Safe to call twice."""
        self.open = False
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)
        self._release()

    def reset(self) -> None:
        """Break off with a reset, as a crashed peer or a firewall does."""
        self.open = False
        with contextlib.suppress(OSError):
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._release()

    def interrupt(self) -> None:
        """From another thread: make whatever the connection's own thread is waiting for come to an end."""
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _release(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.close()
        self._sock.close()

    def _line(self) -> bytes:
        line = self._file.readline(_LONGEST_LINE)
        if len(line) == _LONGEST_LINE:
            raise BadRequestError("a line of the request's head is too long")
        return line

    def _headers(self) -> list[tuple[str, str]]:
        headers: list[tuple[str, str]] = []
        while (line := self._line()) not in (b"\r\n", b"\n", b""):
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or len(headers) == _MOST_HEADERS:
                raise BadRequestError(f"not a header line, or one too many: {line[:80]!r}")
            headers.append((name.strip(), value.strip()))
        return headers

    def _body(self, fields: Mapping[str, str]) -> bytes:
        if "chunked" in fields.get("transfer-encoding", "").lower():
            parts = []
            while size := int(self._line().split(b";")[0], 16):
                parts.append(self._file.read(size))
                self._line()
            self._headers()
            return b"".join(parts)
        return self._file.read(int(fields.get("content-length", "0")))


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
