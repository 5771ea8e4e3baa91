"""When the pieces of a recorded stream came among all else."""

from __future__ import annotations

from playhead.boundary import Streamed, Ticket, Turn
from playhead.player._holds import Hold
from playhead.player._slots import Slot
from playhead.player._turnstile import Turnstile


class StreamPace:
    """The turns of one stream, from the times of its pieces and the moment ``end`` of its end."""

    __slots__ = ("_asked_ns", "_end", "_slot", "_stile", "_ticket", "_turns")

    def __init__(
        self, stile: Turnstile, ticket: Ticket, slot: Slot, *, asked_ns: int, end: int, turns: int | None
    ) -> None:
        self._stile = stile
        self._ticket = ticket
        self._slot = slot
        self._asked_ns = asked_ns
        self._end = slot.end = end
        self._turns = turns

    def piece(self, after_ns: int) -> Turn | None:
        """The turn of the piece that came so long after the question."""
        stile, at_ns = self._stile, self._asked_ns + after_ns
        if stile.is_next(self._end):
            return None
        index = min(stile.order.index_at(at_ns), self._end)
        if stile.is_clear(index, at_ns):
            return None
        return Hold(stile, index, lane=self._ticket.lane.name, place=self._place, at_ns=at_ns)

    def end(self) -> Turn | None:
        """The turn of its end; ``None`` where that may come at once."""
        stile, answer = self._stile, self._ticket.answer
        cancelled = isinstance(answer, Streamed) and answer.end == "cancelled"
        if not cancelled and stile.may_end(self._end, self._turns):
            if not (stile.is_waited_for or stile.order.is_another):
                self._slot.end = None
            return None
        return Hold(
            stile,
            self._end,
            at_ns=stile.order.at_ns(self._end),
            lane=self._ticket.lane.name,
            place=self._place,
            turns=self._turns,
            cancelled=cancelled,
        )

    @property
    def _place(self) -> str:
        return place_of(self._ticket, self._slot)


def place_of(ticket: Ticket, slot: Slot) -> str:
    """What waits there, for messages."""
    return f"{slot.place} ({ticket.call.name})"
