"""The index at the end of a compressed recording: a skippable frame that plain zstd tools pass over.

Encoder and decoder are here. Version history: 1, the first.

The frame is ``INDEX_MAGIC``, the length of what follows (4 bytes, little endian), JSON text, the length of
that text (4 bytes, little endian) and ``b"playhead"``; so it is found from the end of the file.
"""

from __future__ import annotations

from typing import Final

import msgspec

INDEX_MAGIC: Final = b"\x5b\x2a\x4d\x18"
_TAG: Final = b"playhead"
_TAIL: Final = 4 + len(_TAG)


class Index(msgspec.Struct, frozen=True):
    """``frames`` gives for each frame its byte offset and where its text begins in the whole plain text.

    ``index`` is the index's own version, ``count`` the number of events, ``plain`` the length of the text,
    ``sha256`` the digest of all bytes of the file before the index.
    """

    index: int
    count: int
    plain: int
    sha256: str
    frames: list[tuple[int, int]]


def encode_index(index: Index) -> bytes:
    """The frame, to be written after the last one."""
    text = msgspec.json.encode(index)
    content = text + len(text).to_bytes(4, "little") + _TAG
    return INDEX_MAGIC + len(content).to_bytes(4, "little") + content


def decode_index(frame: bytes) -> Index | None:
    """Read an index frame; ``None`` where it is not whole and exact."""
    try:
        index = msgspec.json.decode(frame[8:-_TAIL], type=Index)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return index if encode_index(index) == frame else None


def index_length(tail: bytes) -> int | None:
    """The length of the index frame, from the last 12 bytes of a file; ``None`` where there is no index."""
    if len(tail) != _TAIL or tail[4:] != _TAG:
        return None
    return int.from_bytes(tail[:4], "little") + _TAIL + 8
