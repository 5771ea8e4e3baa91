"""Who waits at the turnstile, in the order in which they may go on."""

from __future__ import annotations

import heapq
from itertools import count

from playhead.player._holds import FREE, Hold

_Entry = tuple[int, int, int, Hold]
"""A hold in a heap, behind what it is ordered by: its index, its recorded time, and a number of its own."""


class Queues:
    """Those who wait for a recorded moment, for a time, and those who wait for what never came.

    ``held``, ``free`` and ``never`` stay the same objects; where all are empty, nobody waits.
    """

    __slots__ = ("_numbers", "free", "held", "never")

    def __init__(self) -> None:
        self.held: list[_Entry] = []
        self.free: list[_Entry] = []
        self.never: dict[int, Hold] = {}
        self._numbers = count()

    def __bool__(self) -> bool:
        return bool(self.held or self.free or self.never)

    def add(self, hold: Hold) -> None:
        """``hold`` begins to wait."""
        if hold.never:
            self.never[id(hold)] = hold
            return
        queue = self.free if hold.index == FREE else self.held
        heapq.heappush(queue, (hold.index, hold.at_ns, next(self._numbers), hold))

    def forget(self, hold: Hold) -> None:
        """``hold``, which is open, waits no longer."""
        self.never.pop(id(hold), None)

    def first(self) -> Hold | None:
        """The first who waits for a recorded moment."""
        return _first(self.held)

    def pop(self) -> Hold:
        """Take the `first` out."""
        return heapq.heappop(self.held)[-1]

    def first_free(self) -> Hold | None:
        """The first who waits for a time."""
        return _first(self.free)

    def pop_free(self) -> Hold:
        """Take the `first_free` out."""
        return heapq.heappop(self.free)[-1]

    def first_never(self) -> Hold | None:
        """One of those who wait for what never came."""
        return next(iter(self.never.values()), None)

    def first_yielding(self) -> Hold | None:
        """The first sleep or beginning of a thread that waits: what is missing may be asked after it."""
        found = [entry for entry in self.held if not entry[-1].is_open and entry[-1].yields]
        return min(found)[-1] if found else None

    @property
    def is_stuck(self) -> bool:
        """Whether somebody waits for an answer that was never given."""
        return any(hold.explain is not None for hold in self.never.values())

    def waiting(self) -> list[Hold]:
        """All who wait."""
        waiting = [*(entry[-1] for entry in (*self.held, *self.free)), *self.never.values()]
        return [hold for hold in waiting if not hold.is_open]

    def clear(self) -> list[Hold]:
        """Take all out who wait."""
        waiting = self.waiting()
        self.held.clear()
        self.free.clear()
        self.never.clear()
        return waiting


def _first(heap: list[_Entry]) -> Hold | None:
    while heap and heap[0][-1].is_open:
        heapq.heappop(heap)
    return heap[0][-1] if heap else None
