"""Processes of `multiprocessing`, however they are started: their ends are told in the recorded order.

One that is forked is told in its first step that it is a child of a run, one that is started anew in what is sent to
it before its main module is imported.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Patches
from playhead.integrations._callables import name_callable
from playhead.integrations._children import (
    attend,
    begin,
    begin_worker,
    child_of,
    counted_once,
    leave_fork,
    starting_lane,
    waiting,
)
from playhead.integrations._imports import when_imported

_POOLS = ("concurrent.futures.process", "multiprocessing.pool")
_own = threading.local()


class _Told:
    """Unpickled, it has the process carry out its order."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (self._source, {})


def install(patches: Patches) -> None:
    """Have the start and the end of processes cross the boundary."""

    def patch_process(module: ModuleType) -> None:
        process = module.BaseProcess
        patches.replace(process, "start", _starting(process.start))
        patches.replace(process, "_bootstrap", _bootstrapping(process._bootstrap))
        patches.replace(process, "join", _joining(process.join))
        patches.replace(process, "terminate", _ending(process.terminate))
        patches.replace(process, "kill", _ending(process.kill))
        patches.replace(process, "is_alive", _asking(process.is_alive))
        patches.replace(process, "exitcode", property(_reading(process.exitcode.fget)))

    def patch_spawn(module: ModuleType) -> None:
        patches.replace(module, "get_preparation_data", _preparing(module.get_preparation_data))

    when_imported("multiprocessing.process", patch_process, patches)
    when_imported("multiprocessing.spawn", patch_spawn, patches)


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def start(self: Any) -> Any:
        lane = starting_lane()
        if lane is None:
            with counted_once():
                return original(self)
        if _is_worker(self):
            _own.errand = begin_worker(lane)
            try:
                with counted_once():
                    return original(self)
            finally:
                _own.errand = None
        name = _name_process(self)
        child = begin(lane, name, [name], form="function")
        _own.errand = child.ticket.errand
        try:
            with counted_once():
                original(self)
        except BaseException as error:
            child.fail(error)
            raise
        finally:
            _own.errand = None
        attend(self, child, self.pid)
        return None

    return start


def _is_worker(process: Any) -> bool:
    """Whether it only does what is handed to a pool: that is a child, and not who happens to do it."""
    return getattr(getattr(process, "_target", None), "__module__", None) in _POOLS


def _name_process(process: Any) -> str:
    target = getattr(process, "_target", None)
    return type(process).__qualname__ if target is None else name_callable(target)


def _bootstrapping(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def bootstrap(self: Any, *args: Any, **kwargs: Any) -> Any:
        errand, _own.errand = getattr(_own, "errand", None), None
        if errand is not None:  # this is a fork of the process that has started it
            leave_fork()
            errand.begin()
        return original(self, *args, **kwargs)

    return bootstrap


def _preparing(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def prepare(*args: Any, **kwargs: Any) -> Any:
        data = original(*args, **kwargs)
        errand = getattr(_own, "errand", None)
        return data if errand is None else {"playhead": _Told(errand.source), **data}

    return prepare


def _joining(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def join(self: Any, timeout: float | None = None) -> Any:
        child = child_of(self)
        if child is None:
            return original(self, timeout)

        def live(within: float | None) -> int | None:
            with waiting():
                original(self, within)
            code: int | None = self._popen.returncode
            return code

        child.wait(timeout, live)
        return None

    return join


def _ending(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def end(self: Any) -> Any:
        child = child_of(self)
        if child is not None:
            child.let_come(self.pid)
        return original(self)

    return end


def _asking(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def is_alive(self: Any) -> Any:
        return original(self) if _may_tell(self) else True

    return is_alive


def _reading(original: Callable[..., Any]) -> Callable[..., Any]:
    def exitcode(self: Any) -> Any:
        return original(self) if _may_tell(self) else None

    return exitcode


def _may_tell(process: Any) -> bool:
    """Whether it may be told whether ``process`` has ended; if it has, that is now learned."""
    child = child_of(process)
    if child is None:
        return True
    if not child.may_be_asked():
        return False
    if child.is_held:
        with waiting():
            process._popen.wait()
    code = process._popen.poll()
    if code is not None:
        child.learn(code, "poll")
    return True
