"""The line between an agent's own code and the world: calls, sessions, lanes, streams and the two doors."""

from playhead.boundary._arguments import name_arguments
from playhead.boundary._calls import (
    Arguments,
    Call,
    HeaderPairs,
    HttpHead,
    HttpRequest,
    Outcome,
    Pause,
    Raised,
    Returned,
    Streamed,
)
from playhead.boundary._cancellation import is_cancellation
from playhead.boundary._doors import (
    await_turn,
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
    lane_in,
    leave_lane,
    outside_runs,
    woken_in,
)
from playhead.boundary._loops import (
    LoopWatch,
    Select,
    lone_watch,
    near_watch,
    running_loop,
    running_watch,
    watch_loops,
    watch_of,
)
from playhead.boundary._patches import Installation, Installer, Patches
from playhead.boundary._sessions import Session, Ticket
from playhead.boundary._streams import PlayedStream, Stream, Tap, TeedStream
from playhead.boundary._turns import Gate, Pace, Turn
from playhead.boundary._working import Activity, at_work

__all__ = [
    "MAIN",
    "Activity",
    "Arguments",
    "Call",
    "Gate",
    "HeaderPairs",
    "HttpHead",
    "HttpRequest",
    "Installation",
    "Installer",
    "Lane",
    "LoopWatch",
    "Outcome",
    "Pace",
    "Patches",
    "Pause",
    "PlayedStream",
    "Raised",
    "Returned",
    "Select",
    "Session",
    "Stream",
    "Streamed",
    "Tap",
    "TeedStream",
    "Ticket",
    "Turn",
    "announce_abrupt_end",
    "as_fallback",
    "at_work",
    "await_turn",
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
    "lane_in",
    "leave_lane",
    "lone_watch",
    "name_arguments",
    "near_watch",
    "outside_runs",
    "pass_uncaptured",
    "running_loop",
    "running_watch",
    "stay_in_lane",
    "stay_in_lane_async",
    "watch_loops",
    "watch_of",
    "woken_in",
]
