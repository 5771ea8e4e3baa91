"""Aligning two sequences: which item of one is which of the other, none crossing.

Items are alike in degrees: the same value, or the same shape, or only the same name; items of other names are never
laid against each other. Short stretches get the best alignment there is. In long ones the values are aligned first
where enough of them are equal, the shapes otherwise, and what is left in between in the same way. Long stretches go
by longest common subsequence in the bits of whole numbers, so that a thousand comparisons are one addition: 3,000
items against 3,000 take a few hundredths of a second.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import msgspec

Match = tuple[int | None, int | None]
"""The places of an item in both sequences; ``None`` where it has no partner there."""

_SMALL: Final = 10_000
"""The product of two lengths up to which all alignments are weighed."""

_WIDE: Final = 200_000_000
"""The product of two lengths, in bits, up to which all rows are kept."""

_ENOUGH: Final = 5
"""Values lead the alignment where one in so many is equal."""

_VALUE, _SHAPE, _NAME = 6, 3, 2


class Item(msgspec.Struct, frozen=True):
    """What an item is recognised by. ``value`` implies ``shape``, and ``shape`` implies ``name``."""

    name: Hashable
    shape: Hashable
    value: Hashable


def align_items(old: Sequence[Item], new: Sequence[Item]) -> list[Match]:
    """Each item of both, once, in an order that keeps that of both."""
    return list(_align(old, new, 0, len(old), 0, len(new)))


def _align(old: Sequence[Item], new: Sequence[Item], a: int, b: int, c: int, d: int) -> Iterator[Match]:
    """``old[a:b]`` against ``new[c:d]``."""
    while a < b and c < d and old[a].value == new[c].value:
        yield a, c
        a, c = a + 1, c + 1
    tail = 0
    while a < b - tail and c < d - tail and old[b - 1 - tail].value == new[d - 1 - tail].value:
        tail += 1
    yield from _align_middle(old, new, a, b - tail, c, d - tail)
    yield from zip(range(b - tail, b), range(d - tail, d), strict=True)


def _align_middle(old: Sequence[Item], new: Sequence[Item], a: int, b: int, c: int, d: int) -> Iterator[Match]:
    if a == b or c == d:
        yield from ((at, None) for at in range(a, b))
        yield from ((None, at) for at in range(c, d))
    elif (b - a) * (d - c) <= _SMALL:
        yield from _weigh(old, new, a, b, c, d)
    else:
        common = common_subsequence([item.value for item in old[a:b]], [item.value for item in new[c:d]])
        if len(common) * _ENOUGH < min(b - a, d - c):
            common = common_subsequence([item.shape for item in old[a:b]], [item.shape for item in new[c:d]])
        if not common:
            common = common_subsequence([item.name for item in old[a:b]], [item.name for item in new[c:d]])
        start = a, c
        for i, j in common:
            if (start[0], start[1]) != (a + i, c + j):
                yield from _align_middle(old, new, start[0], a + i, start[1], c + j)
            yield a + i, c + j
            start = a + i + 1, c + j + 1
        if common:
            yield from _align_middle(old, new, start[0], b, start[1], d)
        else:  # nothing has even its name in common
            yield from ((at, None) for at in range(a, b))
            yield from ((None, at) for at in range(c, d))


def _weigh(old: Sequence[Item], new: Sequence[Item], a: int, b: int, c: int, d: int) -> Iterator[Match]:
    """The alignment in which the most is alike, of all there are; of equally good ones that which pairs early."""
    width = d - c
    best = [[0] * (width + 1)]
    for i in range(b - 1, a - 1, -1):
        below, row = best[-1], [0] * (width + 1)
        for j in range(width - 1, -1, -1):
            together = _alike(old[i], new[c + j])
            row[j] = max(below[j + 1] + together if together else 0, below[j], row[j + 1])
        best.append(row)
    best.reverse()
    i = j = 0
    while i < b - a or j < width:
        together = _alike(old[a + i], new[c + j]) if i < b - a and j < width else 0
        if together and best[i][j] == best[i + 1][j + 1] + together:
            yield a + i, c + j
            i, j = i + 1, j + 1
        elif i < b - a and best[i][j] == best[i + 1][j]:
            yield a + i, None
            i += 1
        else:
            yield None, c + j
            j += 1


def _alike(one: Item, other: Item) -> int:
    if one.value == other.value:
        return _VALUE
    return _SHAPE if one.shape == other.shape else _NAME if one.name == other.name else 0


def common_subsequence(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int]]:
    """A longest common subsequence, as pairs of places.

    >>> common_subsequence("abcd", "xbyd")
    [(1, 1), (3, 3)]
    """
    if len(old) * len(new) > _WIDE and len(old) > 1:
        half = len(old) // 2
        split = _best_split(old, new, half)
        rest = common_subsequence(old[half:], new[split:])
        return [*common_subsequence(old[:half], new[:split]), *((i + half, j + split) for i, j in rest)]
    rows = list(_rows(old, new))
    found: list[tuple[int, int]] = []
    i, j = len(old), len(new)
    while i and j:
        if rows[j - 1] >> (i - 1) & 1:
            i -= 1
        else:
            j -= 1
            if j == 0 or rows[j - 1] >> (i - 1) & 1:
                i -= 1
                found.append((i, j))
    return found[::-1]


def _rows(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[int]:
    """For each item of ``new`` a number whose zero bits are where the common subsequence grows along ``old``."""
    places: dict[Hashable, int] = {}
    for at, item in enumerate(old):
        places[item] = places.get(item, 0) | 1 << at
    mask = (1 << len(old)) - 1
    row = mask
    for item in new:
        hits = row & places.get(item, 0)
        row = ((row + hits) | (row - hits)) & mask
        yield row


def _best_split(old: Sequence[Hashable], new: Sequence[Hashable], half: int) -> int:
    """Where to cut ``new`` so that its halves have the most in common with those of ``old``."""
    left = [0, *(half - row.bit_count() for row in _rows(old[:half], new))]
    rest = len(old) - half
    right = [0, *(rest - row.bit_count() for row in _rows(old[half:][::-1], new[::-1]))][::-1]
    return max(range(len(new) + 1), key=lambda at: left[at] + right[at])
