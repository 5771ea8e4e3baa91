"""Pools of processes: each piece of work that is handed to one is a child of its own, whichever worker does it.

So it is recorded by itself, and answered from that in a replay, where another worker may do it. Results are handed
over in the recorded order.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Lane, Patches, at_work, current_lane
from playhead.errors import PlayheadError
from playhead.integrations._callables import name_callable
from playhead.integrations._children import ChildProcess, begin
from playhead.integrations._imports import when_imported

_CHUNKS = ("_process_chunk", "mapstar", "starmapstar")
"""Functions of the standard library that carry several calls of another."""


_own = threading.local()


def install(patches: Patches) -> None:
    """Have what is handed to pools cross the boundary."""

    def patch_executor(module: ModuleType) -> None:
        executor = module.ProcessPoolExecutor
        patches.replace(executor, "submit", _submitting(executor.submit))

    def patch_pool(module: ModuleType) -> None:
        pool = module.Pool
        patches.replace(pool, "apply_async", _applying(pool.apply_async))
        patches.replace(pool, "_guarded_task_generation", _generating(pool._guarded_task_generation))
        patches.replace(module.ApplyResult, "__init__", _expecting(module.ApplyResult.__init__))
        for result in (module.ApplyResult, module.MapResult, module.IMapIterator, module.IMapUnorderedIterator):
            patches.replace(result, "_set", _setting(result._set))

    when_imported("concurrent.futures.process", patch_executor, patches)
    when_imported("multiprocessing.pool", patch_pool, patches)


def _lane() -> Lane | None:
    lane = current_lane()
    return None if lane is None or lane.opaque or lane.is_over else lane


def _has_threads(pool: Any) -> bool:
    """Whether it is a pool of threads, which is made of the same classes."""
    return str(type(pool).Process.__qualname__) == "ThreadPool.Process"


def _hand_over(lane: Lane, function: Any) -> tuple[ChildProcess, Any]:
    """A piece of work as a child, and what the worker is to call."""
    name = _name(function)
    child = begin(lane, name, [name], form="task")
    errand = child.ticket.errand
    return child, function if errand is None else errand.wrap(function)


def _name(function: Any) -> str:
    if type(function) is partial and getattr(function.func, "__name__", "") in _CHUNKS and function.args:
        return name_callable(function.args[0])
    return name_callable(function)


def _deliver(child: ChildProcess, code: int, give: Callable[[], None]) -> None:
    """Hand a result over when its turn has come; not on this thread, which has other results to hand over."""
    lane = child.ticket.lane
    if child.is_learned or not child.is_held:
        child.learn(code, "loop")
        give()
        return

    def hand_over() -> None:
        with at_work(lane.session.activity):
            try:
                child.learn(code, "wait")
            except PlayheadError:
                pass  # the replay has failed, and says so
            give()

    _thread.start_new_thread(hand_over, ())


def _submitting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def submit(self: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        lane = _lane()
        if lane is None:
            return original(self, fn, *args, **kwargs)
        child, call = _hand_over(lane, fn)
        try:
            future = original(self, call, *args, **kwargs)
        except BaseException as error:
            child.fail(error)
            raise
        _hold(future, child)
        return future

    return submit


def _hold(future: Any, child: ChildProcess) -> None:
    """Have the result of ``future`` come in its turn; it may be there already."""
    plain, failing = future.set_result, future.set_exception
    future.set_result = lambda result: _deliver(child, 0, partial(plain, result))
    future.set_exception = lambda error: _deliver(child, 1, partial(failing, error))
    child.attend(lambda: not future.done())
    if future.done() and not future.cancelled():
        child.learn(1 if future.exception() is not None else 0, "loop")


def _applying(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def apply_async(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        lane = None if _has_threads(self) else _lane()
        if lane is None:
            return original(self, func, *args, **kwargs)
        _own.child, call = _hand_over(lane, func)
        try:
            return original(self, call, *args, **kwargs)
        except BaseException as error:
            _own.child.fail(error)
            raise
        finally:
            _own.child = None

    return apply_async


def _expecting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def expect(self: Any, pool: Any, *args: Any, **kwargs: Any) -> None:
        original(self, pool, *args, **kwargs)
        child: ChildProcess | None = getattr(_own, "child", None)
        if child is not None:
            _pending(pool)[self._job, 0] = child
            child.attend(lambda: not self.ready())

    return expect


def _pending(pool: Any) -> dict[Any, ChildProcess]:
    found: dict[Any, ChildProcess] | None = getattr(pool, "_playhead_pending", None)
    if found is None:
        found = pool._playhead_pending = {}
    return found


def _generating(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def generate(self: Any, result_job: Any, func: Any, iterable: Any) -> Any:
        lane = None if _has_threads(self) else _lane()
        tasks = original(self, result_job, func, iterable)
        return tasks if lane is None else _handed_over(self, lane.child("map"), tasks)

    return generate


def _handed_over(pool: Any, lane: Lane, tasks: Iterator[Any]) -> Iterator[Any]:
    for job, number, function, args, kwargs in tasks:
        named = function
        if getattr(function, "__name__", "") in _CHUNKS and isinstance(args[0], tuple) and args[0]:
            named = args[0][0]
        child = begin(lane, name_callable(named), [name_callable(named)], form="task")
        _pending(pool)[job, number] = child
        child.attend(lambda child=child: not child.is_learned)  # type: ignore[misc]
        errand = child.ticket.errand
        yield job, number, function if errand is None else errand.wrap(function), args, kwargs


def _setting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def set_result(self: Any, i: int, obj: Any) -> None:
        pool = self._pool
        pending = _pending(pool) if pool is not None else {}
        child = pending.pop((self._job, i), None)
        if child is None:
            original(self, i, obj)
            return

        def give() -> None:
            original(self, i, obj)
            if child.is_held and not pool._cache and pool._state != "RUN":
                pool._outqueue.put(None)  # who takes results may wait for this one, which it has taken before

        _deliver(child, 0 if obj[0] else 1, give)

    return set_result
