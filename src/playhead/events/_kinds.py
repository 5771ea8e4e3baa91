"""The kinds of event: what can happen in a run, each a frozen fact.

An event has a header, the same for all kinds, and a body of its kind. Values inside bodies (arguments,
results, requests) are *trees*: JSON with tagged values, as `playhead.events.encode` makes them.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from playhead.events._bodies import (
    BoundaryAnswered,
    BoundaryAsked,
    BoundaryFailed,
    ClockRead,
    CycleFinished,
    CycleStarted,
    LaneClosed,
    LaneOpened,
    LaneWoken,
    MessageReceived,
    ModelFailed,
    ModelRequested,
    ModelResponded,
    NoteAdded,
    PartKept,
    RandomDrawn,
    RecordingSealed,
    RunFinished,
    RunStarted,
    SleepAsked,
    SleepEnded,
    StateKept,
    ToolCalled,
    ToolFailed,
    ToolReturned,
    UnknownBody,
)


class ErasedBody(msgspec.Struct, frozen=True):
    """In place of a body that was erased: its ``digest``, for the chain."""

    digest: str


Body = (
    RunStarted
    | RunFinished
    | MessageReceived
    | ModelRequested
    | ModelResponded
    | ModelFailed
    | ToolCalled
    | ToolReturned
    | ToolFailed
    | BoundaryAsked
    | BoundaryAnswered
    | BoundaryFailed
    | ClockRead
    | RandomDrawn
    | SleepAsked
    | SleepEnded
    | LaneOpened
    | LaneWoken
    | LaneClosed
    | CycleStarted
    | CycleFinished
    | StateKept
    | PartKept
    | NoteAdded
    | RecordingSealed
    | UnknownBody
    | ErasedBody
)
"""The tagged union of all bodies; `UnknownBody` stands for kinds of later versions and for ``x.*``."""

BODIES: dict[str, type[Body]] = {
    "run.started": RunStarted,
    "run.finished": RunFinished,
    "message.received": MessageReceived,
    "model.requested": ModelRequested,
    "model.responded": ModelResponded,
    "model.failed": ModelFailed,
    "tool.called": ToolCalled,
    "tool.returned": ToolReturned,
    "tool.failed": ToolFailed,
    "boundary.asked": BoundaryAsked,
    "boundary.answered": BoundaryAnswered,
    "boundary.failed": BoundaryFailed,
    "clock.read": ClockRead,
    "random.drawn": RandomDrawn,
    "sleep.asked": SleepAsked,
    "sleep.ended": SleepEnded,
    "lane.opened": LaneOpened,
    "lane.woken": LaneWoken,
    "lane.closed": LaneClosed,
    "cycle.started": CycleStarted,
    "cycle.finished": CycleFinished,
    "state.kept": StateKept,
    "part.kept": PartKept,
    "note.added": NoteAdded,
    "recording.sealed": RecordingSealed,
}
"""The body of each kind, in the order of the format's documentation."""

QUESTIONS = frozenset({"model.requested", "tool.called", "boundary.asked", "sleep.asked"})
"""Kinds that wait for an answer."""

STEPS = frozenset({"model.requested", "tool.called"})
"""Questions that count as steps."""

Outcome = Literal["success", "failure", "aborted"]
"""How a run ended."""


class Event(msgspec.Struct, frozen=True):
    """One fact of a run.

    ``seq`` is its position in the recording, from 0. ``at_ns`` and ``mono_ns`` are nanoseconds of the wall
    clock (since 1970) and of the monotonic clock. ``of`` is, for an answer, the ``seq`` of its question;
    ``causes`` are the ``seq`` of events it is known to follow from.
    """

    seq: int
    kind: str
    lane: str
    at_ns: int
    mono_ns: int
    body: Body
    of: int | None = None
    causes: tuple[int, ...] = ()

    @property
    def is_question(self) -> bool:
        """Whether an answer may follow."""
        return self.kind in QUESTIONS


@cache
def _decoder(body: type[Body]) -> msgspec.json.Decoder[Body]:
    return msgspec.json.Decoder(body)


def decode_body(kind: str, raw: bytes) -> Body:
    """The body of a ``kind`` from its JSON text; kinds not known here become `UnknownBody`.

    Raises `msgspec.MsgspecError` where the text is not JSON or lacks what the kind must have.
    """
    body = BODIES.get(kind)
    if body is None:
        return UnknownBody(raw=bytes(raw))
    return _decoder(body).decode(raw)


def encode_body(body: Body) -> bytes:
    """The JSON text of a body; that of an unknown kind is given back as it was read.

    Raises `ValueError` for a body that was erased.
    """
    if isinstance(body, ErasedBody):
        raise ValueError("an erased body has no text")
    return body.raw if isinstance(body, UnknownBody) else msgspec.json.encode(body)
