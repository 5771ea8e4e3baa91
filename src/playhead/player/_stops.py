"""Stopping a replay just before a step is answered, and who stands at the boundary while it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec

from playhead.boundary import Activity, Call, Lane, Outcome, Session, Ticket, in_lane
from playhead.errors import AtPromptError, ReplayStoppedError
from playhead.eventlog import Recording

T = TypeVar("T")

Forbid = Callable[[Session], Callable[[], None]]
"""Lets no connection be opened by the lanes of a session until the result is called."""


class Stop(msgspec.Struct, frozen=True):
    """Where a replay is stopped: its ``step`` has been asked for in ``lane``, and is answered next."""

    recording: Recording
    step: int
    lane: str


Halt = Callable[["Stops", Stop], bool]
"""Told where the replay is stopped, in the thread that asked and on top of its frames; whether it goes on."""


class Stops:
    """The steps at which a replay stops: ``breaks`` to be looked at by ``halt``, ``until`` for good.

    While it is stopped nobody else is answered. Raises `UsageError` where there is no such step.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        halt: Halt,
        forbid: Forbid,
        breaks: Collection[int] = (),
        until: int | None = None,
    ) -> None:
        for step in (*breaks, *(() if until is None else (until,))):
            recording.step(step)
        self.breaks = set(breaks)
        self.until = until
        self.reached: set[int] = set()
        self._last: Stop | None = None
        self._recording = recording
        self._halt = halt
        self._forbid = forbid

    @property
    def missed(self) -> list[int]:
        """The steps to stop at that were not reached."""
        return sorted({*self.breaks, *(() if self.until is None else (self.until,))} - self.reached)

    def guard(self, lock: Any, *, resumed: Callable[[], None], end: Callable[[ReplayStoppedError], None]) -> None:
        """Take from the session what keeps the others where they are, and what lets them go on or ends the replay."""
        self._lock, self._resumed, self._end = lock, resumed, end

    def reach(self, lane: str, step: int) -> None:
        """``step`` has been asked for. Raises `ReplayStoppedError` where the replay does not go on."""
        self.reached.add(step)
        stop = self._last = Stop(self._recording, step, lane)
        if step in self.breaks:
            with self.held():
                goes_on = self._halt(self, stop)
            if not goes_on:
                raise self.end(step)
        if step == self.until:
            raise self.end(step)

    def end(self, step: int) -> ReplayStoppedError:
        """Have the replay end here; the error that ends the program."""
        run = self._recording.id
        error = ReplayStoppedError(
            f"the replay of {run} was stopped at step {step}", next=f"playhead show {run}#{step}", facts={"step": step}
        )
        with self._lock:
            self._end(error)
        return error

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block lasts nobody is answered, no time passes, and what is called here reaches nothing."""
        with self._lock:
            session, before = PromptSession(), list(_stopped)
            leave = self._forbid(session)
            _stopped[:] = [self._last] if self._last is not None else []
            try:
                with in_lane(Lane(session)):
                    yield
            finally:
                _stopped[:] = before
                leave()
                self._resumed()


_stopped: list[Stop] = []


def current_stop() -> Stop | None:
    """Where a replay of this process is stopped just now, if one is."""
    return _stopped[-1] if _stopped else None


class PromptSession:
    """Stands at the boundary for what a person calls at a debugger's prompt: it is refused, and clocks are real."""

    forbids_network = True
    is_over = False

    def __init__(self) -> None:
        self.activity = Activity()

    def ignores(self, host: str) -> bool:
        """Nothing lies outside."""
        return False

    def refuse(self, lane: Lane | None, place: str) -> BaseException:
        """The error for a connection."""
        return _refusal(f"a connection to {place}")

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """Threads of the debugger's begin when they are started."""
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Raises `AtPromptError`, but for time that is to pass."""
        if call.kind == "sleep":
            return Ticket(lane, call)
        raise _refusal(f"{call.kind} {call.name}")

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Nothing is kept."""

    def read(self, lane: Lane, kind: Literal["clock", "random"], fn: str, site: str, live: Callable[[], T]) -> T:
        """The real value: no recorded one is used up."""
        return live()

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """No process is started here."""

    def follows(self, lane: Lane, after: Lane) -> None:
        """Nothing is kept."""

    def tell_time(self, now: float) -> float:
        """The real time."""
        return now

    def claim_entry(self, kind: str, call: str | None, task: str | None) -> str | None:
        """No recorded run is meant."""
        return None

    def leave_entry(self) -> None:
        """No recorded run was entered."""

    def note(self, lane: Lane, kind: str, body: dict[str, Any]) -> None:
        """Nothing is kept."""

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        """Nothing is reported."""


def _refusal(what: str) -> AtPromptError:
    return AtPromptError(
        f"{what} was asked for at the prompt of a stopped replay; it is not answered there and nothing was opened",
        next="print(playhead.here)",
    )
