"""Replaying an agent whose work is done by another process: that runs again, and its model answers as recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from playhead.boundary import Call, Lane, Outcome, Pause, Program, Ticket
from playhead.errors import DivergenceError, MissingTypeError, UsageError
from playhead.eventlog import Recording, cut_recording, printable
from playhead.events import ErasedBody
from playhead.masking import Masker
from playhead.player._answers import outcome_of
from playhead.player._noise import without_noise
from playhead.player._prefix import RecordedAnswers, boundary_of
from playhead.player._report import Divergence
from playhead.player._requests import Normaliser, recognise_call
from playhead.player._session import ReplaySession
from playhead.player._succession import Succession


class Others:
    """The other processes of a recording. Raises `UsageError` where there is none whose model calls were recorded."""

    def __init__(self, recording: Recording) -> None:
        found = recording.lanes_of_others
        if not recording.lanes_behind:
            name = printable(recording.id)
            raise UsageError(
                f"{name} has no model calls that another process made, so there is none to run again",
                next=f"playhead replay {name}",
            )
        self.acting: Collection[str] = {lane for lane, opened in found.items() if not opened.behind}
        """The lanes in which they do something by themselves."""
        self._names = sorted({opened.by for opened in found.values() if opened.by})
        self._starts = tuple(f"{name}." for name in self._names)

    def say(self, name: str) -> bool:
        """Whether a wrapped call is a part of the conversation with one of them."""
        return name.startswith(self._starts)

    def make(self, lane: Lane, call: Call) -> bool:
        """Whether a call is what one of them says, or does by itself."""
        return bool(lane.by and not lane.behind) or self.say(call.name)

    def __str__(self) -> str:
        return ", ".join(self._names)


class ReexecutedAnswers(RecordedAnswers):
    """What models and tools answered up to the event ``last``, each once, for a fork in which the others run again."""

    may_repeat = False

    def __init__(self, recording: Recording, last: int, *, masker: Masker, normalisers: Sequence[Normaliser]) -> None:
        self._others = Others(recording)
        super().__init__(
            cut_recording(recording, last),
            masker=masker,
            normalisers=(without_noise, *normalisers),
            after=0,
            left_out=self._others.acting,
        )
        for slot in self._layout.slots:
            if slot.boundary not in ("model", "tool") or slot.answer is None:
                slot.played = True

    @property
    def are_given(self) -> bool:
        """Whether there is none left."""
        return not any(self._layout.unplayed())

    def concern(self, lane: Lane, call: Call) -> bool:
        """Whether a call is one that they may answer."""
        return boundary_of(call) in ("model", "tool") and not self._others.make(lane, call)


class ReexecutingSession(ReplaySession):
    """Stands at the boundary while the other process of a recording runs again.

    Models and tools are answered from the recording, each by what is asked, and so are reads. The conversation with
    the process goes live, and what it does by itself is done again. Time is real. Its models answer in their recorded
    order, as far as it asks in time; else no order is imposed: it computes, and nobody can know for how long.

    Raises `UsageError` where no such process was recorded.
    """

    def __init__(self, recording: Recording, *, normalisers: Sequence[Normaliser] = (), **how: Any) -> None:
        self._others = others = Others(recording)
        super().__init__(recording, normalisers=(without_noise, *normalisers), left_out=others.acting, **how)
        self.report.behind = 0
        for slot in self._layout.slots:
            if slot.boundary == "process" or (slot.boundary == "wrap" and others.say(slot.request.name)):
                slot.played = True
        behind, find = recording.lanes_behind, self._layout.find
        self._succession = Succession(each for each in recording.moments() if each.lane in behind and find(each.of))
        self.report.warnings.append(f"{others} runs again: the commands and files of its own tools are done again")

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """A thread begins at once."""
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Let the conversation go live, answer all else from the recording, models in their order."""
        ticket = self._begin(lane, call)
        if ticket.seq is not None:
            self._succession.end(ticket.seq)
        if lane.behind and ticket.mark is not None and not self._succession.wait(ticket.mark):
            self.report.warnings.append(f"{call.name} was answered out of its order: what came before it was not asked")
        return ticket

    def _begin(self, lane: Lane, call: Call) -> Ticket:
        with self._lock:
            if isinstance(call.payload, Program):
                return Ticket(lane, call, errand=self._children.guard())
            if isinstance(call.payload, Pause) or self._others.make(lane, call):
                return Ticket(lane, call)
            self._check_open(lane, call)
            model = recognise_call(call)
            slot = self._find(lane, call, model)
            answer = slot.play().answer
            if answer is None or isinstance(answer.body, ErasedBody):
                raise self._diverge(self._unanswered(lane, call, model, slot))
            self.report.answered += 1
            self.report.steps += slot.step is not None
            try:
                return Ticket(lane, call, outcome_of(answer), 0, slot.seq, mark=answer.seq)
            except MissingTypeError as error:
                slot.name_place(error)
                raise

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """Nobody waits for it."""

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Let the next answer be given."""
        if ticket.mark is not None:
            self._succession.end(ticket.mark)

    def tell_time(self, now: float) -> float:
        """The real time."""
        return now

    def await_others(self) -> None:
        """Nobody is waited for."""

    def _check_open(self, lane: Lane, call: Call) -> None:
        if self.failure is not None and not self._ended:
            raise self.failure
        super()._check_open(lane, call)

    def _fail(self, error: DivergenceError, found: Divergence) -> None:
        if self.failure is None:
            self.failure, self.report.divergence = error, found
