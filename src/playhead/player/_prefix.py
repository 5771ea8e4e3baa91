"""A replay of the beginning of a recording, which says where that ends."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from playhead.boundary import Call, HttpRequest, Lane, Outcome, Pause, Program, Ticket, Turn
from playhead.eventlog import Recording
from playhead.events import ErasedBody
from playhead.masking import Masker
from playhead.player._answers import outcome_of
from playhead.player._fingerprints import Fingerprints
from playhead.player._holds import Hold
from playhead.player._requests import Boundary, Normaliser, recognise_call, request_of_call
from playhead.player._session import ReplaySession
from playhead.player._slots import Layout, Slot
from playhead.providers import ModelCall

_BOUNDARIES: tuple[Boundary, ...] = ("model", "tool", "http", "wrap")


class PrefixSession(ReplaySession):
    """Answers from a recording that `playhead.eventlog.cut_recording` made, as long as there is something to answer."""

    def __init__(self, recording: Recording, *, masker: Masker, **how: Any) -> None:
        super().__init__(recording, masker=masker, **how)
        self.report.warnings.clear()
        self.asked: dict[int, Any] = {}
        """What was asked otherwise than recorded and was forgiven, masked, by the ``seq`` of the question."""

    @property
    def is_through(self) -> bool:
        """Whether all that was recorded has happened again."""
        with self._lock:
            return self.failure is None and self._ordering.is_over and not any(self._layout.unplayed())

    def covers(self, lane: Lane, call: Call) -> bool:
        """Whether ``call`` is one that was recorded before the end, or comes in the place of one."""
        with self._lock:
            if self.failure is not None or isinstance(call.payload, Pause | Program):
                return True
            if any(self._layout.next(lane.name, boundary) for boundary in _BOUNDARIES):
                return True
            model = recognise_call(call)
            boundary: Boundary = "model" if model is not None else call.kind
            equal = self._layout.equal(boundary, self._fingerprint(call, model))
            return any(not slot.played for slot in equal)

    def until_through(self, lane: Lane, call: Call) -> Turn:
        """The turn in which all that was recorded has happened."""
        place = f"what is asked next ({call.name})"
        hold = Hold(self._ordering.stile, self._ordering.length, lane=lane.name, place=place)
        hold.seconds = 0.0
        return hold

    def _go_on(self, lane: Lane, call: Call, model: ModelCall | None, slot: Slot) -> Ticket:
        """A question that was answered later only: it is asked as soon as all else has happened."""
        self._ordering.asked(lane, slot)
        return Ticket(lane, call, turn=self.until_through(lane, call))

    def take_read(self, lane: Lane, fn: str, site: str) -> Any:
        """The recorded value of a read, or `NOTHING`."""
        with self._lock:
            return self._reads.take(lane.name, fn, site)

    def _find(self, lane: Lane, call: Call, model: ModelCall | None) -> Slot:
        drifted = len(self.report.drift)
        slot = super()._find(lane, call, model)
        if len(self.report.drift) > drifted:
            self.asked[slot.seq] = request_of_call(call, self._masker, model).content
        return slot


class RecordedAnswers:
    """What a recording answered, by what was asked: for boundaries that do not go live in a fork.

    ``after`` is where the replay ended: what was answered later comes first.
    """

    may_repeat = True
    """Whether an answer can be given again where no other is left."""

    def __init__(
        self,
        recording: Recording,
        *,
        masker: Masker,
        normalisers: tuple[Normaliser, ...],
        after: int,
        left_out: Collection[str] | None = None,
    ) -> None:
        prints = Fingerprints(masker, same_key=recording.header.mask_key == masker.key_id)
        self._layout = Layout(recording, prints, normalisers, left_out=left_out)
        self._prints = prints
        self._masker = masker
        self._after = after

    def find(self, call: Call) -> Callable[[], Outcome] | None:
        """What makes the answer of an equal question; ``None`` where none was recorded."""
        model = recognise_call(call)
        boundary: Any = "model" if model is not None else call.kind
        asked = self._layout.normalise(request_of_call(call, self._masker, model))
        equal = self._layout.equal(boundary, self._prints.of_request(asked))
        found = [slot for slot in equal if _is_answered(slot) and (self.may_repeat or not slot.played)]
        if not found:
            return None
        slot = min(found, key=lambda each: (each.played, each.seq <= self._after, each.seq))
        slot.played = True
        answer = slot.peek().answer
        assert answer is not None
        return lambda: outcome_of(answer)


def _is_answered(slot: Slot) -> bool:
    answer = slot.peek().answer
    return answer is not None and not isinstance(answer.body, ErasedBody)


def boundary_of(call: Call) -> str:
    """Which boundary a call crosses: an HTTP request to a model is one to a model."""
    return "model" if recognise_call(call) is not None else call.kind


def model_of(call: Call) -> tuple[str, str | None] | None:
    """The provider and the model that a call asks over HTTP."""
    found = recognise_call(call) if isinstance(call.payload, HttpRequest) else None
    return (found.provider, found.model) if found is not None else None
