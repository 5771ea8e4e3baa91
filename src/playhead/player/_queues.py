"""Who waits at the turnstile, in the order in which they may go on."""

from __future__ import annotations

import heapq
from itertools import count

from playhead.player._holds import FREE, Hold

_Entry = tuple[int, int, int, Hold]
"""A hold in a heap, behind what it is ordered by: its index, its recorded time, and a number of its own."""


class Queues:
    """Those who wait for a recorded moment, for a time, and those who wait for what never came."""

    __slots__ = ("_free", "_held", "_never", "_numbers")

    def __init__(self) -> None:
        self._held: list[_Entry] = []
        self._free: list[_Entry] = []
        self._never: dict[int, Hold] = {}
        self._numbers = count()

    def __bool__(self) -> bool:
        return bool(self._held or self._free or self._never)

    @property
    def has_held(self) -> bool:
        """Whether anyone waits, or waited of late, for a recorded moment."""
        return bool(self._held)

    def add(self, hold: Hold) -> None:
        """``hold`` begins to wait."""
        if hold.never:
            self._never[id(hold)] = hold
            return
        queue = self._free if hold.index == FREE else self._held
        heapq.heappush(queue, (hold.index, hold.at_ns, next(self._numbers), hold))

    def forget(self, hold: Hold) -> None:
        """``hold``, which is open, waits no longer."""
        self._never.pop(id(hold), None)

    def first(self) -> Hold | None:
        """The first who waits for a recorded moment."""
        return _first(self._held)

    def pop(self) -> Hold:
        """Take the `first` out."""
        return heapq.heappop(self._held)[-1]

    def first_free(self) -> Hold | None:
        """The first who waits for a time."""
        return _first(self._free)

    def pop_free(self) -> Hold:
        """Take the `first_free` out."""
        return heapq.heappop(self._free)[-1]

    def first_never(self) -> Hold | None:
        """One of those who wait for what never came."""
        return next(iter(self._never.values()), None)

    def first_yielding(self) -> Hold | None:
        """The first sleep or beginning of a thread that waits: what is missing may be asked after it."""
        found = [entry for entry in self._held if not entry[-1].is_open and entry[-1].yields]
        return min(found)[-1] if found else None

    @property
    def is_stuck(self) -> bool:
        """Whether somebody waits for an answer that was never given."""
        return any(hold.explain is not None for hold in self._never.values())

    def waiting(self) -> list[Hold]:
        """All who wait."""
        waiting = [*(entry[-1] for entry in (*self._held, *self._free)), *self._never.values()]
        return [hold for hold in waiting if not hold.is_open]

    def clear(self) -> list[Hold]:
        """Take all out who wait."""
        waiting = self.waiting()
        self._held.clear()
        self._free.clear()
        self._never.clear()
        return waiting


def _first(heap: list[_Entry]) -> Hold | None:
    while heap and heap[0][-1].is_open:
        heapq.heappop(heap)
    return heap[0][-1] if heap else None
