"""Where threads went on that had waited for others: in which order they did so decides what each of them finds."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable

import msgspec

from playhead.eventlog import Moment, Recording
from playhead.events import LaneWoken
from playhead.player._order import Order


class Wake(msgspec.Struct, frozen=True):
    """One moment at which a lane went on, by its index, and the lane's questions or answers ``before`` and ``after``.

    ``wait`` is the number of the wait, 0 where it has none.
    """

    index: int
    wait: int
    before: int
    after: int


class Wakes:
    """The recorded wakings of threads that have not come again.

    Whether a thread had to wait may be another matter in a replay, so each is told by where it lies between two
    crossings of its lane, and most by a number.
    """

    def __init__(self, recording: Recording, order: Order, moments: Callable[[], Iterable[Moment]]) -> None:
        self._order = order
        self._left: dict[str, deque[Wake]] = defaultdict(deque)
        self._turns: dict[int, int] = {}
        waits: dict[int, int] = {}
        for event in recording.of_kind("lane.woken"):
            body = event.body if isinstance(event.body, LaneWoken) else LaneWoken()
            waits[event.seq] = body.wait
            self._turns[event.seq] = -1 if body.turns is None else max(1, body.turns)
        if waits:
            self._read(moments(), waits)

    def _read(self, moments: Iterable[Moment], waits: dict[int, int]) -> None:
        lanes: dict[str, list[int]] = defaultdict(list)
        for moment in moments:
            lanes[moment.lane].append(moment.seq)
        index = self._order.index
        for lane, seqs in lanes.items():
            after, wakes = self._order.length, self._left[lane]
            crossings = [index(seq) for seq in seqs if seq not in waits]
            for seq in reversed(seqs):
                if seq not in waits:
                    after = crossings.pop()
                else:
                    before = crossings[-1] if crossings else -1
                    wakes.appendleft(Wake(index(seq), waits[seq], before, after))

    def turns(self, seq: int) -> int:
        """How many turns after what came before it the waking ``seq`` came, -1: not known; 0 where it is none."""
        return self._turns.get(seq, 0)

    def take(self, lane: str, *, wait: int) -> int | None:
        """The index of the moment at which ``lane`` goes on now, if it had waited here when recorded."""
        left = self._left.get(lane)
        if not left:
            return None
        order = self._order
        while left and (order.is_done(left[0].index) or order.is_done(left[0].after)):
            order.happened(left.popleft().index)
        for wake in left:
            if wake.before >= 0 and not order.is_done(wake.before):
                break
            if wake.wait == wait:
                left.remove(wake)
                return wake.index
        return None

    def pass_over(self, lane: str, index: int) -> None:
        """``lane`` has come to the moment ``index``: before it, nobody waits any more."""
        left = self._left.get(lane)
        while left and left[0].index < index:
            self._order.happened(left.popleft().index)
