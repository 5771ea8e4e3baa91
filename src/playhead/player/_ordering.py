"""When each answer of a replay may be given: what the session knows of the order, put to the turnstile."""

from __future__ import annotations

import _thread
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from playhead.boundary import (
    Call,
    Lane,
    LoopWatch,
    Pause,
    Raised,
    Returned,
    Streamed,
    Ticket,
    is_cancellation,
    running_loop,
    running_watch,
)
from playhead.errors import PlayheadError
from playhead.eventlog import Exchange, Recording
from playhead.events import Event
from playhead.player._holds import FREE, Hold
from playhead.player._naps import Nap, Naps
from playhead.player._order import Order
from playhead.player._paces import StreamPace, coming_of, place_of
from playhead.player._pacing import Pacing
from playhead.player._report import Divergence
from playhead.player._slots import Layout, Slot
from playhead.player._turns import Turns
from playhead.player._turnstile import Turnstile
from playhead.player._wakes import Wakes

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
        moments = partial(recording.moments, but=layout.left_out)
        if instead is not None and layout.left_out:
            known = {moment.seq for moment in moments()}
            instead = [seq for seq in instead if seq in known]
        self._order = order = Order(moments(), gone=layout.erased, instead=instead)
        self._wakes = Wakes(recording, order, moments)
        self._turns = turns = Turns(order, layout, self._naps, self._wakes)
        self._began: float | None = None
        self._ended = False

        def no_more(index: int, waiting: Hold) -> BaseException | None:
            return blocked(0 if order.is_over else order.question(index), waiting)

        self.stile = Turnstile(order, lock=lock, blocked=no_more, turns=turns)
        self.course = self.stile.course
        self._pacing = Pacing(self.stile, lock)

    @property
    def is_another(self) -> bool:
        """Whether another order than the recorded one is to be kept."""
        return self._order.is_another

    @property
    def is_over(self) -> bool:
        """Whether all recorded moments have come."""
        return self._order.is_over

    @property
    def length(self) -> int:
        """How many moments were recorded."""
        return self._order.length

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """Let a thread begin in ``lane`` in its turn, or go on there after it has ``waited`` for others.

        Whether it began when recorded.
        """
        with self._lock:
            if self._ended:
                return True
            index = self._order.opening(lane.name) if waited is None else self._wakes.take(lane.name, wait=waited)
            if index is not None and self.stile.passes(index, None, running_watch()):
                return True
            place = f"the thread of lane {lane.name}"
            if index is not None:
                recorded = getattr(self._recording.events[self._order.seq(index)].body, "turns", None)
                hold = self._hold(lane, place, index, self._order.turns(index, recorded), yields=True)
            elif waited is None and not (self._order.opens(lane.name) or self.is_another):
                # It never began when recorded, perhaps since it was cancelled in time: let all else come first.
                hold = Hold(self.stile, FREE, lane=lane.name, place=place, at_ns=self.course.now_ns)
            else:
                return True
        with suppress(PlayheadError):  # it is told at its first crossing
            hold.wait()
        return hold.is_recorded

    def follow(self) -> LoopWatch | None:
        """Have the loop that runs in this thread, if there is one, wait for its turns; its watch."""
        watch = running_watch()
        if watch is not None and watch.pacer is None:
            self._pacing.follow(watch)
        return watch

    def _cross(self, lane: Lane) -> LoopWatch | None:
        """Something is asked in ``lane``: its loop, whose watch is given, waits for turns from now on; it has begun."""
        watch = self.follow()
        opening = self._order.opening(lane.name)
        if opening is not None:
            self.stile.happened(opening, watch)
        return watch

    def asked(self, lane: Lane, slot: Slot) -> LoopWatch | None:
        """The question of ``slot`` has been asked in ``lane``; the watch of the loop that it was asked in."""
        watch = self._cross(lane)
        index = self._order.index(slot.seq)
        self._wakes.pass_over(slot.lane, index)
        self.stile.happened(index, watch)
        return watch

    def answer(self, ticket: Ticket, slot: Slot, exchange: Exchange) -> None:
        """The question of ``slot`` has been asked: give ``ticket`` its turn, or the pace of its stream."""
        answer, outcome, order = exchange.answer, ticket.answer, self._order
        assert answer is not None
        if isinstance(outcome, Streamed):
            is_next = order.seqs[order.head + 1] == answer.seq and slot.given_to is None
            is_asked = is_next and self.course.begins_alone(slot.seq)
            if not is_asked:
                self.asked(ticket.lane, slot)
            asked_ns, end = exchange.question.mono_ns, order.index(answer.seq)
            pace = ticket.pace = StreamPace(self.stile, ticket, slot, asked_ns=asked_ns, answer=answer, end=end)
            if not is_asked:
                ticket.turn = pace.begin(outcome)
            return
        watch = self.asked(ticket.lane, slot)
        index = order.index(answer.seq)
        turns, coming = coming_of(answer, index, order)
        cancelled = isinstance(outcome, Raised) and is_cancellation(outcome.error)
        if cancelled or not self.stile.passes(index, turns, watch):
            slot.end = index
            near = self._turns.is_near(slot, index, turns)
            place = place_of(ticket, slot)
            hold = ticket.turn = self._hold(ticket.lane, place, index, turns, cancelled=cancelled, is_near=near)
            hold.coming = coming
            hold.ready = order.ready(index, getattr(answer.body, "ready", 0))
        elif self.stile.is_waited_for or order.is_another:
            slot.end = index  # it is looked at again when it has been given

    def finished(self, index: int) -> None:
        """The answer ``index`` has been given."""
        self.stile.happened(index, running_watch())

    def start_process(self, ticket: Ticket, slot: Slot | None, answer: Event | None) -> None:
        """Give ``ticket`` the turn in which the program learned of the end of the process that it starts, if it did."""
        if slot is None:
            self._cross(ticket.lane)
            return
        self.asked(ticket.lane, slot)
        if answer is None:
            return
        index = slot.end = self._order.index(answer.seq)
        turns: int | None = getattr(answer.body, "turns", None)
        ticket.turn = self._hold(ticket.lane, f"the end of a child process ({slot.place})", index, turns)

    def wait_for_end(self, lane: Lane, call: Call, slot: Slot, explain: Callable[[], Divergence]) -> Ticket:
        """A question that was not answered before the recording ended: whoever asked it waits, while others go on."""
        self.asked(lane, slot)
        place = f"{slot.place} ({call.name})"
        turn = Hold(self.stile, FREE, lane=lane.name, place=place, never=True)
        turn.explain = explain
        return Ticket(lane, call, answer=Returned(None), turn=turn, mark=slot)

    def pause(self, lane: Lane, call: Call, pause: Pause) -> Ticket:
        """A sleep, or a timer: it ends in its turn and takes no time. One without an end is none: somebody waits."""
        watch = self._cross(lane)
        ticket = Ticket(lane, call, answer=Returned(None))
        nap, passed = self._naps.take(lane.name, pause.seconds) if pause.seconds < math.inf else (None, ())
        for each in passed:
            self._pass_over(each)
        place = f"a sleep of {pause.seconds:.3g} s in lane {lane.name}"
        if nap is not None:
            asked = self._order.index(nap.asked)
            self._wakes.pass_over(lane.name, asked)
            self.stile.happened(asked, watch)
        if nap is not None and nap.ended is not None:
            index = self._order.index(nap.ended)
            hold = ticket.turn = self._hold(lane, place, index, self._order.turns(index, nap.turns), yields=True)
        else:
            endless = pause.seconds == math.inf
            due_ns = 0 if endless else self.course.now_ns + math.ceil(pause.seconds * 1e9)
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
        return self._began + (self.course.now_ns - self._order.start_ns) / 1e9

    def await_others(self) -> None:
        """Block this thread until all moments have come, or no other thread can bring one."""
        with self._lock:
            if self._ended or self._order.is_over or self.stile.failure is not None or running_loop() is not None:
                return
            if self.stile.activity.alone == _thread.get_ident() and not self.stile.is_waited_for:
                return
            hold = Hold(self.stile, self._order.length, lane="main", place="the end", yields=True)
        with suppress(PlayheadError):  # it is told at the end
            hold.wait()

    def resume(self) -> None:
        """The real time that has passed at a prompt counts for nobody."""
        self.stile.still.reset()

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
