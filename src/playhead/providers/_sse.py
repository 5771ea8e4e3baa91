"""Server-sent events: bytes in, events out, wherever the bytes were cut.

The rules are those of the HTML standard, with one difference: a block that holds only comments (a keep-alive)
is given as an event too, since a client that reads the raw stream can see it.
"""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["SseEvent", "SseParser", "parse_events"]

_BOM: Final = b"\xef\xbb\xbf"


class SseEvent(msgspec.Struct, frozen=True):
    """One block of a stream, as a client sees it.

    ``data`` joins the block's data lines with a newline and is None where it has none. ``id`` and ``retry``
    (milliseconds) are those this block set, not the ones inherited from earlier blocks.
    """

    event: str | None = None
    data: str | None = None
    id: str | None = None
    retry: int | None = None
    comments: tuple[str, ...] = ()


class SseParser:
    """Reads a stream piece by piece; equal bytes give equal events for every way of cutting them.

    Bytes that are not UTF-8 come out as U+FFFD. What has not been closed by an empty line stays in ``tail``.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._block = bytearray()
        self._after_cr = False
        self._at_start = True
        self._fields: list[bytes] = []

    @property
    def tail(self) -> bytes:
        """The bytes of the event that is still open (without a byte order mark)."""
        return bytes(self._block) + bytes(self._line)

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that ``data`` completes."""
        if self._after_cr and data:
            self._after_cr = False
            if data[:1] == b"\n":
                if self._block:
                    self._block += b"\n"
                data = data[1:]
        events: list[SseEvent] = []
        for piece in data.splitlines(keepends=True):
            self._line += piece
            if piece[-1:] in (b"\n", b"\r"):
                self._end_line(events)
        self._after_cr = data[-1:] == b"\r" if data else self._after_cr
        return events

    def _end_line(self, events: list[SseEvent]) -> None:
        whole = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            whole = whole.removeprefix(_BOM)
        line = whole.rstrip(b"\r\n")
        if line:
            self._block += whole
            self._fields.append(line)
            return
        if self._fields:
            events.append(_read_block(self._fields))
        self._fields = []
        self._block.clear()


def _read_block(lines: list[bytes]) -> SseEvent:
    event: str | None = None
    data: list[str] = []
    ident: str | None = None
    retry: int | None = None
    comments: list[str] = []
    for raw in lines:
        name, colon, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if not name and colon:
            comments.append(value)
        elif name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id" and "\0" not in value:
            ident = value
        elif name == "retry" and value.isascii() and value.isdigit():
            retry = int(value[:18])
    return SseEvent(
        event=event or None,
        data="\n".join(data) if data else None,
        id=ident,
        retry=retry,
        comments=tuple(comments),
    )


def parse_events(data: bytes) -> list[SseEvent]:
    """All events of ``data`` that an empty line closes; an unfinished one at the end is left out.

    >>> [event.data for event in parse_events(b"data: a\\n\\ndata:b\\r\\n\\r\\ndata: cut")]
    ['a', 'b']
    """
    return SseParser().feed(data)
