"""The session that replays up to a point and then goes live, writing a recording that names its parent."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Generator
from functools import partial
from typing import Any, Literal, TypeVar

from playhead.boundary import Activity, Call, Lane, Outcome, Pause, Program, Returned, Ticket, Turn, outside_runs
from playhead.boundary import Gate as _Gate
from playhead.editing._fork_rules import ForkRules
from playhead.errors import DivergenceError, ForkRefusedError
from playhead.player import (
    NOTHING,
    PrefixSession,
    RecordedAnswers,
    ReexecutedAnswers,
    ReplayReport,
    boundary_of,
)
from playhead.recorder import RecordSession

T = TypeVar("T")

_SLEEPS = frozenset({"time.sleep", "asyncio.sleep", "timer"})


class ForkSession:
    """Stands at the boundary of a fork: ``replay`` answers as long as it can, then ``go_live`` gives who records.

    Where another process of the recording runs again it is live from the beginning, and ``before`` answers the models
    and tools up to the point.
    """

    def __init__(
        self,
        replay: PrefixSession,
        *,
        go_live: Callable[[], RecordSession],
        rules: ForkRules,
        recorded: RecordedAnswers | None = None,
        before: ReexecutedAnswers | None = None,
    ) -> None:
        self._replay = replay
        self._before = before
        self._go_live = go_live
        self._rules = rules
        self._recorded = recorded
        self._record: RecordSession | None = None
        self._lock = threading.RLock()
        self._live: set[Ticket] = set()
        self._naps: dict[_Nap, Ticket | None] = {}
        self._refused: DivergenceError | None = None
        self.answered_live = 0
        """How many calls went live."""

    @property
    def forbids_network(self) -> bool:
        """Whether nothing has gone live yet."""
        return self._record is None

    @property
    def activity(self) -> Activity:
        """Who works in its lanes."""
        return self._replay.activity

    @property
    def failure(self) -> DivergenceError | None:
        """What the fork failed by: it was refused something, or diverged before its point."""
        found = self._replay.failure
        return self._refused or (found if isinstance(found, DivergenceError) else None)

    @property
    def was_left(self) -> bool:
        """Whether the program has left the recorded run behind."""
        return self._replay.was_left

    @property
    def inner_runs(self) -> list[Any]:
        """What runs within gave before it was live."""
        return self._replay.inner_runs

    def await_entry(self) -> None:
        """What the program asks for before the recorded block or call begins lies outside of it."""
        self._replay.await_entry()

    def mask(self, value: Any) -> Any:
        """A tree, masked as the recording is."""
        return self._replay.mask(value)

    @property
    def report(self) -> ReplayReport:
        """What was answered from the recording."""
        return self._replay.report

    @property
    def is_over(self) -> bool:
        """Whether the fork has ended."""
        return self._record.is_over if self._record is not None else self._replay.is_over

    def ignores(self, host: str) -> bool:
        """Whether traffic with ``host`` lies outside the run."""
        return self._replay.ignores(host)

    def refuse(self, lane: Lane | None, place: str) -> BaseException | None:
        """Before it is live a fork opens no connection."""
        return None if self._record is not None else self._replay.refuse(lane, place)

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """A thread begins, or goes on."""
        return (self._record or self._replay).open(lane, waited=waited)

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Answer from the recording, or go live as soon as all that was recorded has happened."""
        with self._lock:
            if self._refused is not None:
                raise self._refused
            if self._here() is None:
                if self._replay.covers(lane, call):
                    return self._answer(lane, call)
                return self._wait(Ticket(lane, call, turn=self._replay.until_through(lane, call)))
            ticket = Ticket(lane, call)
            if isinstance(call.payload, Pause) and call.payload.seconds == math.inf:
                return ticket  # a thread waits for others, which is followed only in a replay
            self._settle(ticket)
            self._begin_live(ticket)
            return ticket

    def _here(self) -> RecordSession | None:
        """Who records, from the moment on when all that was recorded has happened."""
        with self._lock:
            if self._record is None and self._replay.is_through:
                self._fork()
            return self._record

    def _fork(self) -> None:
        with outside_runs():  # what it does is no doing of the program's
            self._record = record = self._go_live()
        self._replay.end(raising=False)
        for nap in list(self._naps):
            self._naps[nap] = record.take(Ticket(nap.lane, nap.call_made))

    def _answer(self, lane: Lane, call: Call) -> Ticket:
        ticket = self._replay.begin(lane, call)
        if isinstance(call.payload, Pause) and call.name in _SLEEPS and ticket.turn is not None:
            nap = _Nap(ticket.turn, lane, call, self._end_nap)
            self._naps[nap] = None
            ticket.turn = nap
        if ticket.answer is None and ticket.turn is not None and not isinstance(call.payload, Pause | Program):
            return self._wait(ticket)
        return ticket

    def _wait(self, ticket: Ticket) -> Ticket:
        """It goes live when all that was recorded has happened."""
        assert ticket.turn is not None
        self._settle(ticket)
        ticket.turn = _Late(ticket.turn, partial(self._begin_live, ticket))
        return ticket

    def _settle(self, ticket: Ticket) -> None:
        """Find the answer of a call that does not go live, and check one that does."""
        call = ticket.call
        if isinstance(call.payload, Pause | Program):
            return
        rules, before = self._rules, self._before
        answers, refusal = self._recorded, rules.asked_anew
        if before is not None and before.concern(ticket.lane, call) and not before.are_given:
            answers, refusal = before, rules.asked_too_early
        elif boundary_of(call) in rules.live:
            answers = None
        if answers is None:
            try:
                rules.check(call)
            except ForkRefusedError as error:
                raise self._fail(error) from None
            return
        found = answers.find(call)
        if found is None:
            raise self._fail(refusal(call, ticket.lane))
        ticket.answer = found()

    def _fail(self, error: DivergenceError) -> DivergenceError:
        self._refused = error
        self.report.divergence = error.divergence
        return error

    def _begin_live(self, ticket: Ticket) -> None:
        with self._lock:
            record = self._here()
            if record is None:
                raise self._replay.failure or AssertionError("the turn came before its time")
            record.take(ticket)
            self._live.add(ticket)
            self.answered_live += ticket.answer is None and not isinstance(ticket.call.payload, Pause)

    def _end_nap(self, nap: _Nap, *, ended: bool) -> None:
        ticket = self._naps.pop(nap, None)
        if ticket is not None and ended and self._record is not None:
            self._record.finish(ticket, Returned(None))

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Note what became of a question."""
        if ticket in self._live and self._record is not None:
            self._live.discard(ticket)
            self._record.finish(ticket, outcome)
        elif ticket.turn is None or not isinstance(ticket.turn, _Late):
            self._replay.finish(ticket, outcome)

    def read(self, lane: Lane, kind: Literal["clock", "random"], fn: str, site: str, live: Callable[[], T]) -> T:
        """The recorded value of a read, and beyond that a live one."""
        value = self._replay.take_read(lane, fn, site)
        if value is not NOTHING:
            self.report.reads += 1
            return value  # type: ignore[no-any-return]
        record = self._here()
        return record.read(lane, kind, fn, site, live) if record else self._replay.read(lane, kind, fn, site, live)

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """A child process was started."""
        (self._record if ticket in self._live and self._record else self._replay).attend(ticket, is_alive)

    def follows(self, lane: Lane, after: Lane) -> None:
        """What a lane does comes after what another one has done."""
        if self._record is not None:
            self._record.follows(lane, after)

    def tell_time(self, now: float) -> float:
        """The recorded time, and once it is live the real one."""
        return self._replay.tell_time(now)

    def claim_entry(self, kind: str, call: str | None, task: str | None) -> str | None:
        """The run within that has the entry of the recorded one is that one."""
        return self._replay.claim_entry(kind, call, task)

    def leave_entry(self) -> None:
        """It has been left."""
        self._replay.leave_entry()

    def note(self, lane: Lane, kind: str, body: dict[str, Any]) -> None:
        """What the program notes is kept once it is live; before that the recording has it."""
        (self._here() or self._replay).note(lane, kind, body)

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        """Count something that could not be caught."""
        (self._record or self._replay).notice(lane, name, details)

    def await_others(self) -> None:
        """Before the end: let other threads come as far as they had."""
        if self._here() is None:
            self._replay.await_others()

    def end(self, *, raising: bool) -> None:
        """Close the fork; one that did not come to its point has failed as a replay fails."""
        if self._here() is None:
            self._replay.end(raising=raising)
        if raising and self._refused is not None:
            raise self._refused


class _Wrapped:
    """A turn around another one."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    @property
    def is_next(self) -> bool:
        return self._turn.is_next

    @property
    def never(self) -> bool:
        return self._turn.never

    @property
    def is_recorded(self) -> bool:
        return self._turn.is_recorded

    def wait(self) -> None:
        self._turn.wait()
        self._came()

    def wait_at(self, gate: _Gate) -> bool:
        return self._turn.wait_at(gate)

    def __await__(self) -> Generator[Any, None, None]:
        yield from self._turn.__await__()
        self._came()

    def call(self, action: Callable[[], None]) -> None:
        def come() -> None:
            self._came()
            action()

        self._turn.call(come)

    def drop(self) -> None:
        self._turn.drop()

    def _came(self) -> None:
        """The turn has come."""


class _Late(_Wrapped):
    """The turn of a call that goes live when all that was recorded has happened."""

    def __init__(self, turn: Turn, begin: Callable[[], None]) -> None:
        super().__init__(turn)
        self._begin = begin

    def _came(self) -> None:
        self._begin()


class _Nap(_Wrapped):
    """A sleep that was begun before the fork, and may end after it."""

    def __init__(self, turn: Turn, lane: Lane, call: Call, end: Callable[..., None]) -> None:
        super().__init__(turn)
        self.lane = lane
        self.call_made = call
        self._end = end

    def drop(self) -> None:
        super().drop()
        self._end(self, ended=False)

    def _came(self) -> None:
        self._end(self, ended=True)
