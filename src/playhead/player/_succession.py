"""Giving answers to another process in their recorded order, as far as that asks for them in time."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from playhead._system import SystemClock
from playhead.eventlog import Moment

_PATIENCE_S = 2.0
"""So long may nothing happen before an answer is given though another one had come before it."""

_APART_S = 0.25
"""At most so far apart are answers held in two lanes that came further apart: time to go on with the first of them."""


class Succession:
    """The questions and answers in some lanes, in their recorded order."""

    def __init__(self, moments: Iterable[Moment]) -> None:
        self._left = {moment.seq: moment for moment in moments}
        self._changed = threading.Condition()
        self._ended: tuple[Moment, int] | None = None
        """What was asked or answered last, and when that was now, in nanoseconds."""

    def wait(self, seq: int) -> bool:
        """Wait until the answer ``seq`` is the next; whether it is: else somebody was waited for who did not come."""
        with self._changed:
            while (first := next(iter(self._left), seq)) < seq:
                if not self._changed.wait(_PATIENCE_S) and first == next(iter(self._left), seq):
                    return False
            moment = self._left.get(seq)
            if self._ended is not None and moment is not None and moment.lane != self._ended[0].lane:
                last, now_ns = self._ended
                apart_s = min((moment.mono_ns - last.mono_ns) / 1e9, _APART_S)
                apart_s -= (SystemClock.mono_ns() - now_ns) / 1e9
                if apart_s > 0:
                    self._changed.wait(apart_s)
            return True

    def end(self, seq: int) -> None:
        """The question ``seq`` has been asked, or the answer given."""
        with self._changed:
            moment = self._left.pop(seq, None)
            if moment is not None:
                self._ended = moment, SystemClock.mono_ns()
            self._changed.notify_all()
