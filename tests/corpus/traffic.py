"""Recorded traffic of real providers: read from its folder, and served again on the loopback interface.

An exchange is served under ``/NUMBER/ORIGINAL-HOST/ORIGINAL-PATH``, so that its path still ends as it did.
"""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import random
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

FOLDER = Path(os.environ.get("PLAYHEAD_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")

Pairs = tuple[tuple[str, str], ...]

_OF_THE_CONNECTION = {"connection", "content-length", "host", "keep-alive", "transfer-encoding", "upgrade"}
_OF_THE_CODING = {"accept-encoding", "content-encoding"}  # the bodies in the files are decoded
_EVENT = re.compile(rb".*?(?:\r\n|\n|\r){2}|.+\Z", re.DOTALL)


class Exchange(NamedTuple):
    """One exchange. ``pieces`` are the body of the response as it is sent, one by one."""

    number: int
    file: str
    method: str
    url: str
    headers: Pairs
    body: bytes | None
    status: int
    answered: Pairs
    pieces: list[bytes]

    @property
    def content_type(self) -> str:
        found = (value for name, value in self.answered if name.lower() == "content-type")
        return next(found, "").partition(";")[0].strip().lower()

    @property
    def is_stream(self) -> bool:
        """Whether the response came as a stream of events, be they text or binary."""
        return "event" in self.content_type and "stream" in self.content_type

    @property
    def has_no_body(self) -> bool:
        """Whether HTTP forbids the response to have one."""
        return self.method == "HEAD" or self.status in (204, 304)

    @property
    def path(self) -> str:
        """Where it is served: a path, with the query."""
        parts = urlsplit(self.url)
        query = f"?{parts.query}" if parts.query else ""
        return f"/{self.number}/{parts.netloc}{parts.path}{query}"


@functools.cache
def read_exchanges() -> list[Exchange]:
    """Every HTTP exchange of the corpus; other kinds of files and entries are passed over."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found: list[Exchange] = []
    for path in sorted(FOLDER.rglob("*.y*ml")):
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
        for one in (content.get("interactions") or []) if isinstance(content, dict) else []:
            if isinstance(one, dict) and "response" in one and "uri" in one.get("request", {}):
                found.append(_read(len(found), path.stem, one["request"], one["response"]))
    return found


def _read(number: int, file: str, request: dict[str, Any], response: dict[str, Any]) -> Exchange:
    status = response["status"]
    answered = _pairs(response.get("headers"), without=_OF_THE_CONNECTION | _OF_THE_CODING)
    body = _bytes(response, style=number) or b""
    exchange = Exchange(
        number=number,
        file=file,
        method=request["method"].upper(),
        url=request["uri"],
        headers=_pairs(request.get("headers"), without=_OF_THE_CONNECTION | _OF_THE_CODING),
        body=_bytes(request, style=0),
        status=int(status["code"] if isinstance(status, dict) else status),
        answered=answered,
        pieces=[],
    )
    return exchange._replace(pieces=_cut(exchange, body))


def _pairs(headers: Any, *, without: set[str]) -> Pairs:
    pairs = []
    for name, value in (headers or {}).items():
        for each in value if isinstance(value, list) else [value]:
            if name.lower() not in without:
                pairs.append((name, str(each)))
    return tuple(pairs)


def _bytes(side: dict[str, Any], *, style: int) -> bytes | None:
    """The body of a request or a response, whichever way the file keeps it."""
    if "parsed_body" in side:
        return _write_json(side["parsed_body"], style)
    body = side.get("body")
    if isinstance(body, dict) and set(body) <= {"string", "base64_string", "encoding"}:
        if "base64_string" in body:
            return base64.b64decode(body["base64_string"])
        body = body.get("string")
    if isinstance(body, dict | list):
        return _write_json(body, style)
    return body.encode("utf-8", "surrogateescape") if isinstance(body, str) else body


def _write_json(value: Any, style: int) -> bytes:
    """JSON in one of the ways in which servers write it; the files keep it parsed."""
    ways: list[dict[str, Any]] = [
        {"separators": (",", ":"), "ensure_ascii": False},
        {"ensure_ascii": False},
        {"indent": 2, "ensure_ascii": False},
        {"separators": (",", ":")},
    ]
    return json.dumps(value, **ways[style % len(ways)]).encode("utf-8", "surrogatepass")


def _cut(exchange: Exchange, body: bytes) -> list[bytes]:
    """The body in one piece; a stream in events or, every third time, cut where it happens."""
    if not exchange.is_stream:
        return [body] if body else []
    if exchange.number % 3 and exchange.content_type == "text/event-stream":
        return _EVENT.findall(body)
    points = sorted(random.Random(exchange.number).sample(range(1, max(2, len(body))), min(12, max(0, len(body) - 1))))
    return [body[start:end] for start, end in zip([0, *points], [*points, len(body)], strict=True)]


class CorpusServer:
    """Serves exchanges by their number; ``hits`` counts the requests that reached it."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._by_number = {exchange.number: exchange for exchange in exchanges}
        self.hits = 0

    def __enter__(self) -> Self:
        server = self

        class Handler(_Handler):
            def find(self) -> Exchange:
                server.hits += 1
                return server._by_number[int(self.path.split("/", 2)[1])]

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def find(self) -> Exchange:
        raise NotImplementedError

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        exchange = self.find()
        self.send_response_only(exchange.status)
        for name, value in exchange.answered:
            self.send_header(name, value)
        bodiless = exchange.has_no_body
        if exchange.is_stream:
            self.send_header("transfer-encoding", "chunked")
        elif not bodiless:
            self.send_header("content-length", str(sum(map(len, exchange.pieces))))
        self.end_headers()
        for piece in filter(None, () if bodiless else exchange.pieces):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if exchange.is_stream else piece)
            if exchange.is_stream:
                self.wfile.flush()
        if exchange.is_stream and not bodiless:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


for _method in ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"):
    setattr(_Handler, f"do_{_method}", _Handler.answer)
