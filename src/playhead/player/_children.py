"""The child processes of a replay: each is started again, and answered from the recording that it made itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from playhead import _system
from playhead.boundary import Errand, Outcome, Program, Returned, Ticket
from playhead.events import BoundaryAnswered, BoundaryFailed, Event
from playhead.player._report import ChildReport, Divergence, ReplayReport
from playhead.player._slots import Layout, Slot

UNSEEN = "child process"

_now_ns = _system.SystemClock.mono_ns
_SPARE_NS = 60_000_000_000
_TIMES = 3
"""So much longer than when recorded may a child take that is waited for to end."""

_OUTPUT_NS = 10_000_000_000
_WOUND_UP_NS = 5_000_000_000
"""How long something else that a child does may be waited for, and what is left to do when it has ended."""


class Handed(msgspec.Struct, frozen=True):
    """What a child process left behind: its ``report``, or a ``failure`` to be replayed; whether it was ``claimed``."""

    claimed: bool
    report: ReplayReport | None = None
    failure: str | None = None


class Errands(Protocol):
    """What child processes of a replay are told, and what they tell."""

    def replay(self, run: str | None) -> Errand | None:
        """To be replayed from the recording of ``run``; ``None`` where there is none."""
        ...

    def guard(self) -> Errand:
        """To open no connection: nothing is recorded that could be replayed."""
        ...

    def receive(self, run: str) -> Handed:
        """What the child that was replayed from ``run`` has left by now."""
        ...


class Started(msgspec.Struct, eq=False):
    """A child that was started again. ``index`` is that of its recorded end in the order, if it had one."""

    ticket: Ticket
    lane: str
    run: str | None
    code: int | None
    index: int | None
    lasted_ns: int
    is_alive: Callable[[], bool] | None = None
    died_ns: int = 0
    ended: int | None = None

    def is_awaited(self, head: int, since_ns: int) -> bool:
        """Whether it may still bring what the moment ``head`` waits for, nothing having happened since then."""
        if self.is_alive is None or self.ended is not None:
            return False
        now = _now_ns()
        if not self.died_ns and not self.is_alive():
            self.died_ns = now
        if self.died_ns:
            return now - self.died_ns < _WOUND_UP_NS
        patience_ns = _TIMES * self.lasted_ns + _SPARE_NS if self.index == head else _OUTPUT_NS
        return now - since_ns < patience_ns


class Children:
    """All children that one replay has started."""

    def __init__(self, layout: Layout, errands: Errands | None, report: ReplayReport) -> None:
        self._layout = layout
        self._errands = errands
        self._report = report
        self._started: dict[int, Started] = {}

    def find(self, program: Program) -> Slot | None:
        """The recorded start of this child, by the lane that it is."""
        slot = self._layout.processes.get(program.lane)
        return None if slot is None or slot.played else slot

    def guard(self) -> Errand | None:
        """What a process is told that is no child itself."""
        return self._errands.guard() if self._errands is not None else None

    def start(
        self, ticket: Ticket, program: Program, slot: Slot | None, answer: Event | None, index: int | None
    ) -> None:
        """Have the child of ``ticket`` replayed, or kept off the network where there is nothing to replay it from."""
        errand = self._errands.replay(slot.child) if self._errands is not None and slot is not None else None
        known = program.form in ("task", "served") or isinstance(getattr(answer, "body", None), BoundaryFailed)
        if errand is None and not known:
            self._report.unseen[UNSEEN] = self._report.unseen.get(UNSEEN, 0) + 1
        if program.form != "served":
            ticket.errand = self.guard() if errand is None else errand
        lasted_ns = answer.mono_ns - slot.exchange.question.mono_ns if slot is not None and answer is not None else 0
        run = errand.run if errand is not None else None
        code = _code_of(answer)
        self._started[id(ticket)] = Started(ticket, program.lane, run, code, index, lasted_ns)
        if answer is not None:
            ticket.answer = Returned(getattr(answer.body, "value", None))

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """It runs."""
        self._started[id(ticket)].is_alive = is_alive

    def finish(self, ticket: Ticket, outcome: Outcome) -> Divergence | None:
        """The program has learned of its end; the divergence that it ended by."""
        child = self._started.get(id(ticket))
        if child is None or child.ended is not None or not isinstance(outcome, Returned):
            return None
        code = child.ended = int(outcome.value["code"])
        if child.code is not None and code != child.code:
            self._report.warnings.append(
                f"the child process {child.lane} ended with {_ending(code)} now, "
                f"with {_ending(child.code)} when recorded"
            )
        return self._receive(child)

    def end(self) -> Divergence | None:
        """The replay ends: take in what those left whose end nobody asked for; the first divergence among them."""
        found = None
        for child in self._started.values():
            if child.ended is None:
                alive = child.is_alive is not None and child.is_alive()
                child.ended = 0
                if alive and child.run is not None:
                    self._report.warnings.append(f"the child process {child.lane} went on after the end of the replay")
                found = self._receive(child) or found
        return found

    def is_awaited(self, head: int, since_ns: int) -> bool:
        """Whether a child that runs may yet bring what is missing."""
        return any(child.is_awaited(head, since_ns) for child in self._started.values())

    def _receive(self, child: Started) -> Divergence | None:
        if child.run is None or self._errands is None:
            return None
        handed = self._errands.receive(child.run)
        if handed.report is not None:
            self._report.children.append(ChildReport(lane=child.lane, run=child.run, report=handed.report))
            found = handed.report.divergence
            return None if found is None else _placed(child, found)
        if handed.failure is not None:
            why = f"could not be replayed: {handed.failure}"
        elif not handed.claimed:
            why = "was recorded, and no Python that could be replayed took it up now"
        elif child.code is not None and child.code < 0:
            self._report.warnings.append(f"the child process {child.lane} was killed before it could report")
            return None
        else:
            why = "ended before it could report"
        text = f"the child process {child.lane} ({child.run}) {why}"
        return Divergence(
            kind="child",
            lane=child.lane,
            boundary="process",
            name=child.run,
            message=text,
            next=f"playhead show {child.run}",
        )


def _placed(child: Started, found: Divergence) -> Divergence:
    """A divergence of the child as one of the run that started it."""
    return msgspec.structs.replace(
        found,
        kind="child",
        lane=f"{child.lane}{found.lane.removeprefix('main')}",
        message=f"the child process {child.lane} ({child.run}) diverged\n{found.message}",
        step=None,
        seq=None,
    )


def _code_of(answer: Event | None) -> int | None:
    body = answer.body if answer is not None else None
    value: Any = body.value if isinstance(body, BoundaryAnswered) else None
    return value.get("code") if isinstance(value, dict) else None


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
