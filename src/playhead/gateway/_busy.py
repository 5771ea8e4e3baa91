"""Whether the processes that ask are computing: in a replay the next answer waits until they have come to rest."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator

from playhead import _system
from playhead.boundary import Activity

_CALM_LOOKS = 4
_LOOK_S = 0.002
_RENEWED_AFTER = 20
"""So many looks after which whoever watches for stillness is told that work goes on."""

_LONGEST_NS = 2_000_000_000


class Processes:
    """A process and all that it has started. Where the system does not say what they do, they are never busy."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._spent = 0

    def is_busy(self) -> bool:
        """Whether one of their threads can run, or has run since this was last asked."""
        spent, runs = 0, False
        for pid in self._family():
            for task in _list(f"/proc/{pid}/task"):
                runs = runs or _state(f"/proc/{pid}/task/{task}/stat") == "R"
                spent += _spent(f"/proc/{pid}/task/{task}/schedstat")
        before, self._spent = self._spent, spent
        return runs or spent != before

    def _family(self) -> Iterator[int]:
        waiting = [self._pid]
        while waiting:
            pid = waiting.pop()
            yield pid
            for task in _list(f"/proc/{pid}/task"):
                waiting += map(int, _read(f"/proc/{pid}/task/{task}/children").split())


def linger(activity: Activity, processes: Processes | None) -> None:
    """Wait until ``processes`` rest, while somebody waits for a turn in ``activity``; for a bounded time.

    Somebody who asked has just been answered. What it does with the answer comes before what is answered next.
    """
    until = _system.SystemClock.mono_ns() + _LONGEST_NS
    token: Hashable = object()
    activity.begin(token)
    looks = calm = 0
    while calm < _CALM_LOOKS and activity.waiting > 1 and _system.SystemClock.mono_ns() < until:
        _system.sleep(_LOOK_S)
        looks += 1
        calm = 0 if processes is not None and processes.is_busy() else calm + 1
        if looks % _RENEWED_AFTER == 0:
            before, token = token, object()
            activity.begin(token)
            activity.end(before)
    activity.end(token)


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="latin-1") as file:
            return file.read()
    except OSError:
        return ""


def _state(path: str) -> str:
    """The state of a thread: what follows its name, which may hold anything."""
    return _read(path).rpartition(")")[2].strip()[:1]


def _spent(path: str) -> int:
    """Nanoseconds that a thread has run."""
    return int(_read(path).split(" ", 1)[0] or 0)
