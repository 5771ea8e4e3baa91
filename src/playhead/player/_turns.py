"""In which turns of their event loops the recorded moments came: read from the bodies of events, when it is asked."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING

from playhead.boundary import LoopWatch
from playhead.player._naps import Naps
from playhead.player._order import Order
from playhead.player._slots import Layout, Slot
from playhead.player._wakes import Wakes

if TYPE_CHECKING:
    from playhead.player._holds import Hold

_MANY = 1000
_UNKNOWN = -1


class Turns:
    """How many turns each moment came after the one before it; what has been found out is kept.

    Many lanes that wait ask about the same moments, and what one of them costs must not grow with their number.
    """

    def __init__(self, order: Order, layout: Layout, naps: Naps, wakes: Wakes) -> None:
        self._order = order
        self._layout = layout
        self._naps = naps
        self._wakes = wakes

    @cached_property
    def _known(self) -> array[int]:
        return array("h", [_UNKNOWN]) * self._order.length

    @cached_property
    def _onward(self) -> array[int]:
        """For a moment that came in the turn of the one before it, a later one up to which all did; else 0."""
        return array("l", [0]) * self._order.length

    def before(self, index: int) -> int:
        """How many turns after the moment before it a moment came; many where the loop was idle or it is not known."""
        found = self._known[index]
        if found == _UNKNOWN:
            found = self._known[index] = self._read(index)
        return found

    def between(self, index: int, later: int) -> int:
        """How many turns of their loop passed between two moments: none, one, or 2 where it is more than one."""
        first = self._first_later(index + 1, later + 1)
        if first > later:
            return 0
        return 1 if self.before(first) == 1 and self._first_later(first + 1, later + 1) > later else 2

    def is_near(self, slot: Slot, index: int, turns: int | None) -> bool:
        """Whether the answer ``index`` came one turn of the loop after its question: nothing was awaited."""
        return turns is not None and turns <= 1 and self.between(self._order.index(slot.seq), index) == 1

    def was_ready(self, found: Hold, index: int, watch: LoopWatch) -> bool:
        """Whether ``found`` came one turn after the moment ``index``, and had been made ready by then.

        One that is to be cancelled had been by the moment after that which it was made ready after: only then is it
        known that nobody cancels it before, in its own place.
        """
        least = found.index - found.ready if found.cancelled else 0
        near = found.ready > 0 and found.watch is watch and least <= index < found.index
        return near and found.moment is not None and self.between(index, found.index) == 1

    def came_with(self, hold: Hold, found: Hold, *, known: int) -> bool:
        """Whether ``found`` came in the very turn in which ``hold`` goes on, perhaps after some questions.

        What is before the moment ``known`` has been looked at.
        """
        if found.watch is not hold.watch or found.turns != 0 or found.cancelled or found.moment is None:
            return False
        order = self._order
        between = range(max(order.head, known), found.index)
        return all(
            order.is_done(at) or (order.question(at) == order.seq(at) and self.before(at) == 0) for at in between
        )

    def _first_later(self, index: int, end: int) -> int:
        """The first from ``index`` on that came in a later turn than the one before it; ``end`` at the latest."""
        onward = self._onward
        passed = []
        while index < end:
            further = onward[index]
            if not further:
                if self.before(index):
                    break
                further = index + 1
            passed.append(index)
            index = further
        for each in passed:
            onward[each] = index
        return min(index, end)

    def _read(self, index: int) -> int:
        if self._order.turns(index, 0) is None:
            return _MANY
        seq = self._order.seq(index)
        asked = self._order.question(index)
        slot = self._layout.find(asked)
        if slot is None:
            turns = self._wakes.turns(seq) or self._naps.turns(seq)
        elif asked == seq:
            turns = getattr(slot.peek().question.body, "turns", None) or 0
        else:
            answer = slot.peek().answer
            found = getattr(answer.body, "turns", None) if answer is not None else None
            turns = _MANY if found is None else found
        return _MANY if turns < 0 else min(turns, _MANY)
