"""The index at the end of a compressed recording: a skippable frame that plain zstd tools pass over.

Encoder and decoder are here. Version history: 1, the first.

The frame is ``INDEX_MAGIC``, the length of what follows (4 bytes, little endian), JSON text, the length of
that text (4 bytes, little endian) and ``b"playhead"``; so it is found from the end of the file. The text ends
with ``"sha256":"…"}``: the digest of every byte of the file before its own first digit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from hashlib import _Hash

INDEX_MAGIC: Final = b"\x5b\x2a\x4d\x18"
_TAG: Final = b"playhead"
_TAIL: Final = 4 + len(_TAG)


class Index(msgspec.Struct, frozen=True):
    """``frames`` gives for each frame its byte offset and where its text begins in the whole plain text.

    ``index`` is the index's own version, ``count`` the number of events, ``plain`` the length of the text.
    """

    index: int
    count: int
    plain: int
    frames: list[tuple[int, int]]


def encode_index(index: Index, stored: _Hash) -> bytes:
    """The frame, to be written after the last one. ``stored`` is SHA-256 of all bytes before it, and goes on."""
    text = msgspec.json.encode(index)[:-1] + b',"sha256":"'
    length = len(text) + 64 + 2
    start = INDEX_MAGIC + (length + _TAIL).to_bytes(4, "little") + text
    stored.update(start)
    return b'%b%b"}%b%b' % (start, stored.hexdigest().encode(), length.to_bytes(4, "little"), _TAG)


def decode_index(frame: bytes) -> Index | None:
    """Read an index frame; ``None`` where it is not one."""
    try:
        return msgspec.json.decode(frame[8:-_TAIL], type=Index)
    except (msgspec.MsgspecError, RecursionError):
        return None


def index_length(tail: bytes) -> int | None:
    """The length of the index frame, from the last 12 bytes of a file; ``None`` where there is no index."""
    if len(tail) != _TAIL or tail[4:] != _TAG:
        return None
    return int.from_bytes(tail[:4], "little") + _TAIL + 8
