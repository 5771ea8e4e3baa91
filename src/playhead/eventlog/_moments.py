"""What happened in which order in a recording: told from the headers of its events alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

import msgspec

from playhead.eventlog._columns import Columns


class Moment(msgspec.Struct, frozen=True, gc=False):
    """When a lane was opened, or something asked or answered; ``of`` is the ``seq`` of the question, else its own."""

    seq: int
    of: int
    kind: str
    lane: str
    mono_ns: int


class Moments:
    """The moments of a recording in their order, of which ``seqs`` has the numbers of the events; not of lanes ``but``.

    Iterate for each `Moment`. Who needs one thing of many has it in one go, for any ``seqs`` of these.
    """

    def __init__(self, columns: Columns, *, but: Collection[str] = ()) -> None:
        self._columns = columns
        self._asked = dict(zip(columns.answers.values(), columns.answers, strict=True))
        self._but = but
        opened, woken = columns.lanes_opened, columns.lanes_woken
        self.seqs: list[int] = sorted(chain(columns.questions, self._asked, columns.sleeps, opened, woken))
        if but:
            self.seqs = [seq for seq in self.seqs if columns.lane_of(self._asked.get(seq, seq)) not in but]

    def __iter__(self) -> Iterator[Moment]:
        columns = self._columns
        for seq, of in zip(self.seqs, self.ofs(self.seqs), strict=True):
            yield Moment(seq, of, columns.kind_of(seq), columns.lane_of(of), columns.mono_ns[seq])

    def __len__(self) -> int:
        return len(self.seqs)

    def ofs(self, seqs: Sequence[int]) -> list[int]:
        """The questions that these ask or answer, else themselves."""
        return list(map(self._asked.get, seqs, seqs))

    def times_ns(self, seqs: Sequence[int]) -> Iterator[int]:
        """The monotonic times of these."""
        return map(self._columns.mono_ns.__getitem__, seqs)

    def of_kinds(self, seqs: Sequence[int], kinds: frozenset[str]) -> Iterator[bool]:
        """Whether each of these is of one of these ``kinds``."""
        table = [kind in kinds for kind in self._columns.kinds]
        return map(table.__getitem__, map(self._columns.kind.__getitem__, seqs))

    def openings(self) -> Iterator[tuple[str, int]]:
        """Each lane that was opened, and the ``seq`` of that."""
        found = ((self._columns.lane_of(seq), seq) for seq in self._columns.lanes_opened)
        return ((lane, seq) for lane, seq in found if lane not in self._but)
