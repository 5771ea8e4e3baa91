"""Who wakes whom in asyncio: a task that ends, or an event that is set, lets another lane go on.

All of it passes ``loop.call_soon``, which is given the context of who is to go on. What counts is the end of a task,
the end of a pool's work, and what the agent's own code does to an event, queue, condition or future. What does not
is what says nothing of the agent: a connection that a library shares between lanes, and who was next at a lock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import Context
from functools import wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Lane, Patches, current_lane, watch_of, woken_in
from playhead.integrations._imports import when_imported
from playhead.integrations._origins import origin_of
from playhead.integrations._scope import Owner
from playhead.integrations._sites import current_scope

_MACHINERY = ("asyncio", "anyio")
_QUEUES_OF_LOCKS = frozenset(
    {
        *("Lock.release", "Lock._wake_up_first", "Semaphore.release", "Semaphore._wake_up_next"),
        *("CapacityLimiter.release", "CapacityLimiter.release_on_behalf_of", "ResourceGuard.__exit__"),
    }
)
"""Who is let in next by these is a matter of luck, not of cause."""


def install(patches: Patches) -> None:
    """Take note of who wakes whom, once asyncio, or uvloop, is imported."""

    def patch_asyncio(module: ModuleType) -> None:
        patches.replace(module.BaseEventLoop, "call_soon", _calling_soon(module.BaseEventLoop.call_soon))

    def patch_uvloop(module: ModuleType) -> None:
        patches.replace(module.Loop, "call_soon", _calling_soon(module.Loop.call_soon))

    when_imported("asyncio.base_events", patch_asyncio, patches)
    when_imported("uvloop", patch_uvloop, patches)


def _calling_soon(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call_soon(self: Any, callback: Any, *args: Any, context: Context | None = None) -> Any:
        # Each step of each task passes here: the usual case, that a task goes on by itself, has to be told at once.
        if context is not None:
            woken = woken_in(context)
            if woken is not None and _is_wanted(woken):
                watch = watch_of(self)
                if watch is not None:
                    woken.readied = watch.marks
                if woken is not current_lane():
                    _note(self, woken)
        if args:
            return original(self, callback, *args, context=context)
        return original(self, callback, context=context)

    return call_soon


def _is_wanted(lane: Lane) -> bool:
    """Whether the session of ``lane`` records: one that replays has all of it in its recording."""
    session: Any = lane.session  # none outside of every run
    return session is not None and not session.forbids_network


def _note(loop: Any, woken: Lane) -> None:
    lane, waker = woken.outer, _waker(loop, sys._getframe(2))
    if lane is not None and waker is not None and waker is not lane and waker.session is lane.session:
        lane.session.follows(lane, waker)


def _waker(loop: Any, frame: Any) -> Lane | None:
    """The lane that wakes, where it is its doing."""
    if frame.f_code.co_name == "_copy_future_state":
        return origin_of(frame.f_locals.get("source"))
    if sys.modules["asyncio.tasks"].current_task(loop) is None:
        return None
    while frame is not None and _is_machinery(frame):
        code = frame.f_code
        if code.co_name == "_run" and code.co_qualname == "Handle._run":
            break  # a task has ended
        if code.co_qualname in _QUEUES_OF_LOCKS:
            return None
        frame = frame.f_back
    else:
        if frame is None or current_scope().owner(frame.f_code, frame.f_globals) is Owner.OTHER:
            return None
    lane = current_lane()
    return lane.outer if lane is not None else None


def _is_machinery(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in _MACHINERY
