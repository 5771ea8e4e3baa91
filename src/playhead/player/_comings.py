"""How something came in the turns of its loop, counted from what came there last, be it a piece of a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from playhead.boundary import LoopWatch


class Coming:
    """A piece or head of a stream, or a moment, that came so many ``turns`` after what came before it in its loop.

    ``turns`` are as in `playhead.boundary.Streamed`; empty where the loop was idle before, or nothing is known.
    """

    __slots__ = ("_kind", "_pieces", "_turns")

    def __init__(self, turns: Sequence[int], kind: Literal["moment", "piece", "head"] = "moment") -> None:
        self._kind = kind
        self._turns = turns[0] if turns else None
        self._pieces = turns[1] if len(turns) > 1 else 0

    def is_due(self, watch: LoopWatch) -> bool:
        """Whether its loop has come to that turn; never where it is told by the loop's rest alone."""
        return self._turns is not None and watch.pieces >= self._pieces and watch.since_piece >= self._turns

    def is_now(self, watch: LoopWatch) -> bool:
        """Whether it comes with what came last: no other task went on in between."""
        return self._turns == 0 == watch.since_piece and watch.pieces >= self._pieces

    def mark(self, watch: LoopWatch, ahead: int = 0) -> None:
        """It comes so many turns ``ahead``."""
        if self._kind == "moment":
            watch.mark(ahead=ahead)
        else:
            watch.mark_piece(ahead=ahead, is_head=self._kind == "head")


MOMENT = Coming(())
