"""What happened in which order: the recorded questions and answers, and how far the replay has come in them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from playhead.errors import UsageError
from playhead.eventlog import Moments

_UNHURRIED_NS = 10_000_000_000
"""So long may threads compute before what came after something else when recorded."""
_SOFT = frozenset({"sleep.asked", "sleep.ended", "lane.opened", "lane.woken", "lane.closed"})


class Order:
    """The recorded moments in their order. ``head`` is the index of the first that has not happened yet.

    A moment is soft where nothing need wait for it for ever: sleeps and lanes, which the program may do without,
    and questions that cannot be asked again. ``instead`` is another order of the same moments, by their ``seq``.
    What few replays ask for is read when it is asked for.

    Raises `UsageError` where it names others.
    """

    def __init__(self, moments: Moments, *, gone: frozenset[int], instead: Sequence[int] | None = None) -> None:
        self.head = 0
        self.is_another = instead is not None
        """Whether it is not the recorded one."""
        self._moments = moments
        self._gone = gone
        self._places: dict[int, int] = {}
        self._moved: frozenset[int] = frozenset()
        self.length = len(moments)
        """How many moments there are."""
        self._mine = moments.seqs if instead is None else self._rearrange(moments.seqs, instead)
        self.seqs = [*self._mine, -1, -1]
        """The ``seq`` of each moment, and -1 for the two after the last: looking at the next two is always possible."""
        self._lanes: dict[str, int] = {}
        for index, lane in sorted((self.index(seq), lane) for lane, seq in moments.openings()):
            self._lanes.setdefault(lane, index)
        self.done = bytearray(self.length + 2)

    def _rearrange(self, recorded: list[int], instead: Sequence[int]) -> list[int]:
        """The moments in the other order; those that come after another one than recorded count as moved."""
        if sorted(instead) != recorded:
            raise UsageError(
                "the order that is given has other moments than the recording",
                next="playhead.causality.find_orders(recording, graph)",
            )
        before = dict(zip(recorded, [None, *recorded], strict=False))
        now = zip(instead, [None, *instead], strict=False)
        self._places = {seq: index for index, seq in enumerate(instead)}
        self._moved = frozenset(index for index, (seq, last) in enumerate(now) if before[seq] != last)
        return list(instead)

    @cached_property
    def _ofs(self) -> list[int]:
        return self._moments.ofs(self._mine)

    @cached_property
    def times(self) -> list[int]:
        """The recorded time of each moment: two threads may have handed theirs over in the other order."""
        return list(accumulate(self._moments.times_ns(self._mine), max))

    @cached_property
    def _soft(self) -> bytearray:
        soft = bytearray(self._moments.of_kinds(self._mine, _SOFT))
        if self._gone:
            for index, of in enumerate(self._ofs):
                soft[index] |= of in self._gone
        return soft

    def turns(self, index: int, recorded: int | None) -> int | None:
        """The recorded turns between a moment and the one before it, where that is still the same one."""
        return None if index in self._moved else recorded

    def ready(self, index: int, recorded: int) -> int:
        """How many moments before its own a task had been made ready, where those are still the same ones."""
        if not self._moved:
            return recorded
        return 0 if any(at in self._moved for at in range(index - recorded + 1, index + 1)) else recorded

    @property
    def start_ns(self) -> int:
        """The recorded time of the first moment."""
        return next(self._moments.times_ns(self._mine[:1]), 0)

    def index(self, seq: int) -> int:
        """The index of the moment ``seq``."""
        head = self.head
        if self.seqs[head] == seq:
            return head
        return self._places[seq] if self._places else bisect_left(self.seqs, seq, 0, self.length)

    def index_at(self, at_ns: int) -> int:
        """The index of the first moment after this recorded time."""
        return bisect_right(self.times, at_ns)

    def at_ns(self, index: int) -> int:
        """The recorded time of a moment; of one after the last, that of the last."""
        if index < self.length:
            return self.times[index]
        return self.times[-1] if self.length else 0

    def gap_ns(self, index: int) -> int:
        """How long after the moment before it this one came; long where it had come after another."""
        if index in self._moved:
            return _UNHURRIED_NS
        return self.at_ns(index) - self.at_ns(index - 1) if index > 0 else 0

    def opens(self, lane: str) -> bool:
        """Whether the opening of ``lane`` was recorded."""
        return lane in self._lanes

    def opening(self, lane: str) -> int | None:
        """The index of the opening of ``lane``, if it was recorded and has not come."""
        index = self._lanes.get(lane)
        return None if index is None or self.is_done(index) else index

    def seq(self, index: int) -> int:
        """The ``seq`` of a moment."""
        return self.seqs[index]

    def question(self, index: int) -> int:
        """The ``seq`` of the question that a moment is, or answers."""
        return self._ofs[index]

    @property
    def is_over(self) -> bool:
        """Whether all has happened."""
        return self.head >= self.length

    @property
    def head_is_soft(self) -> bool:
        """Whether nothing need wait for the first that has not happened."""
        return bool(self._soft[self.head])

    def is_done(self, index: int) -> bool:
        """Whether this moment has happened."""
        return index < self.head or bool(self.done[index])

    def after(self, head: int) -> int:
        """The first moment from ``head`` on that has not come."""
        while self.done[head]:
            head += 1
        return head

    def happened(self, index: int) -> None:
        """This moment has come, or will not."""
        done = self.done
        if index >= self.length:
            return
        done[index] = 1
        if index == self.head:
            self.head = self.after(index + 1)
