"""Threads that wait for one another: a replay that gives its answers in turn has to know who runs.

All waiting of the standard library's threads, but for plain locks, passes ``Condition.wait`` or ``Thread.join``:
events, queues, futures, semaphores and barriers are made of conditions. A wait with a time limit is kept as a sleep
that ended if the limit was reached; replayed, it takes no time, and ends as it did. Where a thread was woken instead,
the moment is kept at which it went on.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Activity, Call, Lane, Patches, Pause, Returned, Ticket, Turn, current_lane
from playhead.integrations._gates import Gate
from playhead.integrations._imports import when_imported
from playhead.integrations._joiners import joining
from playhead.integrations._origins import follow_origin
from playhead.integrations._places import at_hand, go_on, in_place, pass_by, take

_ENDED = Returned(None)


def install(patches: Patches) -> None:
    """Have waits with a time limit cross the boundary, and tell a replay who waits and who is woken."""
    condition, thread = threading.Condition, threading.Thread
    patches.replace(condition, "wait", _waiting(condition.wait))
    patches.replace(condition, "notify", _notifying(condition.notify))
    patches.replace(thread, "join", in_place(_joining(thread.join)))
    patches.replace(threading.Event, "wait", in_place(threading.Event.wait, is_shared=True))
    patches.replace(threading.Event, "set", at_hand(threading.Event.set))
    patches.replace(threading.Semaphore, "acquire", in_place(threading.Semaphore.acquire, is_shared=True))
    patches.replace(threading.Semaphore, "__enter__", threading.Semaphore.acquire)
    patches.replace(threading, "_time", _telling_time(threading._time))  # type: ignore[attr-defined]

    def patch_queue(module: ModuleType) -> None:
        patches.replace(module, "time", _telling_time(module.time))
        for name in ("get", "put", "join"):
            patches.replace(module.Queue, name, in_place(vars(module.Queue)[name], is_shared=True))

    when_imported("queue", patch_queue, patches)


def _telling_time(original: Callable[[], float]) -> Callable[[], float]:
    """The clock by which the standard library counts down: where waits take no time, that goes on all the same."""

    def tell() -> float:
        lane = current_lane()
        if lane is None or lane.opaque:
            return original()
        return lane.session.tell_time(original())

    return tell


def _waiting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def wait(self: Any, timeout: float | None = None) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque or (timeout is not None and timeout <= 0):
            return original(self, timeout)
        limit = timeout is not None or lane.activity.is_followed
        ticket = lane.session.begin(lane, _pause(timeout)) if limit else None
        if ticket is None or ticket.answer is None or ticket.turn is None:
            notified = original(self, timeout)
            if notified:
                go_on(lane)
        elif not self._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        else:
            notified = _wait_in_turn(self, lane, ticket)
        if not notified and ticket is not None:
            lane.session.finish(ticket, _ENDED)
        return notified

    return wait


def _notifying(original: Callable[..., Any]) -> Callable[..., Any]:
    """Who has put something into a queue, or taken it out, says so while the queue is closed to all others."""

    @wraps(original)
    def notify(self: Any, n: int = 1) -> None:
        take()
        original(self, n)

    return notify


def _pause(timeout: float | None) -> Call:
    return Call("sleep", "wait", Pause(math.inf if timeout is None else float(timeout)))


def _wait_in_turn(condition: Any, lane: Lane, ticket: Ticket) -> bool:
    """Wait as one of the condition's waiters, without real time; whether it was notified.

    One that reached its limit does so again, whoever notifies it meanwhile: that came too late for it.
    """
    assert ticket.turn is not None
    gate = Gate(lane.activity)
    condition._waiters.append(gate)
    saved = condition._release_save()
    try:
        notified = ticket.turn.wait_at(Gate(lane.activity) if ticket.turn.is_recorded else gate)
        if notified:
            go_on(lane)
        return notified
    finally:
        condition._acquire_restore(saved)
        if gate in condition._waiters:
            condition._waiters.remove(gate)


def _joining(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def join(self: Any, timeout: float | None = None) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            original(self, timeout)
        elif not self.is_alive():
            pass_by()
            original(self, timeout)
        else:
            works = _is_to_end(self, lane.activity)
            limit = timeout is not None and timeout > 0
            ticket = lane.session.begin(lane, _pause(timeout)) if limit else None
            if not lane.activity.is_followed or not works:
                original(self, timeout)
            elif ticket is None or ticket.turn is None:
                _join_for_good(original, self, timeout, lane.activity)
            elif _wait_for_end(self, lane.activity, ticket.turn):
                original(self, timeout)
            if ticket is not None and self.is_alive():
                lane.session.finish(ticket, _ENDED)
            elif works and not self.is_alive():
                go_on(lane)
        if not self.is_alive():
            follow_origin(self)

    return join


def _is_to_end(thread: Any, activity: Activity) -> bool:
    """Whether a thread that is alive has work of the session; one without, of a pool, ends by itself."""
    return activity.is_known(thread.ident) or "run" in vars(thread)


def _join_for_good(original: Callable[..., Any], thread: Any, timeout: float | None, activity: Activity) -> None:
    key = threading.get_ident()
    with joining(thread, partial(activity.wake, key)):
        activity.wait(key)
        try:
            original(thread, timeout)
        finally:
            activity.wake(key)


def _wait_for_end(thread: Any, activity: Activity, turn: Turn) -> bool:
    """Wait without real time; whether the thread ends before the limit is reached."""
    gate = Gate(activity)
    with joining(thread, gate.release):
        return turn.wait_at(gate)
