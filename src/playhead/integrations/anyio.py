"""The worker threads of anyio on asyncio, as of ``anyio.to_thread.run_sync``: each call has a lane of its own.

anyio hands its calls to threads by a queue of its own and reports what came of them to the loop, so no pool tells of
them. A call is at work from when it is handed over until its report has reached the loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Activity, Lane, Patches, current_lane
from playhead.integrations._callables import name_callable, run_in
from playhead.integrations._imports import when_imported

_own = threading.local()


def install(patches: Patches) -> None:
    """Give the calls that anyio runs in threads lanes of their own."""

    def patch_anyio(module: ModuleType) -> None:
        backend = module.AsyncIOBackend
        patches.replace(backend, "run_sync_in_worker_thread", _handing_over(backend.run_sync_in_worker_thread))
        patches.replace(module, "set", InOrder)
        patches.replace(module.WorkerThread, "__init__", _making_worker(module.WorkerThread.__init__))

    def patch_loop(module: ModuleType) -> None:
        loop = module.BaseEventLoop
        patches.replace(loop, "call_soon_threadsafe", _reporting(loop.call_soon_threadsafe))

    when_imported("anyio._backends._asyncio", patch_anyio, patches)
    when_imported("asyncio.base_events", patch_loop, patches)


class InOrder(dict[Any, None]):
    """A set that is gone through in the order in which it was filled: anyio cancels its scopes as they lie in one."""

    def __init__(self, given: Iterable[Any] = ()) -> None:
        super().__init__(dict.fromkeys(given))

    def add(self, each: Any) -> None:
        """Have it among them."""
        self[each] = None

    def remove(self, each: Any) -> None:
        """Have it no longer; a `KeyError` where it is not among them."""
        del self[each]

    def discard(self, each: Any) -> None:
        """Have it no longer."""
        self.pop(each, None)


class _Work:
    """One call that a thread is to make."""

    def __init__(self, lane: Lane, function: Callable[..., Any]) -> None:
        self._lane = lane
        self._function = function
        self._activity: Activity = lane.activity
        self._is_expected = False

    def expect(self) -> None:
        """A thread has it: until then it may wait for one, and for its loop."""
        self._is_expected = True
        self._activity.begin(self)

    def __call__(self, *args: Any) -> Any:
        self._activity.begin(threading.get_ident())
        _own.work = self
        self.forget()
        return run_in(self._lane, self._function, *args)

    def forget(self) -> None:
        """It has begun, or never will."""
        if self._is_expected:
            self._is_expected = False
            self._activity.end(self)

    def reported(self) -> None:
        """Its thread has handed over what came of it."""
        self._activity.end(threading.get_ident())


def _making_worker(original: Callable[..., None]) -> Callable[..., None]:
    @wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        put = self.queue.put_nowait

        def put_nowait(item: Any) -> None:
            if item is not None and isinstance(item[1], _Work):
                item[1].expect()
            put(item)

        self.queue.put_nowait = put_nowait

    return init


def _handing_over(original: Any) -> Any:
    function = original.__func__

    @wraps(function)
    async def run_sync_in_worker_thread(cls: Any, func: Any, args: Any, *more: Any, **options: Any) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            return await function(cls, func, args, *more, **options)
        work = _Work(lane.child(name_callable(func, args)), func)
        try:
            return await function(cls, work, args, *more, **options)
        finally:
            work.forget()

    return classmethod(run_sync_in_worker_thread)


def _reporting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def call_soon_threadsafe(self: Any, callback: Any, *args: Any, **options: Any) -> Any:
        try:
            return original(self, callback, *args, **options)
        finally:
            work = getattr(_own, "work", None)
            if work is not None and getattr(callback, "__name__", "") == "_report_result":
                _own.work = None
                work.reported()

    return call_soon_threadsafe
