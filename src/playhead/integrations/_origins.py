"""In which lane a thread, or a future's work, ran: whoever waits for its end goes on after it."""

from __future__ import annotations

from typing import Any, TypeVar

from playhead.boundary import Lane, current_lane

T = TypeVar("T")

_NAME = "_playhead_lane"


def ran_in(work: T, lane: Lane) -> T:
    """``work`` again, a thread or future that runs in ``lane``."""
    vars(work)[_NAME] = lane
    return work


def origin_of(work: Any) -> Lane | None:
    """The lane that ``work`` ran in, where that is known."""
    lane: Lane | None = getattr(work, "__dict__", {}).get(_NAME)
    return lane


def follow_origin(work: Any) -> None:
    """The current lane goes on after ``work``, which has ended."""
    origin = origin_of(work)
    if origin is None:
        return
    lane = current_lane()
    lane = lane.outer if lane is not None else None
    if lane is not None and lane.session is origin.session:
        lane.session.follows(lane, origin)
