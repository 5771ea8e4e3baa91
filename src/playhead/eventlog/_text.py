"""The plain text of a recording in either form, read forward in blocks and cut into lines.

Whatever the size of a recording, this holds a block and the longest line of it in memory.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Final

import msgspec

from playhead.eventlog._compression import MAGIC, new_decompressor, zstd
from playhead.eventlog._format import LIMITS, Limits, corrupt, hostile
from playhead.eventlog._index import INDEX_MAGIC
from playhead.eventlog._source import Bytes

_CHUNK: Final = 128 * 1024
_BLOCK: Final = 128 * 1024
_RATIO_FROM: Final = 64 * 1024 * 1024


class Frame(msgspec.Struct, gc=False):
    """A stretch of plain text (``start``, ``length``) and the stored bytes that hold it (``offset``, ``size``)."""

    offset: int
    start: int
    size: int = 0
    length: int = 0


class Text:
    """Iterate for blocks of whole lines: ``(offset in the plain text, [line, …])``.

    When the end has been reached, ``rest`` holds what came after the last newline, ``frames`` where the text
    is stored, ``index`` what followed the last frame, and ``cut`` says whether a frame ended too early.
    Damage in the compression raises `CorruptRecordingError`, a bomb `HostileRecordingError`.
    """

    def __init__(self, source: Bytes, *, limits: Limits = LIMITS) -> None:
        self.source = source
        self.limits = limits
        self.rest = b""
        self.frames: list[Frame] = []
        self.index = b""
        self.cut = False
        self.plain = 0
        self.consumed = 0

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        carry: list[bytes] = []
        carried = 0
        blocks = self._plain_blocks() if self.source.form == "plain" else self._zstd_blocks()
        for block in blocks:
            offset = self.plain - carried
            self.plain += len(block)
            self._check_size()
            end = block.rfind(b"\n")
            if end < 0:
                carry.append(block)
                carried += len(block)
                if carried > self.limits.line:
                    raise hostile(self.source.name, f"a line is longer than {self.limits.line} bytes")
                continue
            carry.append(block[:end])
            whole = b"".join(carry)
            carry = [block[end + 1 :]]
            carried = len(block) - end - 1
            yield offset, whole.split(b"\n")
        self.rest = b"".join(carry)

    def _check_size(self) -> None:
        if self.plain > self.limits.plain:
            raise hostile(self.source.name, f"its text is longer than {self.limits.plain} bytes")
        if self.plain > _RATIO_FROM and self.plain > self.limits.ratio * max(self.consumed, 1):
            raise hostile(self.source.name, f"it unpacks to more than {self.limits.ratio} times its size")

    def _read(self, length: int) -> bytes:
        data = self.source.read(self.consumed, length)
        self.consumed += len(data)
        return data

    def _plain_blocks(self) -> Iterator[bytes]:
        while block := self._read(_BLOCK):
            yield block

    def _zstd_blocks(self) -> Iterator[bytes]:
        pending = self._read(_CHUNK)
        while pending:
            if len(pending) < len(MAGIC):
                pending += self._read(_CHUNK)
            if pending.startswith(INDEX_MAGIC):
                offset = self.consumed - len(pending)
                self.index = self.source.read(offset, self.source.size - offset)
                return
            frame = Frame(self.consumed - len(pending), self.plain)
            try:
                pending = yield from self._unpack(pending)
            except zstd().ZstdError as error:
                why = f"the compressed frame at byte {frame.offset} cannot be unpacked"
                raise corrupt(self.source.name, why, offset=frame.offset) from error
            frame.size = self.consumed - len(pending) - frame.offset
            frame.length = self.plain - frame.start
            self.frames.append(frame)
            pending = pending or self._read(_CHUNK)

    def _unpack(self, data: bytes) -> Generator[bytes, None, bytes]:
        """Yield the text of one frame; return the bytes read beyond it."""
        unpack = new_decompressor()
        while not unpack.eof:
            if block := unpack.decompress(data, max_length=_BLOCK):
                yield block
            data = b""
            if unpack.needs_input and not unpack.eof:
                data = self._read(_CHUNK)
                if not data:
                    self.cut = True
                    return b""
        rest: bytes = unpack.unused_data
        return rest
