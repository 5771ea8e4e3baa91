"""When the pieces of a recorded stream came among all else."""

from __future__ import annotations

from collections.abc import Sequence

from playhead.boundary import Streamed, Ticket, Turn, running_watch
from playhead.player._comings import Coming
from playhead.player._holds import Hold
from playhead.player._slots import Slot
from playhead.player._turnstile import Turnstile


class StreamPace:
    """The turns of one stream, from the times of its pieces and the moment ``end`` of its end."""

    __slots__ = ("_asked_ns", "_coming", "_end", "_has_begun", "_slot", "_stile", "_ticket", "_turns")

    def __init__(
        self,
        stile: Turnstile,
        ticket: Ticket,
        slot: Slot,
        *,
        asked_ns: int,
        end: int,
        turns: int | None,
        coming: Coming | None,
    ) -> None:
        self._stile = stile
        self._ticket = ticket
        self._slot = slot
        self._asked_ns = asked_ns
        self._end = slot.end = end
        self._turns = turns
        self._coming = coming
        self._has_begun = False

    def begin(self, outcome: Streamed) -> Turn | None:
        """When the call gives the stream: with its head, or else with its first piece."""
        after_ns = outcome.gaps_ns[0] if outcome.gaps_ns else 0
        if outcome.head is not None:
            came_ns = after_ns if outcome.head_ns is None else outcome.head_ns
            return self._turn(came_ns, Coming(outcome.head_turns, "head"))
        self._has_begun = bool(outcome.items)
        return self._turn(after_ns, Coming(outcome.turns[0] if outcome.turns else (), "piece"))

    def piece(self, after_ns: int, turns: Sequence[int]) -> Turn | None:
        """The turn of the piece that came so long after the question."""
        if self._has_begun:
            self._has_begun = False
            return None
        return self._turn(after_ns, Coming(turns, "piece"))

    def _turn(self, after_ns: int, coming: Coming) -> Turn | None:
        stile, at_ns, watch = self._stile, self._asked_ns + after_ns, running_watch()
        index = min(stile.order.index_at(at_ns), self._end)
        is_now = watch is not None and coming.is_now(watch) and stile.is_first(index, at_ns)
        if is_now or stile.is_clear(index, at_ns):
            if watch is not None:
                coming.mark(watch)
                stile.came(watch)
            return None
        return Hold(stile, index, lane=self._ticket.lane.name, place=self._place, at_ns=at_ns, coming=coming)

    def end(self) -> Turn | None:
        """The turn of its end; ``None`` where that may come at once."""
        stile, answer = self._stile, self._ticket.answer
        cancelled = isinstance(answer, Streamed) and answer.end == "cancelled"
        watch = running_watch()
        is_now = self._coming is not None and watch is not None and self._coming.is_now(watch)
        if not cancelled and stile.may_end(self._end, 0 if is_now else self._turns):
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
            coming=self._coming,
            cancelled=cancelled,
        )

    @property
    def _place(self) -> str:
        return place_of(self._ticket, self._slot)


def place_of(ticket: Ticket, slot: Slot) -> str:
    """What waits there, for messages."""
    return f"{slot.place} ({ticket.call.name})"
