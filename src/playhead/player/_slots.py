"""The recorded exchanges, laid out as a replay looks for them: by lane, boundary and fingerprint."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

import msgspec

from playhead.boundary import Arguments, Call, HttpRequest
from playhead.eventlog import Exchange, Question, Recording
from playhead.events import BoundaryAsked, Event
from playhead.player._fingerprints import Fingerprints
from playhead.player._mask_keys import without_mask_keys
from playhead.player._requests import Boundary, Normaliser, Request, request_of_event, tree_of_call
from playhead.providers import ModelCall

_encode = msgspec.json.Encoder(order="sorted").encode

_BOUNDARIES: dict[str, Boundary] = {"model.requested": "model", "tool.called": "tool", "boundary.asked": "wrap"}


class Slot:
    """One recorded exchange, and whether it has been played."""

    __slots__ = (
        "_exchange",
        "_layout",
        "_print",
        "_request",
        "boundary",
        "child",
        "end",
        "given_to",
        "index",
        "lane",
        "played",
        "seq",
        "step",
    )

    def __init__(self, layout: Layout, index: int, question: Question, boundary: Boundary) -> None:
        self._layout = layout
        self._exchange: Exchange | None = None
        self._request: Request | None = None
        self._print: bytes | None = None
        self.index = index
        self.seq = question.seq
        self.step = question.step
        self.lane = question.lane
        self.boundary: Boundary = boundary
        self.child: str | None = None
        """The run of the child process that was started."""
        self.played = False
        self.given_to: str | None = None
        """The other lane that asked the same before its own, and has its answer."""
        self.end: int | None = None
        """Where its answer is in the order, once it is given."""

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
        recorded = request_of_event(self.exchange.question)
        try:
            return recorded.name == call.name and _encode(recorded.content) == _encode(tree_of_call(payload))
        except (ValueError, OverflowError, RecursionError):
            return False

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"step {self.step}" if self.step is not None else f"event {self.seq}"


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
        self.slots: list[Slot] = []
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
            elif question.kind in _BOUNDARIES:
                slot = Slot(self, index, question, self._boundary(question))
                self.slots.append(slot)
                self._by_seq[slot.seq] = slot
                self._queues[slot.lane, slot.boundary].append(slot)
                if slot.boundary == "process":
                    self._take_child(slot)
        self.erased = frozenset(erased)
        """The ``seq`` of recorded questions that were erased, and so cannot be asked again."""

    def find(self, seq: int) -> Slot | None:
        """The slot whose question is the event ``seq``."""
        return self._by_seq.get(seq)

    def _boundary(self, question: Question) -> Boundary:
        if question.kind == "boundary.asked":
            body = self.recording.events[question.seq].body
            if isinstance(body, BoundaryAsked) and body.child is not None:
                return "process"
            if isinstance(body, BoundaryAsked) and body.name == "http":
                return "http"
        return _BOUNDARIES[question.kind]

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
