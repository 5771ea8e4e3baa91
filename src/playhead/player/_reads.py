"""Recorded reads of clock and chance, found by lane, call site and kind, so that a new one does not shift others."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection
from itertools import chain
from typing import Any

from playhead.eventlog import Recording
from playhead.events import ClockRead, RandomDrawn, decode

_NOTHING: Any = object()


class Reads:
    """The reads of a recording that have not been played, but for those in the lanes ``but``."""

    def __init__(self, recording: Recording, *, but: Collection[str] = ()) -> None:
        self._exact: dict[tuple[str, str, str], deque[list[Any]]] = defaultdict(deque)
        self._moved: dict[tuple[str, str, str], deque[list[Any]]] = defaultdict(deque)
        for event in chain.from_iterable(map(recording.of_kind, ("clock.read", "random.drawn"))):
            body = event.body
            if event.lane not in but and isinstance(body, ClockRead | RandomDrawn):
                kept = [body.value]
                self._exact[event.lane, body.fn, body.site].append(kept)
                self._moved[event.lane, body.fn, _line(body.site)].append(kept)

    def take(self, lane: str, fn: str, site: str) -> Any:
        """The next recorded value read at this site; else on the same line, moved; else `NOTHING`.

        A line that reads otherwise now is another line: to give it a value of its neighbours would shift theirs.
        """
        for queue in (self._exact.get((lane, fn, site)), self._moved.get((lane, fn, _line(site)))):
            while queue:
                kept = queue.popleft()
                if kept:
                    return decode(kept.pop())
        return _NOTHING

    def left(self) -> int:
        """How many recorded reads were not asked for."""
        return sum(bool(kept) for queue in self._moved.values() for kept in queue)


NOTHING = _NOTHING
"""What `Reads.take` gives where no such read was recorded."""


def _line(site: str) -> str:
    """A site without the number of its line: the function, and the digest of the line's text."""
    function, _, place = site.rpartition(":")
    return f"{function}#{place.rpartition('#')[2]}"
