"""The read view of a recording: what people and the floors above hold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import msgspec

from playhead.errors import UsageError
from playhead.eventlog._access import Access
from playhead.eventlog._blobs import BlobPlace, find_blobs
from playhead.eventlog._bodies import Bodies
from playhead.eventlog._columns import Columns
from playhead.eventlog._format import LIMITS, Head, Header, Limits, decode_header
from playhead.eventlog._moments import Moments
from playhead.eventlog._printing import printable
from playhead.eventlog._reader import Torn, first_line
from playhead.eventlog._source import Bytes, Source
from playhead.eventlog._verdicts import Verification
from playhead.eventlog._verifying import Progress, verify
from playhead.events import STEPS, Event, LaneOpened, ModelRequested, RunFinished, RunStarted, StateKept, decode

T = TypeVar("T")


class Exchange(msgspec.Struct, frozen=True):
    """A question and its answer, ``None`` where none came. ``step`` counts model and tool exchanges from 1."""

    question: Event
    answer: Event | None
    step: int | None


class Question(msgspec.Struct, frozen=True):
    """Where a question stands: told without reading what it asks, which may have been ``erased``."""

    seq: int
    kind: str
    lane: str
    step: int | None
    erased: bool


class View(Sequence[T]):
    """A sequence that makes its items when they are asked for."""

    def __init__(self, seqs: Sequence[int], make: Callable[[int], T]) -> None:
        self._seqs = seqs
        self._make = make

    def __len__(self) -> int:
        return len(self._seqs)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if isinstance(at, slice):
            return View(self._seqs[at], self._make)
        return self._make(self._seqs[at])

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._seqs)


class Questions(View[Question]):
    """The questions of a recording; gone through from the first on, each costs less than one that is looked up."""

    def __init__(self, columns: Columns) -> None:
        super().__init__(columns.questions, self._make_one)
        self._columns = columns

    def _make_one(self, seq: int) -> Question:
        columns = self._columns
        return Question(seq, columns.kind_of(seq), columns.lane_of(seq), columns.step_of(seq), seq in columns.erased)

    def __iter__(self) -> Iterator[Question]:
        columns, step = self._columns, 0
        kinds, lanes, kind_at, lane_at, erased = (
            columns.kinds,
            columns.lanes,
            columns.kind,
            columns.lane,
            columns.erased,
        )
        for seq in columns.questions:
            kind = kinds[kind_at[seq]]
            is_step = kind in STEPS
            step += is_step
            yield Question(seq, kind, lanes[lane_at[seq]], step if is_step else None, seq in erased)


class Recording:
    """One recording, opened to be read: its header at once, its events when they are asked for.

    Values that several events share are the same objects: treat all of them as read-only. A recording whose
    tail a crash tore off is read up to there (``torn``); damage in the middle raises `CorruptRecordingError`.
    """

    def __init__(self, source: Source, *, blobs: BlobPlace | None = None, limits: Limits = LIMITS) -> None:
        self._stored = Bytes(source)
        self._source = source
        self._limits = limits
        self.path: Path | None = self._stored.path
        self.header: Header = decode_header(first_line(self._stored), name=self._stored.name)
        self._blobs = find_blobs(self.path) if blobs is None and self.path is not None else blobs

    def __repr__(self) -> str:
        return f"<Recording {printable(self.id)}>"

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Without it the file is closed when the recording is no longer used."""
        self._stored.close()

    @property
    def id(self) -> str:
        """The run's id."""
        return self.header.run

    @property
    def kind(self) -> str:
        """The kind of agent that ran."""
        return self.header.kind

    @property
    def task(self) -> str | None:
        """The task that it was given, where it was named."""
        return self.header.task

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self._stored, limits=self._limits)

    @cached_property
    def _bodies(self) -> Bodies:
        columns = self._columns
        access = Access(self._stored, columns.frames)
        return Bodies(columns, access, run=self.id, name=self._stored.name, blobs=self._blobs, limits=self._limits)

    @property
    def torn(self) -> Torn | None:
        """What a crash tore off the tail, or ``None``."""
        return self._columns.torn

    @property
    def events(self) -> Sequence[Event]:
        """All events; the index is the event's ``seq``."""
        return View(range(len(self._columns)), self._bodies.event)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def count(self) -> int:
        """The number of events."""
        return len(self._columns)

    @property
    def sealed(self) -> bool:
        """Whether the recording ends with its seal. Whether the seal holds, `verify` says."""
        columns = self._columns
        return len(columns) > 0 and columns.kind_of(len(columns) - 1) == "recording.sealed"

    @property
    def head(self) -> str:
        """The chain's head after the last event, worked out from the bytes that are there."""
        return self.verify().head

    @property
    def started(self) -> RunStarted | None:
        """How the run began; ``None`` where the recording does not say."""
        event = self._first("run.started")
        return event.body if event is not None and isinstance(event.body, RunStarted) else None

    @property
    def finished(self) -> RunFinished | None:
        """How the run ended; ``None`` where it was cut off."""
        event = self._first("run.finished")
        return event.body if event is not None and isinstance(event.body, RunFinished) else None

    @property
    def outcome(self) -> Literal["success", "failure", "aborted"]:
        """How the run ended; one without an end was aborted."""
        finished = self.finished
        return finished.outcome if finished is not None else "aborted"

    def of_kind(self, kind: str) -> Sequence[Event]:
        """The events of one kind, such as ``note.added``; finding them reads no bodies."""
        columns = self._columns
        if kind not in columns.kinds:
            return ()
        number = columns.kinds.index(kind)
        return View([seq for seq, found in enumerate(columns.kind) if found == number], self._bodies.event)

    def _first(self, kind: str) -> Event | None:
        columns = self._columns
        if kind not in columns.kinds:
            return None
        return self._bodies.event(columns.kind.index(columns.kinds.index(kind)))

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """Questions with their answers, in the order of the questions. A sleep asks nothing and is none."""
        return View(self._columns.questions, self._exchange)

    @property
    def questions(self) -> Sequence[Question]:
        """Where the questions of the exchanges stand, in the same order; finding them reads no bodies."""
        return Questions(self._columns)

    @property
    def steps(self) -> Sequence[Exchange]:
        """The exchanges with models and tools: step ``n`` is ``steps[n - 1]``."""
        return View(self._columns.steps, self._exchange)

    def moments(self, *, but: Collection[str] = ()) -> Moments:
        """Openings and wakings of lanes, questions and answers, also of sleeps, in their order; reads no bodies.

        Those in the lanes ``but`` are left out.
        """
        return Moments(self._columns, but=but)

    def _exchange(self, seq: int) -> Exchange:
        columns, read = self._columns, self._bodies.event
        answer = columns.answers.get(seq)
        return Exchange(read(seq), read(answer) if answer is not None else None, columns.step_of(seq))

    def step(self, number: int) -> Exchange:
        """The exchange that people call step ``number``. Raises `UsageError` where there is no such step."""
        return self._exchange(self._step_seq(number))

    def _step_seq(self, number: int) -> int:
        steps = self._columns.steps
        if not 1 <= number <= len(steps):
            there = "no steps" if not steps else "one step" if len(steps) == 1 else f"steps 1 to {len(steps)}"
            raise UsageError(
                f"run {printable(self.id)} has {there}, not {number}",
                next=f"playhead show {printable(self.id)}",
                facts={"run": self.id, "steps": len(steps), "step": number},
            )
        return steps[number - 1]

    def context(self, step: int) -> Any:
        """The full request that the model saw at this step or, for a tool's, last before it.

        It is looked for in the step's own lane, then in the lanes that created it; ``None`` where no model was
        asked before.
        """
        seq = self._step_seq(step)
        columns = self._columns
        lane: str = columns.lane_of(seq)
        while lane:
            for at in range(seq, -1, -1):
                if columns.kind_of(at) == "model.requested" and columns.lane_of(at) == lane:
                    body = self._bodies.event(at).body
                    return body.request if isinstance(body, ModelRequested) else None
            lane = lane.rpartition("/")[0]
        return None

    def state(self, step: int | None = None) -> Any:
        """The state that the agent had kept last when it asked for this step, or at the end; ``None`` without one.

        It is looked for in the step's own lane, then in the lanes that created it, then in all. Raises
        `MissingTypeError` where a class of it is not in this program; `state_tree` needs none.
        """
        return decode(self.state_tree(step))

    def state_tree(self, step: int | None = None) -> Any:
        """The same as it was recorded: JSON with tagged values."""
        seq = self._step_seq(step) if step is not None else self.count
        columns = self._columns
        if "state.kept" not in columns.kinds:
            return None
        number = columns.kinds.index("state.kept")
        before = [at for at in range(seq - 1, -1, -1) if columns.kind[at] == number]
        lane: str = columns.lane_of(seq) if step is not None else ""
        while lane and before:
            for at in before:
                if columns.lane_of(at) == lane:
                    return self._state_at(at)
            lane = lane.rpartition("/")[0]
        return self._state_at(before[0]) if before else None

    def _state_at(self, seq: int) -> Any:
        body = self._bodies.event(seq).body
        return body.state if isinstance(body, StateKept) else None

    @property
    def lanes(self) -> tuple[str, ...]:
        """The names of the lanes, in the order in which they first appear."""
        return tuple(self._columns.lanes)

    @cached_property
    def lanes_of_others(self) -> Mapping[str, LaneOpened]:
        """The lanes in which another process than the program made what crosses, and how each was opened."""
        opened = map(self._bodies.event, self._columns.of_others)
        return {event.lane: event.body for event in opened if isinstance(event.body, LaneOpened)}

    @cached_property
    def lanes_behind(self) -> frozenset[str]:
        """Those of the `lanes_of_others` of which the program learned only what another process told it."""
        return frozenset(lane for lane, opened in self.lanes_of_others.items() if opened.behind)

    def is_behind(self, step: int) -> bool:
        """Whether another process asked for this step, behind its conversation with the program; reads no bodies."""
        return self._columns.lane_of(self._step_seq(step)) in self.lanes_behind

    def in_lane(self, name: str) -> Sequence[Event]:
        """The events of one lane. An unknown name has none."""
        columns = self._columns
        if name not in columns.lanes:
            return ()
        number = columns.lanes.index(name)
        return View([seq for seq, lane in enumerate(columns.lane) if lane == number], self._bodies.event)

    def verify(self, *, expected: Head | None = None, progress: Progress | None = None) -> Verification:
        """Check the chain, from the stored bytes; see `playhead.eventlog.verify`."""
        return verify(self._stored, expected=expected, progress=progress, blobs=self._blobs)


def open_recording(source: Source, *, blobs: BlobPlace | None = None, limits: Limits = LIMITS) -> Recording:
    """Open a recording in a file, in memory or in an open file.

    ``blobs`` says where its large bodies are; for a file they are looked for in ``blobs`` beside it and beside
    its folder. Raises an error of the `FormatError` family where it is not a recording.
    """
    return Recording(source, blobs=blobs, limits=limits)
