"""What a request repeats, byte for byte, of the one before it in its lane.

A conversation is sent again as a whole with every turn, half a megabyte after some hundred steps. Where the items of
its longest list stand is remembered; those that begin the next request unchanged are left out of its text before
anybody reads it, so that reading costs what is new.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

_LEAST = 1024
"""Fewer bytes than these are not left out."""

_BLOCK = 1 << 16

_encode = msgspec.json.Encoder().encode


class Abridged(NamedTuple):
    """The ``text`` of a request ``raw`` without the first ``left_out`` items of the list under ``key``; one is kept."""

    raw: bytes
    text: bytes
    key: str = ""
    left_out: int = 0


class _Places(NamedTuple):
    """Where in ``raw`` the items of the list under ``key`` begin and end."""

    raw: bytes
    key: str
    starts: list[int]
    ends: list[int]


class Repeats:
    """The last request of each lane."""

    def __init__(self) -> None:
        self._before: dict[str, _Places] = {}

    def abridge(self, lane: str, raw: bytes) -> Abridged:
        """``raw`` without what it repeats.

        JSON is read from left to right: where two texts are equal beyond the end of an item, it is an item of both.
        """
        before = self._before.get(lane)
        if before is not None:
            left_out = bisect_left(before.ends, _count_equal(before.raw, raw)) - 1
            first = before.starts[0]
            if left_out > 0 and before.starts[left_out] - first >= _LEAST:
                return Abridged(raw, raw[:first] + raw[before.starts[left_out] :], before.key, left_out)
        return Abridged(raw, raw)

    def remember(self, lane: str, request: Abridged, list_at: int, items: Sequence[bytes]) -> None:
        """This is the last request of ``lane`` now.

        ``items`` are those in its text of the list under its ``key``, which begins at ``list_at``.
        """
        before = self._before.pop(lane, None)
        starts: list[int] = []
        ends: list[int] = []
        end = list_at
        for item in items:
            start = _skip_space(request.text, end + 1)
            if not request.text.startswith(item, start):
                return
            end = start + len(item)
            starts.append(start)
            ends.append(end)
        if before is not None and request.left_out:
            shift = len(request.raw) - len(request.text)
            starts = before.starts[: request.left_out] + [start + shift for start in starts]
            ends = before.ends[: request.left_out] + [end + shift for end in ends]
        if starts:
            self._before[lane] = _Places(request.raw, request.key, starts, ends)


def find_values(text: bytes, top: Mapping[str, msgspec.Raw]) -> dict[str, int] | None:
    """Where in ``text`` each value of the object ``top`` begins: so no key of it is repeated.

    ``None`` where a key is, or may be: the text has more white space than one between tokens, or an escaped key.
    """
    places = {}
    position = 1
    for key, value in top.items():
        name = _encode(key) + b":"
        if not text.startswith(name, position):
            return None
        position = places[key] = _skip_space(text, position + len(name))
        position = _skip_space(text, position + len(value) + 1)
    return places if position == len(text) else None


def _skip_space(text: bytes, position: int) -> int:
    return position + (text[position : position + 1] == b" ")


def _count_equal(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    length = min(len(one), len(other))
    at = 0
    while at < length and one[at : at + _BLOCK] == other[at : at + _BLOCK]:
        at += _BLOCK
    low, high = at, min(at + _BLOCK, length)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return min(low, length)
