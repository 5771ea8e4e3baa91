"""HTTP/1.1 on the wire, for clients whose own parser stands above the seam.

`WireTap` takes the pieces of a body out of the bytes that such a client reads; `Played` makes bytes for its parser
from a recorded answer. Pieces are what the transfer coding carries: one for each chunk, content coding left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from playhead.boundary import HeaderPairs, HttpHead, Lane, PlayedStream, Tap

_BODILESS = (204, 304)


class WireTap:
    """Follows the bytes of one response and tells a tap its head, its pieces and its end.

    The client reads and judges the same bytes by itself; what it makes of broken ones is its own affair, so here
    they only end the following.
    """

    def __init__(self, tap: Tap, method: str, head: HttpHead | None = None) -> None:
        self._tap = tap
        self._method = method
        self._buffer = bytearray()
        self._left: int | None = 0
        self._part = bytearray()
        self._state = "head"
        self._together = False
        if head is not None:
            self._begin(head)

    @property
    def inside(self) -> Lane:
        """The lane of what is done to get the response."""
        return self._tap.ticket.inside

    @property
    def open_ended(self) -> bool:
        """Whether the body goes on until the connection ends."""
        return self._state == "rest"

    def feed(self, data: bytes, *, together: bool = False) -> None:
        """These bytes have come, ``together`` with those before where the program could not tell them apart."""
        if self._state == "done":
            return
        self._together = together
        self._buffer += data
        while self._step():
            pass

    def eof(self) -> None:
        """The connection has ended: that ends a body without a length, and breaks any other."""
        if self._state == "rest":
            self._finish()
        elif self._state not in ("head", "done"):
            from http.client import IncompleteRead

            self.fail(IncompleteRead(b"", self._left if self._state == "body" else None))

    def fail(self, error: BaseException) -> None:
        """The client saw ``error`` in the middle of the body."""
        self._flush()
        self._tap.fail(error)

    def leave(self) -> None:
        """The client lets go of the response."""
        if self._state != "done":
            self._flush()
        if self._tap.head is not None:
            self._tap.end("closed")

    def _step(self) -> bool:
        """Take one thing out of the buffer; false where more bytes are needed."""
        match self._state:
            case "head":
                return self._take_head()
            case "body" | "chunk":
                return self._take_body()
            case "rest":
                if self._buffer:
                    self._take(bytes(self._buffer))
                    self._buffer.clear()
            case "size" | "gap" | "trailer":
                return self._take_line()
        return False

    def _take_head(self) -> bool:
        end = _end_of_head(self._buffer)
        if end is None:
            return False
        head = _parse_head(bytes(self._buffer[:end]))
        del self._buffer[:end]
        if head is None:
            self._state = "done"
        elif not 100 <= head.status < 200 or head.status == 101:
            self._begin(head)
        return self._state != "done"

    def _begin(self, head: HttpHead) -> None:
        self._tap.head = head
        self._state, self._left = _framing(head, self._method)
        if self._state == "body" and self._left == 0:
            self._finish()

    def _take_body(self) -> bool:
        assert self._left is not None
        taken = bytes(self._buffer[: self._left])
        del self._buffer[: len(taken)]
        self._left -= len(taken)
        if self._state == "body":
            if taken:
                self._take(taken)
            if self._left == 0:
                self._finish()
            return False
        self._part += taken
        if self._left:
            return False
        self._flush()
        self._state = "gap"
        return True

    def _take_line(self) -> bool:
        end = self._buffer.find(b"\n")
        if end < 0:
            return False
        line = bytes(self._buffer[:end]).strip()
        del self._buffer[: end + 1]
        if self._state == "gap":
            self._state = "size"
        elif self._state == "trailer":
            if not line:
                self._finish()
        else:
            try:
                self._left = int(line.partition(b";")[0], 16)
            except ValueError:
                self._state = "done"
                return False
            self._state = "chunk" if self._left else "trailer"
        return self._state != "done"

    def _take(self, piece: bytes) -> None:
        self._tap.take(piece, together=self._together)
        self._together = True

    def _flush(self) -> None:
        if self._part:
            self._take(bytes(self._part))
            self._part.clear()

    def _finish(self) -> None:
        self._state = "done"
        self._tap.end("complete")


class Played:
    """The bytes of a recorded response: ``head``, then `frames`, one for each piece, framed as the head says."""

    def __init__(self, stream: PlayedStream, method: str) -> None:
        head = stream.head or HttpHead(200, ())
        self._stream = stream
        self._chunked = _framing(head, method)[0] == "size"
        self.head = _write_head(head)

    def frames(self) -> Iterator[bytes]:
        """The body, piece by piece; a recorded error is raised where it came, a lost connection just ends it."""
        from http.client import IncompleteRead

        try:
            for piece in self._stream:
                yield self.frame(piece)
        except IncompleteRead:
            return
        if self._chunked:
            yield self.last

    def frame(self, piece: bytes) -> bytes:
        """``piece`` as it goes over the wire."""
        return b"%x\r\n%s\r\n" % (len(piece), piece) if self._chunked else piece

    @property
    def last(self) -> bytes:
        """What comes after the last piece."""
        return b"0\r\n\r\n" if self._chunked else b""


def _framing(head: HttpHead, method: str) -> tuple[str, int | None]:
    """How the end of the body is told: ``body`` by a length, ``size`` by chunks, ``rest`` by the connection."""
    if method == "HEAD" or head.status in _BODILESS or 100 <= head.status < 200:
        return "body", 0
    said = {name.lower(): value for name, value in head.headers}
    if "chunked" in said.get("transfer-encoding", "").lower():
        return "size", None
    length = said.get("content-length", "").partition(",")[0].strip()
    return ("body", int(length)) if length.isdigit() else ("rest", None)


def _end_of_head(data: bytearray) -> int | None:
    ends = [at + len(mark) for mark in (b"\n\r\n", b"\n\n") if (at := data.find(mark)) >= 0]
    return min(ends) if ends else None


def _parse_head(data: bytes) -> HttpHead | None:
    """The status line and headers; ``None`` where they are neither."""
    lines = data.decode("latin-1").replace("\r\n", "\n").strip("\n").split("\n")
    version, _, rest = lines[0].partition(" ")
    status, _, reason = rest.partition(" ")
    if not status.isdigit():
        return None
    pairs: list[tuple[str, str]] = []
    for line in lines[1:]:
        if line[:1] in " \t" and pairs:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {line.strip()}")
        else:
            name, _, value = line.partition(":")
            pairs.append((name, value.strip()))
    return HttpHead(int(status), tuple(pairs), version, reason)


def _write_head(head: HttpHead) -> bytes:
    version = head.version if head.version in ("HTTP/1.0", "HTTP/1.1") else "HTTP/1.1"
    lines = [f"{version} {head.status} {head.reason}", *(f"{name}: {_one_line(value)}" for name, value in head.headers)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _one_line(value: str) -> str:
    return " ".join(value.split("\n")).replace("\r", "")


def pairs_of(items: object) -> HeaderPairs:
    """Header pairs as text, from names and values that are text or bytes."""
    return tuple((_text(name), _text(value)) for name, value in items)  # type: ignore[attr-defined]


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
