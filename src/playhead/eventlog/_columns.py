"""Where each event of a recording is, and what is asked of its header most: a few bytes an event."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from playhead.eventlog._format import Limits
from playhead.eventlog._reader import LogReader
from playhead.eventlog._source import Bytes
from playhead.events import QUESTIONS, STEPS

ANSWERS = frozenset(
    {
        "model.responded",
        "model.failed",
        "tool.returned",
        "tool.failed",
        "boundary.answered",
        "boundary.failed",
        "sleep.ended",
    }
)
"""Kinds that answer the question that they are ``of``."""


_POSITIVE = (1 << 63) - 1


class Columns:
    """One pass over a recording.

    For the event ``seq``: ``kinds[kind[seq]]``, ``lanes[lane[seq]]``, ``mono_ns[seq]``, and its line's
    ``offset[seq]`` and ``length[seq]`` in the plain text. ``questions`` (but for sleeps), ``sleeps``, ``steps``,
    ``parts``, ``lanes_opened`` and ``lanes_woken`` hold the ``seq`` of such events, ``of_others`` those of openings of
    lanes that are not the program's own, ``answers`` the first answer of each question that has one, ``erased`` the
    events without a body.
    """

    def __init__(self, stored: Bytes, *, limits: Limits) -> None:
        reader = LogReader(stored, limits=limits)
        self.kind = array("L")
        self.lane = array("L")
        self.offset = array("Q")
        self.length = array("L")
        self.mono_ns = array("q")
        self.questions = array("L")
        self.lanes_opened = array("L")
        self.lanes_woken = array("L")
        self.of_others = array("L")
        self.sleeps = array("L")
        self.steps = array("L")
        self.parts = array("L")
        self.answers: dict[int, int] = {}
        self.erased: set[int] = set()
        self.kinds, self.lanes = self._scan(reader)
        self.torn = reader.torn
        self.blobs = reader.blobs
        self.frames = reader.text.frames

    def _scan(self, reader: LogReader) -> tuple[list[str], list[str]]:
        kinds: dict[str, int] = {}
        lanes: dict[str, int] = {}
        of_kind = {
            "lane.opened": self.lanes_opened,
            "lane.woken": self.lanes_woken,
            "part.kept": self.parts,
            **dict.fromkeys(QUESTIONS, self.questions),
            "sleep.asked": self.sleeps,
        }
        add_kind, add_lane, add_time = self.kind.append, self.lane.append, self.mono_ns.append
        add_offset, add_length, add_answer = self.offset.append, self.length.append, self.answers.setdefault
        for line in reader:
            event = line.event
            kind, seq, of = event.kind, event.seq, event.of
            add_kind(kinds.setdefault(kind, len(kinds)))
            add_lane(lanes.setdefault(event.lane, len(lanes)))
            add_offset(line.offset)
            add_length(len(line.text))
            add_time(event.mono_ns & _POSITIVE)
            if line.erased:
                self.erased.add(seq)
            if of is not None and kind in ANSWERS:
                add_answer(of, seq)
            elif (column := of_kind.get(kind)) is not None:
                column.append(seq)
                if kind in STEPS:
                    self.steps.append(seq)
                elif kind == "lane.opened" and b'"by":' in line.text:
                    self.of_others.append(seq)
        return list(kinds), list(lanes)

    def __len__(self) -> int:
        return len(self.offset)

    def kind_of(self, seq: int) -> str:
        """The kind of the event ``seq``."""
        return self.kinds[self.kind[seq]]

    def lane_of(self, seq: int) -> str:
        """The lane of the event ``seq``."""
        return self.lanes[self.lane[seq]]

    def step_of(self, seq: int) -> int | None:
        """Which step the question ``seq`` is, from 1; ``None`` where it is none."""
        at = bisect_left(self.steps, seq)
        return at + 1 if at < len(self.steps) and self.steps[at] == seq else None
