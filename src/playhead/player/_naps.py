"""Recorded sleeps and timers, found by lane: nothing is asked, so they are told apart by their order and length."""

from __future__ import annotations

from collections import defaultdict, deque

import msgspec

from playhead.eventlog import Recording
from playhead.events import SleepAsked, SleepEnded

_FAR = 32
"""So many recorded sleeps ahead one of the same length is looked for."""

_SLACK_S, _SLACK = 0.005, 0.1


class Nap(msgspec.Struct, frozen=True):
    """One recorded sleep: the ``seq`` of its beginning, and of its end if it had one."""

    seconds: float
    asked: int
    ended: int | None
    turns: int | None
    """How the end came, see `SleepEnded`."""


class Naps:
    """The sleeps of a recording that have not been slept again."""

    def __init__(self, recording: Recording) -> None:
        self._left: dict[str, deque[Nap]] = defaultdict(deque)
        self._came: dict[int, int] = {}
        ends = {event.of: event for event in recording.of_kind("sleep.ended")}
        for event in recording.of_kind("sleep.asked"):
            if isinstance(event.body, SleepAsked):
                end = ends.get(event.seq)
                turns = end.body.turns if end is not None and isinstance(end.body, SleepEnded) else None
                nap = Nap(event.body.seconds, event.seq, end.seq if end is not None else None, turns)
                self._left[event.lane].append(nap)
                if event.body.turns:
                    self._came[event.seq] = event.body.turns
                if end is not None:
                    self._came[end.seq] = -1 if turns is None else turns

    def turns(self, seq: int) -> int:
        """How many turns after what came before it the sleep began or ended that ``seq`` tells of; -1: not known."""
        return self._came.get(seq, 0)

    def take(self, lane: str, seconds: float) -> tuple[Nap | None, list[Nap]]:
        """The lane's next sleep, and those before it that are not slept again: they belonged to what was live then.

        That is the next one, whatever its length, unless another of this length comes soon. ``None`` where no more
        was recorded.
        """
        left = self._left.get(lane)
        if not left:
            return None, []
        near = (at for at, nap in zip(range(_FAR), left, strict=False) if _are_alike(nap.seconds, seconds))
        passed = [left.popleft() for _ in range(next(near, 0))]
        return left.popleft(), passed


def _are_alike(one: float, other: float) -> bool:
    """Whether two lengths are the same but for the time that it took to work them out."""
    return one == other or abs(one - other) <= _SLACK_S + _SLACK * max(one, other)
