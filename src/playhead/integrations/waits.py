"""Threads that wait for one another: a replay that gives its answers in turn has to know who runs.

All waiting of the standard library's threads, but for plain locks, passes ``Condition.wait`` or ``Thread.join``:
events, queues, futures, semaphores and barriers are made of conditions. Whoever wakes a waiter says so before it
comes to rest itself. Outside a replay nothing is done here.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from playhead.boundary import Activity, Lane, Patches, current_lane
from playhead.integrations._joiners import joiners

_WAITERS = "_playhead_waiters"


def install(patches: Patches) -> None:
    """Tell the session who waits, and who is woken."""
    condition, thread = threading.Condition, threading.Thread
    patches.replace(condition, "wait", _waiting(condition.wait))
    patches.replace(condition, "notify", _notifying(condition.notify))
    patches.replace(thread, "join", _joining(thread.join))


def _followed(lane: Lane | None) -> Activity | None:
    """Who wants to know, if anybody does."""
    if lane is None or lane.opaque or not lane.session.activity.is_followed:
        return None
    return lane.session.activity


@contextmanager
def _noted(waiters: Any, activity: Activity) -> Iterator[None]:
    entry = (threading.get_ident(), activity)
    waiters.append(entry)
    activity.wait(entry[0])
    try:
        yield
    finally:
        activity.wake(entry[0])
        if entry in waiters:
            waiters.remove(entry)


def _waiting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def wait(self: Any, timeout: float | None = None) -> Any:
        activity = _followed(current_lane())
        if activity is None:
            return original(self, timeout)
        with _noted(vars(self).setdefault(_WAITERS, deque()), activity):
            return original(self, timeout)

    return wait


def _notifying(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def notify(self: Any, n: int = 1) -> Any:
        waiters = vars(self).get(_WAITERS)
        for _ in range(min(n, len(waiters)) if waiters else 0):
            key, activity = waiters.popleft()
            activity.wake(key)
        return original(self, n)

    return notify


def _joining(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def join(self: Any, timeout: float | None = None) -> Any:
        activity = _followed(current_lane())
        if activity is None or not self.is_alive():
            return original(self, timeout)
        with _noted(joiners(self), activity):
            return original(self, timeout)

    return join
