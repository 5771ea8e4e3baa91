"""How far each lane has come, so that an event can name those of other lanes that it follows from."""

from __future__ import annotations


class Trail:
    """What came last in a lane, and what of other lanes its next event is known to follow.

    A lane without events of its own hands on what it follows itself. Where a task carries out a call that was made in
    another lane, the call's events stand in that lane, but follow what the task follows, not the line before them: then
    they name the first event of the lane as well. Used by the writer's thread only.
    """

    __slots__ = ("_after", "_first", "_last", "_line")

    def __init__(self) -> None:
        self._after: dict[str, int] = {}
        self._last: int | None = None
        self._first: int | None = None
        self._line: int | None = None

    @property
    def breadth(self) -> int:
        """How many events of other lanes the next one follows."""
        return len(self._after)

    def follow(self, name: str, other: str, trail: Trail) -> None:
        """The lane ``name``, whose trail this is, goes on after the lane ``other`` has come so far."""
        for lane, seq in trail._after.items():
            if lane != name:
                self._after[lane] = max(seq, self._after.get(lane, seq))
        if trail._last is not None:
            self._after[other] = trail._last

    def take(self, carrier: Trail | None = None) -> tuple[int, ...]:
        """The ``seq`` of the events that the next line of this lane follows, beside the line before it.

        ``carrier`` is the trail of the task that carries the call out, where that is not this lane itself.
        """
        trail = carrier or self
        causes = set(trail._after.values())
        trail._after = {}
        if self._first is None and carrier is None:
            if self._last is not None:  # of a call that was carried out for another lane
                causes.add(self._last)
        elif self._first is not None and (carrier is not None or self._last != self._line):
            causes.add(self._first)
            if trail._last is not None:
                causes.add(trail._last)
        return tuple(sorted(causes))

    def wrote(self, seq: int, carrier: Trail | None = None) -> None:
        """The next line of this lane is the event ``seq``."""
        (carrier or self)._last = self._line = seq
        if self._first is None:
            self._first = self._last = seq
