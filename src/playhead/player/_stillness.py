"""Telling whether threads that are said to run have come to rest: what they wait for is not always known to us."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from types import FrameType
from typing import cast

from playhead import _system
from playhead.boundary import Activity

_STILL_NS = 8_000_000
_LONG_STILL_NS = 100_000_000
"""The same where the system does not tell a thread that waits from one that the machine does not let run."""

_SPARE_NS = 1_000_000
_SLOWER = 2
"""So many times slower may a thread compute than when recorded; the machine may be another, or busy."""
_PATIENCE_NS = 2_000_000_000
_OUTSIDE_NS = 5_000_000_000
_now_ns = _system.SystemClock.mono_ns


class Stillness:
    """Watches the running threads of an activity between two happenings of a replay."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        self._began: dict[Hashable, int] = {}
        self._seen: dict[Hashable, tuple[object, int]] = {}
        self._since_ns = _now_ns()

    @property
    def since_ns(self) -> int:
        """Since when nothing has happened."""
        return self._since_ns

    def reset(self) -> None:
        """Something has happened: begin anew."""
        self._since_ns = _now_ns()
        if self._seen:
            self._began.clear()
            self._seen.clear()

    def renew(self) -> None:
        """Something has happened: who runs may compute anew; who was seen at rest still is."""
        self._began.clear()

    def allows(self, gap_ns: int, *, but: Hashable = None) -> bool:
        """Whether each running thread rests, or has computed for as long as it could when recorded and a bit more.

        ``but`` is one that is not looked at.
        """
        running = [key for key in self._activity.running if key != but]
        places = _places(running)
        now = _now_ns()
        verdicts = [self._rests(key, places, now) or self._had(key, gap_ns) for key in running]
        return all(verdicts)  # each is looked at, also after the first that runs

    def is_long(self) -> bool:
        """Whether nothing has happened for so long that nobody from outside will come either."""
        return _now_ns() - self._since_ns > _OUTSIDE_NS

    def is_patient(self) -> bool:
        """Whether every thread that runs has rested so long that it waits for nothing that will come."""
        now = _now_ns()
        seen = [self._seen.get(key) for key in self._activity.running]
        return all(each is not None and now - each[1] > _PATIENCE_NS for each in seen)

    def _rests(self, key: Hashable, places: dict[Hashable, tuple[int, int]], now: int) -> bool:
        cpu = _system.thread_cpu_ns(key) if isinstance(key, int) else 0
        self._began.setdefault(key, cpu)
        sleeps = _system.thread_sleeps(key) if isinstance(key, int) else None
        mark = (cpu, places.get(key))
        seen = self._seen.get(key)
        if seen is None or seen[0] != mark or sleeps is False:
            self._seen[key] = (mark, now)
            return False
        return now - seen[1] >= (_LONG_STILL_NS if sleeps is None else _STILL_NS)

    def _had(self, key: Hashable, gap_ns: int) -> bool:
        if not isinstance(key, int):
            return False
        return _system.thread_cpu_ns(key) - self._began[key] >= _SLOWER * gap_ns + _SPARE_NS


def _places(running: list[Hashable]) -> dict[Hashable, tuple[int, int]]:
    """Where each of these threads is. No frame is kept: it would keep what the program's threads hold."""
    frames = cast("dict[Hashable, FrameType]", sys._current_frames())
    try:
        return {key: (id(frame), frame.f_lasti) for key in running if (frame := frames.get(key)) is not None}
    finally:
        frames.clear()  # this function's own frame is among them
