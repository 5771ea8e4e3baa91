"""Threads and thread pools: each thread, and each call handed to a pool, has a lane of its own.

Only the lane goes into the new thread, not the rest of the context: that is the program's affair.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Lane, Patches, at_work, current_lane
from playhead.integrations._callables import name_callable, placed_in, run_in
from playhead.integrations._imports import when_imported
from playhead.integrations._joiners import wake_joiners
from playhead.integrations._lane_tasks import place_future
from playhead.integrations._origins import follow_origin, ran_in
from playhead.integrations._places import pass_by, waiting_here, waiting_nowhere
from playhead.integrations._pooled import Pooled, finishing, shutting_down

_ABSENT: Any = object()
_POOLS = ("concurrent.futures.", "anyio.", "asyncio.", "multiprocessing.")
"""Modules whose threads only wait for work: the work brings its lane, the thread has none."""
_LIBRARIES = ("asyncio.", "concurrent.futures.")


def install(patches: Patches) -> None:
    """Give threads, and the calls and callbacks of thread pools, lanes of their own."""

    def patch_pool(module: ModuleType) -> None:
        patches.replace(module.ThreadPoolExecutor, "submit", _submitting(module.ThreadPoolExecutor.submit))
        patches.replace(module.ThreadPoolExecutor, "shutdown", shutting_down(module.ThreadPoolExecutor.shutdown))
        patches.replace(module._WorkItem, "run", finishing(module._WorkItem.run))

    def patch_future(module: ModuleType) -> None:
        future = module.Future
        patches.replace(future, "add_done_callback", _calling_back(future.add_done_callback))
        patches.replace(future, "result", _getting(future.result))
        patches.replace(future, "exception", _getting(future.exception))

    patches.replace(threading.Thread, "start", _starting(threading.Thread.start))
    when_imported("concurrent.futures.thread", patch_pool, patches)
    when_imported("concurrent.futures._base", patch_future, patches)


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def start(self: threading.Thread) -> None:
        lane = current_lane()
        if lane is None:
            original(self)
            return
        activity, expected = lane.activity, object()
        if _waits_for_work(self):
            activity.begin(expected)  # whoever starts it waits for it to be there, and that nobody else brings about
            try:
                with waiting_nowhere():
                    original(self)
            finally:
                activity.end(expected)
            return
        activity.begin(expected)  # at work before it runs: whoever starts it may come to rest first
        put_back = _enter_at_start(self, lane.child(_name_thread(self)), lambda: activity.end(expected))
        number = lane.count("wait")
        try:
            with waiting_nowhere():
                original(self)
        except BaseException:
            put_back()
            activity.end(expected)
            raise
        if not lane.opaque:
            lane.session.open(lane, waited=number)  # the thread may have done something by now

    return start


def _enter_at_start(thread: Any, lane: Lane, begun: Callable[[], None]) -> Callable[[], None]:
    """Have ``thread.run`` run in ``lane``, once; calling what is returned makes it as before."""
    run, own = thread.run, vars(thread).get("run", _ABSENT)
    ran_in(thread, lane)

    def put_back() -> None:
        if own is not _ABSENT:
            thread.run = own
        elif "run" in vars(thread):
            del thread.run

    def run_in_lane() -> None:
        put_back()
        target = getattr(thread, "_target", None)
        if target is not None:
            thread._target, thread._args = placed_in(lane, target, tuple(thread._args))
        with at_work(lane.activity):
            begun()
            try:
                run_in(lane, run)
            finally:
                wake_joiners(thread, is_ending=True)

    thread.run = run_in_lane
    return put_back


def _name_thread(thread: Any) -> str:
    if isinstance(thread, threading.Timer):
        return name_callable(thread.function)
    target = getattr(thread, "_target", None)
    if target is None or type(thread).run is not threading.Thread.run:
        return type(thread).__qualname__
    return name_callable(target, getattr(thread, "_args", ()))


def _waits_for_work(thread: Any) -> bool:
    target = getattr(thread, "_target", None)
    home = type(thread).__module__ if target is None else getattr(target, "__module__", None)
    return isinstance(home, str) and home.startswith(_POOLS)


def _submitting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        lane = current_lane()
        if lane is None:
            return original(self, fn, *args, **kwargs)
        child = lane.child(name_callable(fn, args))
        placed, leading = placed_in(child, fn, args)
        activity = lane.activity
        number, before = lane.count("wait"), len(self._threads)
        if not activity.is_followed:
            future = original(self, placed, *leading, **kwargs)
        else:
            work = Pooled(self, child)
            future = original(self, work.run, placed, *leading, **kwargs)
            work.watch(future)
        if not lane.opaque and (activity.is_followed or len(self._threads) > before):
            lane.session.open(lane, waited=number)  # the thread that was started may have done something by now
        place_future(future, child.name)
        return ran_in(future, child)

    return submit


def _getting(original: Callable[..., Any]) -> Callable[..., Any]:
    """Whoever has the result of a piece of work goes on after it."""

    @wraps(original)
    def get(self: Any, timeout: float | None = None) -> Any:
        try:
            with waiting_here():
                if self.done():
                    pass_by()
                return original(self, timeout)
        finally:
            if self.done():
                follow_origin(self)

    return get


def _calling_back(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def add_done_callback(self: Any, fn: Any) -> Any:
        lane = current_lane()
        if lane is None or str(getattr(fn, "__module__", "")).startswith(_LIBRARIES):
            return original(self, fn)
        # Its own lane, since it runs beside the lane that added it.
        return original(self, partial(run_in, lane.child(name_callable(fn)), fn))

    return add_done_callback
