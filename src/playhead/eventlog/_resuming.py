"""Where a live recording ends, for a writer that goes on with it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from playhead.errors import StoreNotWritableError
from playhead.eventlog._files import writing
from playhead.eventlog._format import Header, corrupt
from playhead.eventlog._locking import take
from playhead.eventlog._printing import printable
from playhead.eventlog._reader import read_header
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Text
from playhead.eventlog._verifying import verify


class LiveEnd(msgspec.Struct, frozen=True):
    """The end of the whole lines of a live file: ``count`` events, the last mark is number ``mark``, ``size`` bytes."""

    header: Header
    count: int
    head: str
    mark: int
    size: int
    sealed: bool


def find_end(path: Path) -> LiveEnd:
    """The end of the recording at ``path``. Raises `CorruptRecordingError` where its chain does not hold."""
    found = verify(path)
    if found.breaks:
        raise corrupt(path.name, str(found.breaks[0]), seq=found.breaks[0].first)
    stored = Bytes(path)
    try:
        text = Text(stored)
        marks = sum(line.startswith(b'{"mark":') for _, lines in text for line in lines)
    finally:
        stored.close()
    return LiveEnd(read_header(path), found.count, found.head, marks - 1, text.plain - len(text.rest), found.sealed)


def reopen(path: Path) -> int:
    """Open the live file at ``path`` to append to it, and hold its lock.

    Raises `StoreNotWritableError` where it may not be written, or is still being written by another process.
    """
    with writing(path):
        fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
    if not take(fd):
        os.close(fd)
        raise StoreNotWritableError(
            f"{printable(path)} is still being written by another process", next="playhead runs"
        )
    return fd
