"""When the pieces of a recorded stream came among all else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from playhead.boundary import Streamed, Ticket, Turn, running_watch
from playhead.events import Event
from playhead.player._comings import Coming
from playhead.player._holds import Hold
from playhead.player._order import Order
from playhead.player._slots import Slot
from playhead.player._turnstile import Turnstile


class StreamPace:
    """The turns of one stream, from the times of its pieces and the moment ``end`` at which its ``answer`` came."""

    __slots__ = ("_answer", "_asked_ns", "_end", "_has_begun", "_slot", "_stile", "_ticket")

    def __init__(self, stile: Turnstile, ticket: Ticket, slot: Slot, *, asked_ns: int, answer: Event, end: int) -> None:
        self._stile = stile
        self._ticket = ticket
        self._slot = slot
        self._asked_ns = asked_ns
        self._answer = answer
        self._end = slot.end = end
        self._has_begun = False

    def begin(self, outcome: Streamed) -> Turn | None:
        """When the call gives the stream: with its head, or else with its first piece."""
        after_ns = outcome.gaps_ns[0] if outcome.gaps_ns else 0
        if outcome.head is not None:
            came_ns = after_ns if outcome.head_ns is None else outcome.head_ns
            return self._turn(came_ns, outcome.head_turns, "head")
        self._has_begun = bool(outcome.items)
        return self._turn(after_ns, outcome.turns[0] if outcome.turns else (), "piece")

    def piece(self, after_ns: int, turns: Sequence[int]) -> Turn | None:
        """The turn of the piece that came so long after the question."""
        if self._has_begun:
            self._has_begun = False
            return None
        return self._turn(after_ns, turns, "piece")

    def _turn(self, after_ns: int, turns: Sequence[int], kind: Literal["piece", "head"]) -> Turn | None:
        stile, watch = self._stile, running_watch()
        if stile.course.pieces_come(self._end, watch):
            if watch is not None:
                watch.mark_piece(is_head=kind == "head")
            return None  # without a look at its time: whatever came before the end may come
        at_ns, coming = self._asked_ns + after_ns, Coming(turns, kind)
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
        if not cancelled and stile.may_end(self._answer.seq):
            self._slot.end = None
            return None
        turns, coming = coming_of(self._answer, self._end, stile.order)
        watch = running_watch()
        is_now = coming is not None and watch is not None and coming.is_now(watch)
        if not cancelled and stile.may_pass(self._end, 0 if is_now else turns):
            if not (stile.is_waited_for or stile.order.is_another):
                self._slot.end = None
            return None
        return Hold(
            stile,
            self._end,
            at_ns=stile.order.at_ns(self._end),
            lane=self._ticket.lane.name,
            place=self._place,
            turns=turns,
            coming=coming,
            cancelled=cancelled,
        )

    @property
    def _place(self) -> str:
        return place_of(self._ticket, self._slot)


def place_of(ticket: Ticket, slot: Slot) -> str:
    """What waits there, for messages."""
    return f"{slot.place} ({ticket.call.name})"


def coming_of(answer: Event, index: int, order: Order) -> tuple[int | None, Coming | None]:
    """How many turns after the moment before it an answer came, the moment ``index``, and how after a piece."""
    body = answer.body
    after = getattr(body, "after_piece", ()) if order.turns(index, 0) is not None else ()
    return order.turns(index, getattr(body, "turns", None)), Coming(after) if after else None
