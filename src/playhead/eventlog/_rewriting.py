"""Writing a whole recording at once, in either form: on disk and in its place, or not there at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from playhead._system import random_hex
from playhead.eventlog._compression import compress
from playhead.eventlog._files import sync_folder, writing
from playhead.eventlog._format import LIVE_SUFFIX
from playhead.eventlog._index import Index, encode_index

FRAME: Final = 1024 * 1024
"""Bytes of plain text after which a frame ends, at the next end of a line."""

_LEVEL: Final = 6
_FINISHED: Final = b',"kind":"run.finished"'


def write_recording(lines: Iterable[bytes], target: Path) -> None:
    """Write ``lines`` (without newlines) to ``target``, in the form that its name asks for.

    The file appears at once and whole, by an atomic rename, when its bytes are on disk; what stood there is
    replaced. Raises `StoreNotWritableError`, and then leaves nothing behind.
    """
    beside = target.with_name(f"{target.name}.tmp-{random_hex(8)}")
    write = _write_plain if target.name.endswith(LIVE_SUFFIX) else _write_compressed
    with writing(target):
        try:
            with beside.open("xb") as file:
                write(lines, file)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
        sync_folder(target.parent)


def _write_plain(lines: Iterable[bytes], file: BinaryIO) -> None:
    file.writelines(line + b"\n" for line in lines)


def _write_compressed(lines: Iterable[bytes], file: BinaryIO) -> None:
    digest = sha256()
    frames: list[tuple[int, int]] = []
    offset = plain = count = 0
    for text in _frames(lines):
        packed = compress(text, level=_LEVEL)
        file.write(packed)
        digest.update(packed)
        frames.append((offset, plain))
        offset += len(packed)
        plain += len(text)
        count += text.startswith(b'{"seq":') + text.count(b'\n{"seq":')
    file.write(encode_index(Index(1, count, plain, frames), digest))


def _frames(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Stretches of text. The header and what closes a run have their own, since a list opens only those."""
    pending: list[bytes] = []
    size = 0
    first = True
    for line in lines:
        if pending and (size >= FRAME or first or _FINISHED in line[:64]):
            first = False
            yield b"\n".join(pending) + b"\n"
            pending.clear()
            size = 0
        pending.append(line)
        size += len(line) + 1
    if pending:
        yield b"\n".join(pending) + b"\n"
