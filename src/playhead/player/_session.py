"""The session that answers from a recording and never goes live."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, Literal, TypeVar, get_args

from playhead.boundary import Call, HttpRequest, Lane, Outcome, Pause, Program, Returned, Streamed, Ticket
from playhead.errors import (
    ConnectionRefusedInReplayError,
    DivergenceError,
    LateCrossingError,
    ReplayStoppedError,
    UnplayedError,
)
from playhead.eventlog import Recording
from playhead.events import ErasedBody
from playhead.masking import Masker
from playhead.player._answers import outcome_of
from playhead.player._children import Children, Errands
from playhead.player._differences import differences
from playhead.player._entrance import Entrance
from playhead.player._explaining import (
    describe_unplayed,
    explain_blocked,
    explain_miss,
    explain_unanswered,
    explain_unplayed,
)
from playhead.player._finding import find_equal, note_drift
from playhead.player._fingerprints import Fingerprints
from playhead.player._holds import Hold
from playhead.player._matching import LooseMatcher, Matchers, Matching, StrictMatcher
from playhead.player._ordering import Ordering
from playhead.player._reads import NOTHING, Reads
from playhead.player._report import Divergence, ReplayReport
from playhead.player._requests import Boundary, Normaliser, Request, recognise_call, request_of_call
from playhead.player._slots import Layout, Slot
from playhead.player._stops import Stops
from playhead.providers import ModelCall

T = TypeVar("T")

_BUILTIN = (LooseMatcher, StrictMatcher)
_BOUNDARIES = frozenset(get_args(Boundary))


class ReplaySession:
    """Stands at the boundary while a program is replayed. ``report`` grows as the replay goes on.

    ``order`` is another order than the recorded one in which the answers are given, of all moments by their ``seq``. It
    is kept as far as the program allows: a moment that does not come is passed over.
    """

    forbids_network = True

    def __init__(
        self,
        recording: Recording,
        *,
        masker: Masker,
        match: Matching = "strict",
        normalisers: Sequence[Normaliser] = (),
        ignored_hosts: Callable[[str], bool] | None = None,
        order: Sequence[int] | None = None,
        errands: Errands | None = None,
        cut: Callable[[], None] | None = None,
        stops: Stops | None = None,
        left_out: Collection[str] | None = None,
    ) -> None:
        self.recording = recording
        self._masker = masker
        self._matchers = Matchers(match)
        self._custom = {each for each in _BOUNDARIES if not isinstance(self._matchers.of(each), _BUILTIN)}
        self._normalisers = tuple(normalisers)
        self._prints = Fingerprints(masker, same_key=recording.header.mask_key == masker.key_id)
        self._layout = Layout(recording, self._prints, self._normalisers, left_out=left_out)
        self._reads = Reads(recording, but=self._layout.left_out)
        self._ignored = ignored_hosts
        self._lock = threading.RLock()
        self._ordering = Ordering(recording, self._layout, lock=self._lock, blocked=self._blocked, instead=order)
        self._course = self._ordering.course
        self.completed: list[int] = []
        """In another order than recorded: the exchanges, by their questions, as they ended."""
        self.inner_runs: list[Any] = []
        """What the runs within gave, masked."""
        self.activity = self._ordering.stile.activity
        self._ended = False
        self._entrance = Entrance(recording, masker)
        name = "strict" if self._matchers.all_strict else match if isinstance(match, str) else "custom"
        self.report = ReplayReport(run=recording.id, match=name, behind=self._layout.behind)
        if self._layout.erased:
            self.report.warnings.append(
                f"{len(self._layout.erased)} recorded questions were erased and cannot be answered"
            )
        self._children = Children(self._layout, errands, self.report)
        self._ordering.stile.is_awaited = self._children.is_awaited
        self._cut = cut
        self._ordering.stile.is_cut = cut is not None
        self._stops = stops
        if stops is not None:
            stops.guard(self._lock, resumed=self._ordering.resume, end=self._stop)
        self.failure: DivergenceError | ReplayStoppedError | None = None
        """The first divergence, or that the replay was stopped; every later crossing raises it again."""

    @property
    def is_over(self) -> bool:
        """Whether the replay has ended: whoever goes on in a lane of it gets no answer and reaches nothing."""
        return self._ended

    def ignores(self, host: str) -> bool:
        """Whether traffic with ``host`` lies outside the run."""
        return self._ignored is not None and self._ignored(host)

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """Let a thread begin in its turn, or go on so after it has ``waited``; whether it began when recorded."""
        return self._ordering.open(lane, waited=waited)

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Answer ``call`` from the recording; raises `DivergenceError` where it cannot."""
        with self._lock:
            payload = call.payload
            if isinstance(payload, Pause):
                return self._pause(lane, call, payload)
            if self._ended or self.failure is not None:
                self._check_open(lane, call)
            if isinstance(payload, Program):
                return self._start(lane, call, payload)
            model = recognise_call(call) if isinstance(payload, HttpRequest) else None
            slot = self._find(lane, call, model)
            if self._stops is not None and slot.step is not None:
                self._stops.reach(lane.name, slot.step)
            exchange = slot.play()
            answer = exchange.answer
            if answer is None:
                return self._go_on(lane, call, model, slot)
            if isinstance(answer.body, ErasedBody):
                self._ordering.asked(lane, slot)
                raise self._diverge(self._unanswered(lane, call, model, slot))
            try:
                outcome = outcome_of(answer)
            except BaseException as error:
                self._ordering.asked(lane, slot)
                slot.name_place(error)
                raise
            ticket = Ticket(lane, call, outcome, 0, slot.seq, mark=slot)
            straight = type(outcome) is Returned and slot.given_to is None
            if not (straight and self._course.comes_alone(slot.seq, answer.seq)):
                self._ordering.answer(ticket, slot, exchange)
            self.report.answered += 1
            self.report.steps += slot.step is not None
            return ticket

    def _go_on(self, lane: Lane, call: Call, model: ModelCall | None, slot: Slot) -> Ticket:
        return self._ordering.wait_for_end(lane, call, slot, partial(self._unanswered, lane, call, model, slot))

    def _start(self, lane: Lane, call: Call, program: Program) -> Ticket:
        """A child process: the program starts it again, and its end is told in its turn."""
        ticket = Ticket(lane, call)
        if program.form == "worker":
            ticket.errand = self._children.guard()
            return ticket
        slot = self._children.find(program)
        answer = None
        if slot is not None:
            asked = self._layout.comparable(request_of_call(call, self._masker))
            note_drift(self.report, lane, slot, asked, tuple(differences(slot.request.content, asked.content)))
            answer = slot.play().answer
            ticket.seq, ticket.mark = slot.seq, slot
            self.report.answered += 1
        self._ordering.start_process(ticket, slot, answer)
        self._children.start(ticket, program, slot, answer, slot.end if slot is not None else None)
        return ticket

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """Wait for the child while it may bring what is missing."""
        with self._lock:
            self._children.attend(ticket, is_alive)

    def _pause(self, lane: Lane, call: Call, pause: Pause) -> Ticket:
        """A sleep. After the end it is slept; where the replay has failed nothing is waited for but other threads."""
        if self._ended or (self.failure is not None and call.name == "wait"):
            return Ticket(lane, call)
        if self.failure is not None:
            self._ordering.follow()
            return Ticket(lane, call, answer=Returned(None))
        return self._ordering.pause(lane, call, pause)

    def _blocked(self, question: int, waiting: Hold) -> DivergenceError | None:
        """Nothing can go on: the recorded ``question`` comes no more, or is not answered; 0 where all has come.

        A lane that waits has passed its question over, and an answer that is not taken any more was left: then the
        others go on, and what was not asked is said at the end.
        """
        if self._cut is not None and not question:
            self._cut()
        if waiting.explain is not None:
            return self._diverge(waiting.explain())
        if waiting.cancelled or not question:
            return self._diverge(explain_blocked(self._layout, None, waiting.place, cancelled=waiting.cancelled))
        slot = self._layout.find(question)
        if slot is None or slot.played or self.report.reordered or slot.lane in self._ordering.stile.waiting_lanes:
            return None
        if self._ordering.is_another:
            return None
        found = explain_blocked(self._layout, slot, waiting.place)
        if self._matchers.all_strict:
            return self._diverge(found)
        self.report.warnings.append(found.message)
        return None

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Note that the answer has been given, and how much of a stream was read now."""
        slot = ticket.mark
        if isinstance(slot, Slot) and slot.end is not None:
            with self._lock:
                if not self._ended:
                    self._ordering.finished(slot.end)
                    if self._ordering.is_another:
                        self.completed.append(slot.seq)
        if isinstance(ticket.call.payload, Program):
            with self._lock:
                self._take(self._children.finish(ticket, outcome))
        answer = ticket.answer
        if isinstance(answer, Streamed) and isinstance(outcome, Streamed) and not self._ended:
            short = len(outcome.items) < len(answer.items) and answer.end == "complete" and outcome.end != "complete"
            if short:
                text = f"the stream of {slot.place} was read to its end when recorded and is left early now"
                self.report.warnings.append(text)

    def tell_time(self, now: float) -> float:
        """The time when the replay began and the recorded time that it has gone through since."""
        return self._ordering.tell_time(now)

    def read(self, lane: Lane, kind: Literal["clock", "random"], fn: str, site: str, live: Callable[[], T]) -> T:
        """The recorded value of this read; a read that is new is live and reported."""
        with self._lock:
            value: Any = self._reads.take(lane.name, fn, site)
            if value is NOTHING and not self._entrance.is_outside:
                name = f"{kind} read {fn} at {site}"
                self.report.new_reads[name] = self.report.new_reads.get(name, 0) + 1
            elif value is not NOTHING:
                self.report.reads += 1
        return live() if value is NOTHING else value

    def await_entry(self) -> None:
        """What the program asks for before the recorded block or call begins lies outside of it."""
        self._entrance.wait()

    def claim_entry(self, kind: str, call: str | None, task: str | None) -> str | None:
        """The recorded run's id for the first run inside the replay that has its entry: it is that run itself."""
        return self._entrance.claim(kind, call, task)

    def leave_entry(self) -> None:
        """The recorded block or call has ended, and the program goes on."""
        self._entrance.leave()

    @property
    def was_left(self) -> bool:
        """Whether the program has left the recorded run behind: a replay of its own stands in nobody's way there."""
        return self._entrance.was_left

    def follows(self, lane: Lane, after: Lane) -> None:
        """Nothing: what follows from what is in the recording."""

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        """Count something that was seen and could not be caught."""
        with self._lock:
            self.report.unseen[name] = self.report.unseen.get(name, 0) + 1

    def note(self, lane: Lane, kind: str, body: dict[str, Any]) -> None:
        """What a run within gave is kept to be compared; all else that a program notes is no question."""
        if body.get("name") == "inner run":
            self.inner_runs.append(self.mask(body["details"]))

    def mask(self, value: Any) -> Any:
        """A tree, masked as the recording is."""
        return self._masker.value(value)

    def refuse(self, lane: Lane | None, place: str) -> DivergenceError:
        """The error for a connection to ``place`` that was about to be opened; it ends the replay."""
        with self._lock:
            self.report.refused.append(place)
            where = f" in lane {lane.name}" if lane is not None else ""
            text = f"the program tried to connect to {place}{where} while it is replayed; nothing was opened"
            then = f"playhead show {self.recording.id}"
            found = Divergence(
                kind="network", lane=lane.name if lane else "", boundary="network", name=place, message=text, next=then
            )
            error = ConnectionRefusedInReplayError(text, next=then, facts={"place": place}, divergence=found)
            if self.failure is None:
                self._fail(error, found)
            return error

    def await_others(self) -> None:
        """Before the end: let other threads come as far as they had when recorded."""
        self._ordering.await_others()

    def end(self, *, raising: bool) -> None:
        """Close the replay: list what was left, and with ``raising`` raise what makes it fail.

        In strict, exchanges that were never asked for are a failure; otherwise they are listed.
        """
        with self._lock:
            self._take(self._children.end())
            self._ended = True
            self._ordering.end(self.failure or self._late("what was waited for"))
            left = list(self._layout.unplayed()) if self.failure is None else []
            self.report.unplayed = [describe_unplayed(slot) for slot in left]
            reads_left = self._reads.left()
            if reads_left and self.failure is None:
                self.report.unseen["recorded reads that were not asked for"] = reads_left
            strict = [slot for slot in left if self._matchers.is_strict(slot.boundary)]
            if strict and self.failure is None:
                found = self._entrance.explain(explain_unplayed(self._layout, strict))
                self._fail(UnplayedError(found.message, next=found.next, divergence=found), found)
        if raising and isinstance(self.failure, DivergenceError):
            raise self.failure

    def _stop(self, error: ReplayStoppedError) -> None:
        """From here on nothing is answered, as asked."""
        self.failure, self.report.stopped_at = error, error.facts["step"]
        self._ordering.follow()
        self._ordering.stile.fail(error)

    def _take(self, found: Divergence | None) -> None:
        """A child process has diverged: the run that started it has, too."""
        if found is not None and self.failure is None:
            self._fail(DivergenceError(found.message, next=found.next, divergence=found), found)

    def _check_open(self, lane: Lane, call: Call) -> None:
        if self._ended:
            raise self._late(f"{call.kind} {call.name} in lane {lane.name}")
        if self.failure is not None:
            self._ordering.follow()
            raise self.failure

    def _late(self, what: str) -> LateCrossingError:
        return LateCrossingError(
            f"{what} came after its replay of {self.recording.id} had ended; "
            "it was not answered and nothing was opened",
            next=f"playhead replay {self.recording.id}",
        )

    def _unanswered(self, lane: Lane, call: Call, model: ModelCall | None, slot: Slot) -> Divergence:
        return explain_unanswered(self._layout, lane, self._request(call, model), slot)

    def _request(self, call: Call, model: ModelCall | None) -> Request:
        return self._layout.normalise(request_of_call(call, self._masker, model))

    def _fingerprint(self, call: Call, model: ModelCall | None) -> bytes:
        if model is not None and not self._normalisers and isinstance(call.payload, HttpRequest):
            quick = self._prints.of_model_call(model.provider, call.payload, side="masked")
            if quick is not None:
                return quick
        return self._prints.of_request(self._request(call, model))

    def _find(self, lane: Lane, call: Call, model: ModelCall | None) -> Slot:
        boundary = "model" if model is not None else call.kind
        candidate = self._layout.next(lane.name, boundary)
        custom = boundary in self._custom
        if candidate is not None and not custom and not self._normalisers and candidate.is_asked_by(call, model):
            return candidate
        matcher = self._matchers.of(boundary)
        asked_print = self._fingerprint(call, model)
        if candidate is not None and not custom and candidate.is_equal(asked_print, call):
            return candidate
        asked = self._layout.comparable(request_of_call(call, self._masker, model))
        equal = [] if custom else self._layout.equal(boundary, asked_print)
        free = [slot for slot in equal if not slot.played]
        if free:
            return find_equal(self.report, lane, asked, free, candidate)
        reason = ""
        if candidate is not None and not self._matchers.is_strict(boundary):
            verdict = matcher.match(asked, candidate.request)
            if verdict.matches:
                note_drift(self.report, lane, candidate, asked, verdict.drift)
                return candidate
            reason = verdict.reason
        raise self._diverge(explain_miss(self._layout, lane, asked, candidate, equal, reason))

    def _diverge(self, found: Divergence) -> DivergenceError:
        found = self._entrance.explain(found)
        error = DivergenceError(found.message, next=found.next, divergence=found, facts={"kind": found.kind})
        self._fail(error, found)
        return error

    def _fail(self, error: DivergenceError, found: Divergence) -> None:
        """From here on nothing is answered; where the recorded run has held to its end, that is no divergence of it."""
        self.failure = error
        self._ordering.follow()
        self._ordering.stile.fail(error)
        if self.was_left and not any(self._layout.unplayed()):
            asked = f"{found.boundary} {found.name} in lane {found.lane}"
            self.report.warnings.append(f"the recorded run had ended and the program was stopped at {asked}")
        else:
            self.report.divergence = found
