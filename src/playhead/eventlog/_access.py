"""Reading the plain text of a recording at any place, once a pass over it has found its frames."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from typing import Final

from playhead.eventlog._compression import new_decompressor, zstd
from playhead.eventlog._format import LIMITS, corrupt, hostile
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Frame

_KEPT: Final = 64 * 1024 * 1024


class Access:
    """``read(offset, length)`` of the plain text. Unpacked frames are kept up to 64 MiB, the last used ones."""

    def __init__(self, stored: Bytes, frames: list[Frame]) -> None:
        self._stored = stored
        self._frames = frames
        self._starts = [frame.start for frame in frames]
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._last = (0, 0, b"")
        """Where the text of the frame read last begins and ends, and that text."""
        self._size = 0

    def read(self, offset: int, length: int) -> bytes:
        """``length`` bytes of text from ``offset``."""
        begin, end, text = self._last
        at = offset - begin
        if at >= 0 and offset + length <= end:
            return text[at : at + length]
        if self._stored.form == "plain":
            return self._stored.read(offset, length)
        at = bisect_right(self._starts, offset) - 1
        text = self._unpacked(at)
        begin = self._starts[at]
        self._last = (begin, begin + len(text), text)
        piece = text[offset - begin : offset - begin + length]
        while len(piece) < length and at + 1 < len(self._frames):
            at += 1
            piece += self._unpacked(at)[: length - len(piece)]
        return piece

    def _unpacked(self, at: int) -> bytes:
        text = self._kept.get(at)
        if text is not None:
            self._kept.move_to_end(at)
            return text
        frame = self._frames[at]
        if frame.length > LIMITS.line:
            raise hostile(self._stored.name, f"one compressed frame holds {frame.length} bytes")
        packed = self._stored.read(frame.offset, frame.size)
        try:
            unpacked: bytes = new_decompressor().decompress(packed, max_length=frame.length)
        except zstd().ZstdError as error:
            raise corrupt(self._stored.name, f"the compressed frame at byte {frame.offset} changed") from error
        self._kept[at] = unpacked
        self._size += len(unpacked)
        while self._size > _KEPT and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])
        return unpacked
