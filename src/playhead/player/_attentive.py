"""A replay that also tells all that was asked: for whoever wants to accept a change, or to judge one."""

from __future__ import annotations

from typing import Any

import msgspec

from playhead.boundary import Call, Lane
from playhead.errors import DivergenceError
from playhead.player._requests import Boundary, Request, recognise_call, request_of_call
from playhead.player._session import ReplaySession
from playhead.player._slots import Slot
from playhead.providers import ModelCall


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question of the replayed program, masked.

    ``seq`` and ``step`` are those of the recorded question that answered it: none did where ``seq`` is ``None``.
    """

    boundary: Boundary
    name: str
    lane: str
    content: Any
    seq: int | None = None
    step: int | None = None


class AttentiveSession(ReplaySession):
    """A `ReplaySession` that keeps every question in ``asked``, in the order in which they came."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.asked: list[Asked] = []

    def _find(self, lane: Lane, call: Call, model: ModelCall | None) -> Slot:
        asked = request_of_call(call, self._masker, recognise_call(call))
        try:
            slot = super()._find(lane, call, model)
        except DivergenceError:
            self.asked.append(_asked(asked, lane, None))
            raise
        self.asked.append(_asked(asked, lane, slot))
        return slot


def _asked(request: Request, lane: Lane, slot: Slot | None) -> Asked:
    seq, step = (slot.seq, slot.step) if slot is not None else (None, None)
    return Asked(request.boundary, request.name, lane.name, request.content, seq, step)
