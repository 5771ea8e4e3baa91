"""Which exchange of one recording is which of the other.

Lanes are laid against lanes of the same name, so it does not matter which of two parallel branches was quicker.
What has no partner was added or removed.
"""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from playhead.comparison._entries import Entry, entries_by_lane
from playhead.comparison._sequences import align_items
from playhead.eventlog import Exchange, Recording

Both = tuple[Entry | None, Entry | None]


class Pair(msgspec.Struct, frozen=True):
    """Two exchanges that are the same place in two recordings; one of them may be missing."""

    before: Exchange | None
    after: Exchange | None


def align(before: Recording, after: Recording) -> list[Pair]:
    """The exchanges of both recordings, paired, in the order of the one that has them; ``before`` leads."""
    return [Pair(_exchange(old), _exchange(new)) for old, new in align_entries(before, after)]


def align_entries(before: Recording, after: Recording) -> list[Both]:
    """The same, with what the exchanges were recognised by."""
    old, new = entries_by_lane(before), entries_by_lane(after)
    pairs: list[Both] = []
    for lane in dict.fromkeys((*old, *new)):
        ours, theirs = old.get(lane, []), new.get(lane, [])
        for i, j in align_items([entry.item for entry in ours], [entry.item for entry in theirs]):
            pairs.append((None if i is None else ours[i], None if j is None else theirs[j]))
    return _in_order(pairs)


def _in_order(pairs: list[Both]) -> list[Both]:
    """What is only in the second recording comes after what came before it there, as far as the first has that."""
    shared = sorted((_seq(new), _seq(old)) for old, new in pairs if old is not None and new is not None)
    seqs = [seq for seq, _ in shared]

    def place(pair: Both) -> tuple[int, int]:
        old, new = pair
        if old is not None:
            return _seq(old), -1
        assert new is not None
        at = bisect_left(seqs, _seq(new))
        return (shared[at - 1][1] if at else -1), _seq(new)

    return sorted(pairs, key=place)


def _exchange(entry: Entry | None) -> Exchange | None:
    return entry.exchange if entry is not None else None


def _seq(entry: Entry) -> int:
    return entry.exchange.question.seq
