"""The session that records: it lets every call go live and hands what it saw to the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

from playhead import _system
from playhead.boundary import (
    Activity,
    Arguments,
    Call,
    Errand,
    HttpRequest,
    Lane,
    Outcome,
    Pause,
    Program,
    Raised,
    Returned,
    Streamed,
    Ticket,
    current_lane,
    lone_watch,
    running_watch,
)
from playhead.events import Snapshot, size_unchanging, snapshot, snapshot_error
from playhead.recorder._scribe import Scribe
from playhead.recorder._writer import Writer

T = TypeVar("T")

_mono_ns = _system.SystemClock.mono_ns
_TEXTS = frozenset({str, bytes})
_NOTHING = snapshot(None)
_KINDS = {"clock": "clock.read", "random": "random.drawn"}


class RecordSession:
    """Stands at the boundary while a run is recorded.

    Nothing that goes wrong here reaches the program. What could not be kept is counted in ``missed`` by
    reason, what was seen but could not be caught in ``unseen`` by name.
    """

    forbids_network = False

    def __init__(
        self,
        scribe: Scribe,
        writer: Writer,
        *,
        ignored_hosts: Callable[[str], bool] | None = None,
        children: Callable[[Program], Errand] | None = None,
    ) -> None:
        self._scribe = scribe
        self._writer = writer
        self._put = writer.put
        self._question = scribe.question
        self._answer = scribe.answer
        self._follows = scribe.follows
        self._ignored = ignored_hosts
        self._children = children
        self.started: dict[str, int | None] = {}
        """The exit codes of child processes, by the ids that their recordings would have; ``None`` while not known."""
        self._ended = False
        self.activity = Activity()
        self.missed: dict[str, int] = {}
        self.unseen: dict[str, int] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing is recorded any more: the run has ended, or goes on in the process that forked this one."""
        return self._ended or self._writer.is_orphan

    def ignores(self, host: str) -> bool:
        """Whether traffic with ``host`` lies outside the run."""
        return self._ignored is not None and self._ignored(host)

    def refuse(self, lane: Lane | None, place: str) -> None:
        """A run that is recorded may connect to whatever it likes."""

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """Note that a thread begins in ``lane``, or goes on: what it does before it crosses may matter to others."""
        if self._ended:
            return True
        if waited is None:
            watch = lone_watch()
            turns = watch.mark() if watch is not None else None
            self._writer.put((self._scribe.opened, _mono_ns(), lane, turns))
        else:
            watch = running_watch() or lone_watch()
            turns = watch.mark() if watch is not None else None
            self._writer.put((self._scribe.woken, _mono_ns(), lane, waited, turns))
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Note a question; the call goes live."""
        return self.take(Ticket(lane, call))

    def take(self, ticket: Ticket) -> Ticket:
        """Note the question of a ticket that another session has made."""
        lane, call = ticket.lane, ticket.call
        now = ticket.began_ns = _mono_ns()
        if self._ended:
            return ticket
        try:
            here = current_lane()
            if here is not lane and here is not None and not here.opaque:
                ticket.carrier = here
            watch = running_watch() or lone_watch()
            if watch is not None:
                turns = watch.mark()
                ticket.turns, ticket.marked = -1 if turns is None else turns, watch.marks
            payload = call.payload
            if isinstance(payload, Arguments):
                ticket.keep = snapshot
                light = size_unchanging((*payload.args, *payload.kwargs.values()))
                if light is not None:
                    self._put((self._question, now, ticket, None, None), light)
                    return ticket
                kept = [snapshot(value) for value in payload.args]
                named = {name: snapshot(value) for name, value in payload.kwargs.items()} if payload.kwargs else {}
                size = _size(kept) + _size(named.values()) if named else _size(kept)
                self._put((self._question, now, ticket, kept, named), size)
            elif isinstance(payload, Program) and payload.form == "worker":
                return ticket
            elif isinstance(payload, Program):
                if self._children is not None and payload.form != "served":
                    ticket.errand = self._children(payload)
                    self.started[ticket.errand.run or ""] = None
                self._put((self._question, now, ticket, (), {}))
            elif isinstance(payload, Pause):
                self._put((self._question, now, ticket, (), {}))
            else:
                self._put((self._question, now, ticket, (), {}), len(payload.body or b""))
        except Exception as error:
            self._miss(f"question ({type(error).__name__})")
        return ticket

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Note what became of a question."""
        if self._ended:
            return
        now = _mono_ns()
        if ticket.errand is not None:
            self._take_end(ticket.call, ticket.errand.run or "", outcome)
        try:
            here = running_watch()
            watch = here or lone_watch()
            turns = None
            if watch is not None:
                readied = ticket.inside.readied
                if readied >= ticket.marked:
                    ticket.ready = watch.marks - readied
                after = here.after_piece(ticket) if here is not None else []
                turns = watch.mark()
                if turns is None or type(outcome) is Streamed:
                    ticket.after_piece = after
            kept = _NOTHING
            size = 0
            if type(outcome) is Returned:
                kept = snapshot(outcome.value)
                held = kept.held
                if type(held) in _TEXTS:
                    size = len(held)
            elif type(outcome) is Raised:
                kept = snapshot_error(outcome.error)
            elif type(outcome) is Streamed:
                items = outcome.items
                if outcome.error is not None:
                    kept = snapshot_error(outcome.error)
                size = sum(map(len, items)) if type(ticket.call.payload) is HttpRequest else _size(items)
            self._put((self._answer, now, ticket, outcome, kept, turns), size)
        except Exception as error:
            self._miss(f"answer ({type(error).__name__})")

    def read(self, lane: Lane, kind: Literal["clock", "random"], fn: str, site: str, live: Callable[[], T]) -> T:
        """Read live and note the value."""
        value = live()
        if not self._ended:
            job = (self._scribe.read, _mono_ns(), lane, _KINDS[kind], fn, site, snapshot(value))
            self._writer.put(job)
        return value

    def _take_end(self, call: Call, run: str, outcome: Outcome) -> None:
        """Of a task that has been done there is a recording if anything crossed in it; of what was not started none."""
        done = isinstance(call.payload, Program) and call.payload.form == "task"
        if isinstance(outcome, Returned) and not done:
            self.started[run] = outcome.value["code"]
        else:
            self.started.pop(run, None)

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """Nothing: it takes the time that it takes."""

    def follows(self, lane: Lane, after: Lane) -> None:
        """Have the next event of ``lane`` name what came last in the lane ``after``."""
        if not self._ended:
            self._put((self._follows, lane, after))

    def tell_time(self, now: float) -> float:
        """The time as it is."""
        return now

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        """Count something that was seen and could not be caught; its first time is kept with details."""
        count = self.unseen[name] = self.unseen.get(name, 0) + 1
        if count == 1 and not self._ended:
            body = {"name": name} if details is None else {"name": name, "details": details}
            self._writer.put((self._scribe.event, _mono_ns(), lane, "note.added", body))

    def claim_entry(self, kind: str, call: str | None, task: str | None) -> None:
        """Nothing: a run that begins inside another is a lane of it."""

    def leave_entry(self) -> None:
        """Nothing: no run that begins inside another stands for it."""

    def note(self, lane: Lane, kind: str, body: dict[str, Any]) -> None:
        """Write an event of ``kind`` that the program itself asked for, its body being plain trees."""
        if not self._ended:
            self._writer.put((self._scribe.event, _mono_ns(), lane, kind, body))

    def end(self) -> None:
        """From now on crossings pass through unrecorded."""
        self._ended = True

    def _miss(self, reason: str) -> None:
        self.missed[reason] = self.missed.get(reason, 0) + 1


def _size(kept: Iterable[Snapshot]) -> int:
    """About how many bytes the texts among ``kept`` hold."""
    size = 0
    for each in kept:
        if type(each.held) in _TEXTS:
            size += len(each.held)
    return size
