"""When each answer of a replay may be given: what the session knows of the order, put to the turnstile."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from playhead.boundary import Call, Lane, Pause, Raised, Returned, Streamed, Ticket, is_cancellation
from playhead.errors import PlayheadError
from playhead.eventlog import Recording
from playhead.events import Event
from playhead.player._holds import FREE, Hold
from playhead.player._naps import Nap, Naps
from playhead.player._order import Order
from playhead.player._paces import StreamPace
from playhead.player._pacing import Pacing
from playhead.player._slots import Layout, Slot
from playhead.player._turnstile import Turnstile

_MANY = 1000

Blocked = Callable[[int, Hold], "BaseException | None"]
"""Told the ``seq`` of the recorded question that does not come, 0 where all have, and who waits."""


class Ordering:
    """The recorded order of one recording, or another one ``instead``. All but `open` is called with ``lock`` held."""

    def __init__(
        self,
        recording: Recording,
        layout: Layout,
        *,
        lock: Any,
        blocked: Blocked,
        instead: Sequence[int] | None = None,
    ) -> None:
        self._layout = layout
        self._lock = lock
        self._recording = recording
        self._naps = Naps(recording)
        self._order = order = Order(recording.moments(), gone=layout.erased, instead=instead)
        self._began: float | None = None
        self._ended = False

        def no_more(index: int, waiting: Hold) -> BaseException | None:
            return blocked(0 if order.is_over else order.question(index), waiting)

        self.stile = Turnstile(
            order, lock=lock, blocked=no_more, in_same_turn=self._in_same_turn, turns_between=self._turns_between
        )
        self._pacing = Pacing(self.stile, lock)

    @property
    def is_another(self) -> bool:
        """Whether another order than the recorded one is to be kept."""
        return self._order.is_another

    def open(self, lane: Lane) -> None:
        """Let a thread begin in ``lane`` in its turn."""
        with self._lock:
            index = None if self._ended else self._order.opening(lane.name)
            if index is None or self.stile.passes(index, None):
                return
            recorded = getattr(self._recording.events[self._order.seq(index)].body, "turns", None)
            turns = self._order.turns(index, recorded)
            hold = self._hold(lane, f"the thread of lane {lane.name}", index, turns, yields=True)
        with suppress(PlayheadError):  # it is told at its first crossing
            hold.wait()

    def cross(self, lane: Lane) -> None:
        """Something is asked in ``lane``: its loop waits for turns from now on, and it has begun."""
        self._pacing.follow()
        opening = self._order.opening(lane.name)
        if opening is not None:
            self.stile.happened(opening)

    def asked(self, slot: Slot) -> None:
        """The question of ``slot`` has been asked."""
        self.stile.happened(self._order.index(slot.seq))

    def answer(self, ticket: Ticket, slot: Slot, answer: Event, asked_ns: int) -> None:
        """Give ``ticket`` its turn, or the pace of its stream."""
        index = slot.end = self._order.index(answer.seq)
        turns = self._order.turns(index, getattr(answer.body, "turns", None))
        place = f"{slot.place} ({ticket.call.name})"
        outcome = ticket.answer
        if isinstance(outcome, Streamed):
            ticket.pace = StreamPace(
                self.stile,
                ticket.lane.name,
                asked_ns=asked_ns,
                end=index,
                turns=turns,
                cancelled=outcome.end == "cancelled",
                place=place,
            )
            ticket.turn = ticket.pace.piece(outcome.gaps_ns[0] if outcome.gaps_ns else 0)
            return
        cancelled = isinstance(outcome, Raised) and is_cancellation(outcome.error)
        if cancelled or not self.stile.passes(index, turns):
            near = self._is_near(slot, index, turns)
            hold = ticket.turn = self._hold(ticket.lane, place, index, turns, cancelled=cancelled, is_near=near)
            hold.ready = self._order.ready(index, getattr(answer.body, "ready", 0))

    def pause(self, lane: Lane, call: Call, pause: Pause) -> Ticket:
        """A sleep, or a timer: it ends in its turn and takes no time. One without an end is none: somebody waits."""
        ticket = Ticket(lane, call, answer=Returned(None))
        nap, passed = self._naps.take(lane.name, pause.seconds) if pause.seconds < math.inf else (None, ())
        for each in passed:
            self._pass_over(each)
        place = f"a sleep of {pause.seconds:.3g} s in lane {lane.name}"
        if nap is not None:
            self.stile.happened(self._order.index(nap.asked))
        if nap is not None and nap.ended is not None:
            index = self._order.index(nap.ended)
            hold = ticket.turn = self._hold(lane, place, index, self._order.turns(index, nap.turns), yields=True)
        else:
            endless = pause.seconds == math.inf
            due_ns = 0 if endless else self.stile.now_ns + int(pause.seconds * 1e9)
            never = nap is not None or endless
            hold = ticket.turn = Hold(self.stile, FREE, lane=lane.name, place=place, at_ns=due_ns, never=never)
        hold.seconds = pause.seconds
        return ticket

    def _pass_over(self, nap: Nap) -> None:
        for seq in (nap.asked, nap.ended):
            if seq is not None:
                self._order.happened(self._order.index(seq))

    def tell_time(self, now: float) -> float:
        """The time when it was first asked for, and the recorded time that the replay has gone through."""
        if self._ended:
            return now
        if self._began is None:
            self._began = now
        return self._began + (self.stile.now_ns - self._order.start_ns) / 1e9

    def end(self, error: BaseException) -> None:
        """Nothing is held any more: whoever waits is told ``error``, but who sleeps does so for as long as it takes."""
        self._ended = True
        self._pacing.leave()
        self.stile.fail(error, is_over=True)

    def _hold(
        self,
        lane: Lane,
        place: str,
        index: int,
        turns: int | None,
        *,
        cancelled: bool = False,
        yields: bool = False,
        is_near: bool = False,
    ) -> Hold:
        return Hold(
            self.stile,
            index,
            lane=lane.name,
            place=place,
            moment=index,
            at_ns=self._order.at_ns(index),
            turns=turns,
            cancelled=cancelled,
            yields=yields,
            is_near=is_near,
        )

    def _is_near(self, slot: Slot, index: int, turns: int | None) -> bool:
        """Whether an answer came exactly one turn of the loop after its question, so that nothing was awaited."""
        if turns is None or turns > 1:
            return False
        asked = self._order.index(slot.seq)
        return self._turns_between(asked, index) == 1

    def _turns_between(self, index: int, later: int) -> int:
        """How many turns of its loop came between two moments."""
        return sum(self._turns(at) for at in range(index + 1, later + 1))

    def _turns(self, index: int) -> int:
        """How many turns after the moment before it a moment came; many where the loop was idle or it is not known."""
        if self._order.turns(index, 0) is None:
            return _MANY
        seq = self._order.seq(index)
        asked = self._order.question(index)
        slot = self._layout.find(asked)
        if asked == seq or slot is None:
            turns = self._naps.turns(seq) if slot is None else getattr(slot.exchange.question.body, "turns", None) or 0
            return _MANY if turns < 0 else int(turns)
        answer = slot.exchange.answer
        found = getattr(answer.body, "turns", None) if answer is not None else None
        return _MANY if found is None else int(found)

    def _in_same_turn(self, index: int) -> bool:
        """Whether a moment is a question that came in the same turn of its event loop as the moment before it."""
        return self._order.question(index) == self._order.seq(index) and self._turns(index) == 0
