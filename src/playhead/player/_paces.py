"""When the pieces of a recorded stream came among all else."""

from __future__ import annotations

from playhead.boundary import Turn
from playhead.player._holds import Hold
from playhead.player._turnstile import Turnstile


class StreamPace:
    """The turns of one stream, from the times of its pieces and the moment of its end."""

    __slots__ = ("_asked_ns", "_cancelled", "_end", "_lane", "_place", "_stile", "_turns")

    def __init__(
        self, stile: Turnstile, lane: str, *, asked_ns: int, end: int, turns: int | None, cancelled: bool, place: str
    ) -> None:
        self._stile = stile
        self._lane = lane
        self._asked_ns = asked_ns
        self._end = end
        self._turns = turns
        self._cancelled = cancelled
        self._place = place

    def piece(self, after_ns: int) -> Turn | None:
        """The turn of the piece that came so long after the question."""
        stile, at_ns = self._stile, self._asked_ns + after_ns
        index = min(stile.order.index_at(at_ns), self._end)
        if stile.is_clear(index, at_ns):
            return None
        return Hold(stile, index, lane=self._lane, place=self._place, at_ns=at_ns)

    def end(self) -> Turn | None:
        """The turn of its end."""
        return Hold(
            self._stile,
            self._end,
            at_ns=self._stile.order.at_ns(self._end),
            lane=self._lane,
            place=self._place,
            turns=self._turns,
            cancelled=self._cancelled,
        )
