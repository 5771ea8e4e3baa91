"""Where the network cut a stream: events a chunk completed, and bytes of the next one that came with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from playhead.providers._columns import pack, unpack

__all__ = ["cut_chunks", "measure_chunks"]


def measure_chunks(chunks: Sequence[bytes], ends: Sequence[int]) -> list[Any]:
    """The two columns for chunks of a stream whose events end at the byte positions ``ends``."""
    completed: list[int] = []
    begun: list[int] = []
    at = before = 0
    for chunk in chunks:
        at += len(chunk)
        whole = bisect_right(ends, at)
        completed.append(whole - before)
        begun.append(at - (ends[whole - 1] if whole else 0))
        before = whole
    return [pack(completed), pack(begun)]


def cut_chunks(data: bytes, ends: Sequence[int], columns: Any) -> list[bytes]:
    """``data`` in chunks again. Events that have become shorter or longer are still completed by the same chunk."""
    completed, begun = (unpack(column) for column in columns)
    chunks: list[bytes] = []
    at = whole = 0
    for events, into in zip(completed, begun, strict=True):
        whole = min(whole + events, len(ends))
        start = ends[whole - 1] if whole else 0
        room = ends[whole] - start - 1 if whole < len(ends) else len(data) - start
        end = max(at, start + max(0, min(into, room)))
        chunks.append(data[at:end])
        at = end
    if at < len(data):
        chunks[-1:] = [(chunks[-1] if chunks else b"") + data[at:]]
    return chunks
