"""Reading a recording forward, line by line, in either form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from playhead.errors import CorruptRecordingError
from playhead.eventlog._compression import new_decompressor, zstd
from playhead.eventlog._format import (
    HEADER_LIMIT,
    LIMITS,
    EventLine,
    Header,
    Limits,
    corrupt,
    decode_header,
    decode_mark,
    decode_prefix,
    find_body,
    hostile,
    split_line,
)
from playhead.eventlog._source import Bytes, Source
from playhead.eventlog._text import Text

BLOB_LINE: Final = b'{"blob":"'
_BLOCK: Final = 192 * 1024
"""Stored bytes in which the first block of any compressed frame ends."""
_DATA_AT: Final = len(BLOB_LINE) + 64


class Torn(msgspec.Struct, frozen=True):
    """What a crash left behind the last whole line: ``bytes`` lost, from ``offset`` in the plain text."""

    offset: int
    bytes: int
    why: str


class Line(msgspec.Struct, frozen=True, gc=False):
    """An event line: its ``text``, what that says before the body, where it is in the plain text.

    ``erased`` says that only the digest of the body is there.
    """

    event: EventLine
    text: bytes
    offset: int
    erased: bool


def read_header(source: Source) -> Header:
    """The header of a recording, from its first line only.

    Raises `NotARecordingError` or `NewerFormatError`.
    """
    stored = Bytes(source)
    try:
        return decode_header(first_line(stored), name=stored.name)
    finally:
        if stored.path is not None:
            stored.close()


def first_line(stored: Bytes) -> bytes:
    """The first line, or as much as `HEADER_LIMIT` allows, without its newline."""
    start = stored.read(0, HEADER_LIMIT if stored.form == "plain" else _BLOCK)
    if stored.form == "zstd":
        try:
            start = new_decompressor().decompress(start, max_length=HEADER_LIMIT)
        except zstd().ZstdError:
            start = b""
    line, newline, _ = start.partition(b"\n")
    return line if newline else b""


class LogReader:
    """Iterate for `Line`s. ``header`` is read at once; ``torn`` is known when the end has been reached.

    ``blobs`` gives, for each blob that was passed inside the recording, where its content is in the plain text:
    offset and length. Damage before the tail raises `CorruptRecordingError` naming the place.
    """

    def __init__(self, source: Source | Bytes, *, limits: Limits = LIMITS) -> None:
        self.stored = source if isinstance(source, Bytes) else Bytes(source)
        self.name = self.stored.name
        self.header = decode_header(first_line(self.stored), name=self.name)
        self.text = Text(self.stored, limits=limits)
        self.torn: Torn | None = None
        self.count = 0
        self.blobs: dict[str, tuple[int, int]] = {}

    def __iter__(self) -> Iterator[Line]:
        first = True
        for start, lines in self.text:
            offset = start
            for line in lines:
                if line.startswith(b'{"seq":'):
                    yield self._event(line, offset)
                elif first:
                    first = False
                else:
                    self._other(line, offset)
                offset += len(line) + 1
        self.torn = tear(self.text)

    def _event(self, line: bytes, offset: int) -> Line:
        at = find_body(line)
        prefix = line[:at] if at is not None else self._prefix_of_erased(line, offset)
        try:
            event = decode_prefix(prefix)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise self._damage(line, offset, "has no readable header") from error
        seq = self.count
        if event.seq != seq:
            raise self._damage(line, offset, f"has the number {event.seq}")
        of, causes = event.of, event.causes
        if not (of is None or 0 <= of < seq) or (causes and not 0 <= min(causes) <= max(causes) < seq):
            raise self._damage(line, offset, "refers to an event that is not before it")
        self.count = seq + 1
        if self.count > self.text.limits.events:
            raise hostile(self.name, f"it has more than {self.text.limits.events} events")
        return Line(event, line, offset, at is None)

    def _prefix_of_erased(self, line: bytes, offset: int) -> bytes:
        split = split_line(line)
        if split is None:
            raise self._damage(line, offset, "is not an event")
        return split.prefix

    def _other(self, line: bytes, offset: int) -> None:
        if line.startswith(BLOB_LINE) and line[-2:] == b"}}":
            data = inline_data(line)
            if data is not None:
                digest, at = data
                self.blobs.setdefault(digest, (offset + at, len(line) - at - 1))
                return
        elif decode_mark(line) is not None:
            return
        raise self._damage(line, offset, "is not a line of a recording")

    def _damage(self, line: bytes, offset: int, why: str) -> CorruptRecordingError:
        where = f"the line of event {self.count}, at byte {offset} of its text,"
        return corrupt(self.name, f"{where} {why}", seq=self.count, offset=offset)


def inline_data(line: bytes) -> tuple[str, int] | None:
    """The digest that a blob line gives, and where its content begins in it."""
    if not line.startswith(b'","data":{', _DATA_AT):
        return None
    return line[len(BLOB_LINE) : _DATA_AT].decode("ascii", "replace"), _DATA_AT + len(b'","data":')


def tear(text: Text) -> Torn | None:
    """What is wrong with the end of a text that has been read to it."""
    if text.rest:
        return Torn(text.plain - len(text.rest), len(text.rest), "its last line is not whole")
    if text.cut:
        return Torn(text.plain, 0, "its last compressed frame is not whole")
    return None
