"""The line between an agent's own code and the world: calls, sessions, lanes, streams and the two doors."""

from playhead.boundary._arguments import name_arguments
from playhead.boundary._calls import (
    Arguments,
    Call,
    HeaderPairs,
    HttpHead,
    HttpRequest,
    Outcome,
    Raised,
    Returned,
    Streamed,
)
from playhead.boundary._cancellation import is_cancellation
from playhead.boundary._doors import (
    cross,
    cross_async,
    cross_items,
    cross_items_async,
    cross_stream,
    cross_stream_async,
    pass_uncaptured,
)
from playhead.boundary._endings import announce_abrupt_end, before_abrupt_end
from playhead.boundary._following import stay_in_lane, stay_in_lane_async
from playhead.boundary._lanes import (
    MAIN,
    Lane,
    as_fallback,
    current_lane,
    enter_lane,
    in_lane,
    leave_lane,
    outside_runs,
)
from playhead.boundary._patches import Installation, Installer, Patches
from playhead.boundary._sessions import Session, Ticket
from playhead.boundary._streams import PlayedStream, Stream, Tap, TeedStream
from playhead.boundary._working import at_work, when_idle

__all__ = [
    "MAIN",
    "Arguments",
    "Call",
    "HeaderPairs",
    "HttpHead",
    "HttpRequest",
    "Installation",
    "Installer",
    "Lane",
    "Outcome",
    "Patches",
    "PlayedStream",
    "Raised",
    "Returned",
    "Session",
    "Stream",
    "Streamed",
    "Tap",
    "TeedStream",
    "Ticket",
    "announce_abrupt_end",
    "as_fallback",
    "at_work",
    "before_abrupt_end",
    "cross",
    "cross_async",
    "cross_items",
    "cross_items_async",
    "cross_stream",
    "cross_stream_async",
    "current_lane",
    "enter_lane",
    "in_lane",
    "is_cancellation",
    "leave_lane",
    "name_arguments",
    "outside_runs",
    "pass_uncaptured",
    "stay_in_lane",
    "stay_in_lane_async",
    "when_idle",
]
