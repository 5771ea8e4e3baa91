"""The recorded exchanges, laid out as a replay looks for them: by lane, boundary and fingerprint."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import msgspec

from playhead.boundary import Arguments, Call, HttpRequest
from playhead.errors import MissingTypeError
from playhead.eventlog import Exchange, Question, Recording
from playhead.events import BoundaryAsked, Event, ToolCalled
from playhead.player._fingerprints import Fingerprints
from playhead.player._mask_keys import without_mask_keys
from playhead.player._requests import Boundary, Normaliser, Request, quick_tree, request_of_event
from playhead.providers import ModelCall

_encode = msgspec.json.Encoder(order="sorted").encode

_BOUNDARIES: dict[str, Boundary] = {"model.requested": "model", "tool.called": "tool", "boundary.asked": "wrap"}


class Slot(msgspec.Struct, eq=False):
    """One recorded exchange, and whether it has been played.

    ``child`` is the run of the child process that was started, ``given_to`` the other lane that asked the same before
    its own and has its answer. ``end`` is where its answer is in the order, once it is given.
    """

    _layout: Layout
    index: int
    seq: int
    step: int | None
    lane: str
    boundary: Boundary
    child: str | None = None
    played: bool = False
    given_to: str | None = None
    end: int | None = None
    _exchange: Exchange | None = None
    _request: Request | None = None
    _print: bytes | None = None

    @property
    def exchange(self) -> Exchange:
        """The recorded exchange, read when asked for and kept until it is played."""
        if self._exchange is None:
            self._exchange = self._layout.exchanges[self.index]
        return self._exchange

    def peek(self) -> Exchange:
        """The recorded exchange, not kept where it has been played."""
        return self._layout.exchanges[self.index] if self.played else self.exchange

    def play(self) -> Exchange:
        """The recorded exchange, for the one time that it answers."""
        exchange, self._exchange = self.exchange, None
        self.played = True
        return exchange

    @property
    def answer(self) -> Event | None:
        """The recorded answer; ``None`` where the recording ends before it."""
        return self.exchange.answer

    @property
    def request(self) -> Request:
        """What was asked, normalised."""
        if self._request is None:
            self._request = self._layout.comparable(request_of_event(self.exchange.question))
        return self._request

    @property
    def fingerprint(self) -> bytes:
        """The digest of what was asked."""
        if self._print is None:
            asked = self._layout.normalise(request_of_event(self.exchange.question))
            self._print = self._layout.fingerprints.of_request(asked)
        return self._print

    def is_asked_by(self, call: Call, model: ModelCall | None) -> bool:
        """Whether ``call``, before it is masked, asks the very same; ``False`` is not sure.

        What was recorded is masked, and a mask leaves that as it is: a call that equals it before it is masked
        equals it afterwards.
        """
        payload = call.payload
        if model is not None and isinstance(payload, HttpRequest):
            asked = self._layout.fingerprints.of_model_call(model.provider, payload, side="plain")
            return asked == self.fingerprint
        if not isinstance(payload, Arguments):
            return False
        body = self.exchange.question.body
        if type(body) is ToolCalled:
            if not self._is_named_by(call):
                return False
            name, content = body.name, body.arguments
        else:
            recorded = request_of_event(self.exchange.question)
            name, content = recorded.name, recorded.content
        try:
            return name == call.name and _encode(content) == _encode(quick_tree(payload))
        except (ValueError, OverflowError, RecursionError):
            return False

    def is_equal(self, fingerprint: bytes, call: Call) -> bool:
        """Whether the question is equal to that of ``call``, by its ``fingerprint``, and of no other id."""
        return self.fingerprint == fingerprint and self._is_named_by(call)

    def _is_named_by(self, call: Call) -> bool:
        """Whether ``call`` has the recorded id; one without an id may be any."""
        return call.call_id is None or getattr(self.exchange.question.body, "call_id", call.call_id) == call.call_id

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"step {self.step}" if self.step is not None else f"event {self.seq}"

    def name_place(self, error: BaseException) -> None:
        """Have the error for a class that is missing say where the value of it stands."""
        if isinstance(error, MissingTypeError):
            error.facts["place"] = self.place
            error.message = f"{self.place} ({self.request.name}): {error.message}"


class Layout:
    """All slots of a recording but those in the lanes ``left_out``, if none are named those behind a conversation."""

    def __init__(
        self,
        recording: Recording,
        fingerprints: Fingerprints,
        normalisers: tuple[Normaliser, ...],
        *,
        left_out: Collection[str] | None = None,
    ) -> None:
        self.recording = recording
        self.left_out = recording.lanes_behind if left_out is None else left_out
        self.behind = 0
        """How many recorded questions are left out."""
        self.fingerprints = fingerprints
        self._normalisers = normalisers
        self.exchanges = recording.exchanges
        self._queues: dict[tuple[str, Boundary], deque[Slot]] = defaultdict(deque)
        self._equal: dict[Boundary, dict[bytes, list[Slot]]] = {}
        self._by_seq: dict[int, Slot] = {}
        self.processes: dict[str, Slot] = {}
        """The starts of child processes, by the lanes that these are."""
        erased = set()
        for index, question in enumerate(recording.questions):
            if question.erased:
                erased.add(question.seq)
            elif question.lane in self.left_out:
                self.behind += 1
            elif (boundary := _BOUNDARIES.get(kind := question.kind)) is not None:
                if kind == "boundary.asked":
                    boundary = self._boundary(question)
                seq, lane = question.seq, question.lane
                slot = self._by_seq[seq] = Slot(self, index, seq, question.step, lane, boundary)
                self._queues[lane, boundary].append(slot)
                if boundary == "process":
                    self._take_child(slot)
        self.slots: list[Slot] = list(self._by_seq.values())
        self.erased = frozenset(erased)
        """The ``seq`` of recorded questions that were erased, and so cannot be asked again."""

    def find(self, seq: int) -> Slot | None:
        """The slot whose question is the event ``seq``."""
        return self._by_seq.get(seq)

    def _boundary(self, question: Question) -> Boundary:
        body = self.recording.events[question.seq].body
        if isinstance(body, BoundaryAsked) and body.child is not None:
            return "process"
        return "http" if isinstance(body, BoundaryAsked) and body.name == "http" else "wrap"

    def _take_child(self, slot: Slot) -> None:
        body = self.recording.events[slot.seq].body
        if isinstance(body, BoundaryAsked) and body.child is not None:
            self.processes[body.child.lane] = slot
            slot.child = body.child.run

    def normalise(self, request: Request) -> Request:
        """``request`` after all normalisers."""
        for normaliser in self._normalisers:
            request = normaliser(request)
        return request

    def comparable(self, request: Request) -> Request:
        """``request`` after all normalisers, without what only the key of the masks makes differ."""
        request = self.normalise(request)
        return request if self.fingerprints.same_key else without_mask_keys(request)

    def next(self, lane: str, boundary: Boundary) -> Slot | None:
        """The next unplayed question of this kind in the lane."""
        queue = self._queues.get((lane, boundary))
        while queue and queue[0].played:
            queue.popleft()
        return queue[0] if queue else None

    def equal(self, boundary: Boundary, fingerprint: bytes) -> list[Slot]:
        """All slots of this kind, in any lane, played or not, whose question is equal."""
        index = self._equal.get(boundary)
        if index is None:
            index = self._equal[boundary] = defaultdict(list)
            for slot in self.slots:
                if slot.boundary == boundary:
                    index[slot.fingerprint].append(slot)
        return index.get(fingerprint, [])

    def unplayed(self) -> Iterator[Slot]:
        """The slots that have not been played, in recorded order."""
        return (slot for slot in self.slots if not slot.played)

    def given_answers(self, most: int = 200) -> Iterator[Any]:
        """The bodies of the answers that have been given, the latest of the recording first, at most so many."""
        played = (slot for slot in reversed(self.slots) if slot.played)
        for slot in islice(played, most):
            answer = self.exchanges[slot.index].answer
            if answer is not None:
                yield answer.body

    def lanes(self) -> set[str]:
        """The lanes in which something was asked."""
        return {lane for lane, _ in self._queues}
