"""The clocks of the `time` module, read by the agent's own code."""

from __future__ import annotations

import time
import timeit
from typing import Any

from playhead.boundary import Lane, Patches
from playhead.integrations._reads import answer_value, read_plain, read_with, stand_in
from playhead.integrations._rebinding import Rebinding

_PLAIN = (
    "time",
    "time_ns",
    "monotonic",
    "monotonic_ns",
    "perf_counter",
    "perf_counter_ns",
    "process_time",
    "process_time_ns",
    "thread_time",
    "thread_time_ns",
)
_BY_ID = ("clock_gettime", "clock_gettime_ns")
_GIVEN = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}
"""Functions that read the clock only if not given a time, and which argument that is."""

_answer = answer_value("clock")


def install(patches: Patches) -> None:
    """Have every read of a clock by the agent's own code cross the boundary.

    `time.sleep` is no read and stays as it is.
    """
    rebinding = Rebinding.of(patches)
    for name in (*_PLAIN, *_BY_ID, *_GIVEN):
        original = getattr(time, name, None)
        if original is None:
            continue
        fn = f"time.{name}"
        if name in _PLAIN:
            function = read_plain("clock", fn, original, again=False)
        elif name in _BY_ID:
            function = read_with(fn, original, _answer)
        else:
            function = read_with(fn, original, _answer_unless_given)
        new = stand_in(function, original, "time")
        rebinding.replace(time, name, new, fn)
        if timeit.default_timer is original:
            rebinding.replace(timeit, "default_timer", new, fn)
    rebinding.spread()


def _answer_unless_given(
    original: Any, fn: str, lane: Lane, site: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    position = _GIVEN[original.__name__]
    value = original(*args, **kwargs)
    if len(args) > position and args[position] is not None:
        return value
    if type(value) is not time.struct_time:
        return lane.session.read(lane, "clock", fn, site, lambda: value)
    plain = (*value, value.tm_zone, value.tm_gmtoff)  # the last two are no items of it, and would be lost
    kept = lane.session.read(lane, "clock", fn, site, lambda: plain)
    return value if kept is plain else time.struct_time(kept)
