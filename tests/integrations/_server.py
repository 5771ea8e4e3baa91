"""A loopback HTTP server whose every byte a test decides, for the tests of the transports."""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Self

EVENTS = tuple(f"data: event {n}\n\n".encode() for n in range(1, 6))
BINARY = bytes(range(256)) * 3
DOCUMENT = {"city": "Łódź", "numbers": list(range(200))}
ZIPPED = gzip.compress(json.dumps(DOCUMENT).encode(), mtime=0)

Pairs = Sequence[tuple[str, str]]


class Exchange:
    """One request as it came, and the means to answer it."""

    def __init__(self, server: Server, sock: socket.socket, head: bytes, body: bytes) -> None:
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ", 2)
        self.headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
        self.body = body
        self.server = server
        self.sock = sock
        self.keep = True

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def head(self, headers: Pairs = (), *, status: str = "200 OK", body: bytes = b"") -> None:
        lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers), "", ""]
        self.send("\r\n".join(lines).encode("latin-1") + body)

    def answer(self, body: bytes = b"", headers: Pairs = (), *, status: str = "200 OK") -> None:
        """Head and body at once, so that a client that does not wait for the body has it all the same."""
        self.head([*headers, ("Content-Length", str(len(body)))], status=status, body=body)

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%s\r\n" % (len(data), data))

    def reset(self) -> None:
        """Go away without a word: the peer gets a reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        self.keep = False
        self.sock.close()


Handler = Callable[[Exchange], None]


class Server:
    """Answers by path (a handler may stand for all below it, ``/bytes/…``). ``hits`` counts what was served.

    Between the pieces of a stream it waits for `seen`, so a piece is never sent before its forerunner has been
    read: what reaches the program late is found out without a clock.
    """

    def __init__(self, **handlers: Handler) -> None:
        self.exchanges: list[Exchange] = []
        self.impatient = 0
        self._handlers = {**HANDLERS, **{f"/{name}": handler for name, handler in handlers.items()}}
        self._seen = threading.Semaphore(0)
        self._closing = threading.Event()
        self._socks: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._seen.release(1000)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
            sock.close()
        for thread in self._threads:
            thread.join(5)

    @property
    def hits(self) -> int:
        return len(self.exchanges)

    def seen(self) -> None:
        """The client has read a piece: the next may be sent."""
        self._seen.release()

    def wait_seen(self) -> None:
        """Wait until the client has read what was sent so far; a client that is late is counted."""
        if not self._seen.acquire(timeout=5):
            self.impatient += 1

    def hang(self) -> None:
        """Wait until the server closes."""
        self._closing.wait(30)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socks.append(sock)
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        with contextlib.suppress(OSError), sock, sock.makefile("rb") as reader:
            while True:
                exchange = self._read(sock, reader)
                if exchange is None:
                    return
                self.exchanges.append(exchange)
                path = exchange.target.partition("?")[0]
                handler = self._handlers.get(path) or self._handlers["/" + path.split("/")[1]]
                handler(exchange)
                if not exchange.keep:
                    return

    def _read(self, sock: socket.socket, reader: object) -> Exchange | None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = reader.readline()  # type: ignore[attr-defined]
            if not line:
                return None
            head += line
        names = {
            k.strip().lower(): v.strip()
            for k, _, v in (h.partition(":") for h in head.decode("latin-1").split("\r\n")[1:])
        }
        body = b""
        if "content-length" in names:
            body = reader.read(int(names["content-length"]))  # type: ignore[attr-defined]
        elif names.get("transfer-encoding") == "chunked":
            while size := int(reader.readline(), 16):  # type: ignore[attr-defined]
                body += reader.read(size)  # type: ignore[attr-defined]
                reader.readline()  # type: ignore[attr-defined]
            reader.readline()  # type: ignore[attr-defined]
        return Exchange(self, sock, head[:-4], body)


def _events(exchange: Exchange) -> None:
    """Five events as chunks, each sent when the one before it has been read."""
    exchange.head([("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")])
    for number, event in enumerate(EVENTS):
        if number:
            exchange.server.wait_seen()
        exchange.chunk(event)
    exchange.chunk(b"")


def _echo(exchange: Exchange) -> None:
    said = {
        "method": exchange.method,
        "target": exchange.target,
        "body": exchange.body.decode("latin-1"),
        "headers": exchange.headers,
    }
    exchange.answer(json.dumps(said).encode(), [("Content-Type", "application/json")])


def _cookies(exchange: Exchange) -> None:
    exchange.answer(
        b"ok",
        [
            ("Set-Cookie", "a=1; Path=/"),
            ("Warning", '199 - "first"'),
            ("set-cookie", "b=2; Path=/; Expires=Wed, 01 Jan 2098 00:00:00 GMT"),
            ("Warning", '199 - "second"'),
        ],
    )


def _short(exchange: Exchange) -> None:
    """A body that is announced longer than it is, and a connection that closes."""
    exchange.head([("Content-Length", "100")])
    exchange.send(b"only this")
    exchange.close()


def _cut(exchange: Exchange) -> None:
    """Two chunks, and the connection closes without the last one."""
    exchange.head([("Transfer-Encoding", "chunked")])
    exchange.chunk(EVENTS[0])
    exchange.server.wait_seen()
    exchange.chunk(EVENTS[1])
    exchange.close()


def _reset(exchange: Exchange) -> None:
    """One chunk, read by the client, and then a reset."""
    exchange.head([("Transfer-Encoding", "chunked")])
    exchange.chunk(EVENTS[0])
    exchange.server.wait_seen()
    exchange.reset()


def _stall(exchange: Exchange) -> None:
    """One chunk, and then nothing."""
    exchange.head([("Transfer-Encoding", "chunked")])
    exchange.chunk(EVENTS[0])
    exchange.server.hang()


def _until_closed(exchange: Exchange) -> None:
    """A body without a length, which ends with the connection."""
    exchange.head([("Connection", "close")])
    exchange.send(BINARY)
    exchange.close()


def _goto(target: str, status: str) -> Handler:
    return lambda exchange: exchange.answer(b"moved", [("Location", target)], status=status)


def _flaky(exchange: Exchange) -> None:
    """503 the first time, 200 afterwards."""
    first = sum(e.target == exchange.target for e in exchange.server.exchanges) == 1
    exchange.answer(b"no" if first else b"yes", status="503 Busy" if first else "200 OK")


HANDLERS: dict[str, Handler] = {
    "/events": _events,
    "/echo": _echo,
    "/bytes": lambda e: e.answer(b"x" * int(e.target.rpartition("/")[2])),
    "/zipped": lambda e: e.answer(ZIPPED, [("Content-Type", "application/json"), ("Content-Encoding", "gzip")]),
    "/binary": lambda e: e.answer(BINARY, [("Content-Type", "application/octet-stream")]),
    "/until-closed": _until_closed,
    "/cookies": _cookies,
    "/short": _short,
    "/cut": _cut,
    "/reset": _reset,
    "/stall": _stall,
    "/no-head": lambda e: e.server.hang(),
    "/drop": Exchange.close,
    "/a": _goto("/b", "302 Found"),
    "/b": _goto("/c", "307 Temporary Redirect"),
    "/c": lambda e: e.answer(b"arrived"),
    "/form": _goto("/c", "303 See Other"),
    "/flaky": _flaky,
    "/missing": lambda e: e.answer(b'{"error": "none"}', status="404 Not Found"),
    "/empty": lambda e: e.head(status="204 No Content"),
    "/head": lambda e: e.head([("Content-Length", "30")]),
}
