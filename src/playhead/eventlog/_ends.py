"""What a list shows of a run without opening it: how it ends, read from its end, and how many steps it has."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from playhead.errors import FormatError
from playhead.eventlog._compression import new_decompressor, zstd
from playhead.eventlog._format import decode_prefix, split_line
from playhead.eventlog._index import decode_index, index_length
from playhead.eventlog._source import Bytes, Source
from playhead.eventlog._text import Text
from playhead.events import RunFinished, decode_body

_TAIL: Final = 64 * 1024
_CLOSING: Final = 1024 * 1024
_STEP: Final = re.compile(rb'\{"seq":\d+,"kind":"(?:model\.requested|tool\.called)"')


class End(msgspec.Struct, frozen=True):
    """The end of a recording: ``count`` events, the last at ``at_ns`` (wall clock), and how the run ``finished``.

    ``finished`` is ``None`` where the run was cut off or is going on.
    """

    count: int
    at_ns: int
    sealed: bool
    finished: RunFinished | None


def read_end(source: Source) -> End:
    """Read the end of a recording. What is torn or damaged there is passed over; `verify` is for that.

    Raises `NotARecordingError` or `StoreError` where there is nothing to read.
    """
    stored = Bytes(source)
    try:
        length = _TAIL
        while True:
            text, whole = _closing(stored, length)
            end = _read(text)
            if whole or end.finished is not None or (end.count and length >= _CLOSING):
                return end
            length *= 4
    finally:
        if stored.path is not None:
            stored.close()


def count_steps(source: Source) -> int | None:
    """How many steps a recording has, from how its lines begin; ``None`` where they cannot be read to the end.

    Raises `NotARecordingError` or `StoreError` where there is nothing to read.
    """
    stored = Bytes(source)
    try:
        return sum(1 for _, lines in Text(stored) for line in lines if _STEP.match(line))
    except FormatError:
        return None
    finally:
        if stored.path is not None:
            stored.close()


def _closing(stored: Bytes, length: int) -> tuple[bytes, bool]:
    """The last bytes of the plain text, and whether there is no more to be had."""
    if stored.form == "plain":
        at = max(0, stored.size - length)
        return stored.read(at, stored.size - at), at == 0
    size = index_length(stored.read(max(0, stored.size - 12), 12))
    index = decode_index(stored.read(stored.size - size, size)) if size is not None and size < stored.size else None
    if size is None or index is None or not index.frames:
        return b"", True
    offset = index.frames[-1][0]
    if not 0 <= offset < stored.size - size:
        return b"", True
    try:
        packed = stored.read(offset, stored.size - size - offset)
        text: bytes = new_decompressor().decompress(packed, max_length=_CLOSING * 16)
    except zstd().ZstdError:
        return b"", True
    return text, True


def _read(text: bytes) -> End:
    count = at_ns = 0
    sealed = False
    for line in reversed(text.split(b"\n")[:-1]):
        split = split_line(line) if line.startswith(b'{"seq":') else None
        if split is None:
            continue
        try:
            event = decode_prefix(split.prefix)
            if not count:
                count, at_ns, sealed = event.seq + 1, event.at_ns, event.kind == "recording.sealed"
            if event.kind == "run.finished" and split.body is not None:
                body = decode_body(event.kind, split.body)
                return End(count, at_ns, sealed, body if isinstance(body, RunFinished) else None)
        except (msgspec.MsgspecError, RecursionError, FormatError):
            continue
    return End(count, at_ns, sealed, None)
