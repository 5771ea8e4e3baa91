"""The frame of the agent's own code from which something was asked.

Mostly it is on the stack. A coroutine that was given to a task is called by the event loop, and the function of a
thread by nobody: then it is the frame that waits for it.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from playhead.integrations._sites import find_site

_OURS = "playhead"
_DEPTH = 6
"""So many futures may stand between a task and the one that waits for it."""


def agent_frame(asking: FrameType) -> FrameType:
    """The innermost frame of the agent's own code that led to ``asking``, or the innermost that is not ours."""
    frame: FrameType | None = asking
    while frame is not None:
        if find_site(frame) is not None:
            return frame
        if _is_loop(frame):
            waiting = next(_waiting_frames(), None)
            if waiting is not None:
                return waiting
        frame = frame.f_back
    main = sys._current_frames().get(threading.main_thread().ident or 0)
    while main is not None and threading.current_thread() is not threading.main_thread():
        if find_site(main) is not None:
            return main
        main = main.f_back
    return _outermost_of_ours(asking)


def is_within_ours(frame: FrameType) -> bool:
    """Whether ``frame`` is ours, or was called by ours rather than by the agent itself."""
    each: FrameType | None = frame
    while each is not None and find_site(each) is None:
        if str(each.f_globals.get("__name__")).partition(".")[0] == _OURS:
            return True
        each = each.f_back
    return False


def _outermost_of_ours(asking: FrameType) -> FrameType:
    frame: FrameType | None = asking
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _OURS:
        frame = frame.f_back
    return frame or asking


def _is_loop(frame: FrameType) -> bool:
    return frame.f_code.co_name == "_run_once" and frame.f_globals.get("__name__") == "asyncio.base_events"


def _waiting_frames() -> Iterator[FrameType]:
    """The agent's frames in the tasks that wait for the current one, the nearest first."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return
    queue = [(asyncio.current_task(), 0)]
    known = set()
    while queue:
        future, depth = queue.pop(0)
        if future is None or id(future) in known or depth > _DEPTH:
            continue
        known.add(id(future))
        if depth and isinstance(future, asyncio.Task):
            frame = _suspended_frame(future.get_coro())
            if frame is not None:
                yield frame
        queue += [(each, depth + 1) for each in _waiters(future, asyncio.Future)]


def _waiters(future: Any, kind: type) -> Iterator[Any]:
    """The futures and tasks that a future tells of its end, through callbacks, sets of tasks and task groups."""
    for callback, _ in getattr(future, "_callbacks", None) or ():
        told = getattr(callback, "__self__", None)
        cells = [cell.cell_contents for cell in getattr(callback, "__closure__", None) or () if _is_filled(cell)]
        for each in (told, getattr(told, "_parent_task", None), *cells):
            if isinstance(each, kind):
                yield each


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _suspended_frame(coroutine: Any) -> FrameType | None:
    """The innermost frame of the agent's own code in a coroutine that waits."""
    found = None
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
        if frame is not None and find_site(frame) is not None:
            found = frame
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "gi_yieldfrom", None)
    return found
