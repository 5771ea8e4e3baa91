"""Processes: what a run has waiting is kept before one ends abruptly, and the start of another one is noticed.

What a child process observes does not cross this process's boundary. Each start is noted once, whether by
`subprocess` (and so `os.popen` and asyncio), `multiprocessing`, ``os.system``, ``os.posix_spawn`` or a fork.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Patches, announce_abrupt_end, current_lane
from playhead.integrations._callables import name_callable
from playhead.integrations._imports import when_imported

_ENDS = ("_exit", "abort", "execv", "execve")
_STARTS = ("posix_spawn", "posix_spawnp", "system")
_NEAR = 10
"""How many callers up a start is looked for who asked for it."""

_OF_THE_MACHINE = ("platform", "ctypes.util", "uuid")
_own = threading.local()
_watching_forks = False


def install(patches: Patches) -> None:
    """Keep what waits before the process ends; notice processes that it starts."""
    for name in _ENDS:
        if hasattr(os, name):
            patches.replace(os, name, _announced(getattr(os, name)))
    for name in _STARTS:
        if hasattr(os, name):
            patches.replace(os, name, _noticed(getattr(os, name), _name_program))

    def patch_popen(module: ModuleType) -> None:
        started = _noticed(module.Popen.__init__, lambda popen, args, *_: _name_program(args))
        patches.replace(module.Popen, "__init__", started)

    def patch_process(module: ModuleType) -> None:
        patches.replace(module.BaseProcess, "start", _noticed(module.BaseProcess.start, _name_process))

    when_imported("subprocess", patch_popen, patches)
    when_imported("multiprocessing.process", patch_process, patches)
    _watch_forks()


def _announced(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def end(*args: Any, **kwargs: Any) -> Any:
        announce_abrupt_end()
        return original(*args, **kwargs)

    return end


def _noticed(original: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
    @wraps(original)
    def start(*args: Any, **kwargs: Any) -> Any:
        with _counted_once():
            result = original(*args, **kwargs)
        _notice(partial(name, *args, **kwargs))
        return result

    return start


@contextmanager
def _counted_once() -> Iterator[None]:
    """What a start is made of, such as a fork, is not noted beside it."""
    depth = getattr(_own, "depth", 0)
    _own.depth = depth + 1
    try:
        yield
    finally:
        _own.depth = depth


def _watch_forks() -> None:
    """Notice plain forks. The interpreter offers no way to take such a hook out again: outside a run it does nothing.

    It is asked rather than ``os.fork`` replaced, since that is often imported by its name.
    """
    global _watching_forks
    if not _watching_forks and hasattr(os, "register_at_fork"):
        _watching_forks = True
        os.register_at_fork(after_in_parent=partial(_notice, lambda: "fork"))


def _notice(name: Callable[[], str]) -> None:
    if getattr(_own, "depth", 0):
        return
    lane = current_lane()
    if lane is None or lane.opaque or _asks_the_machine():
        return
    try:
        program = name()
    except Exception:  # arguments that only the original understood
        program = "?"
    lane.session.notice(lane, "child process", {"program": program})


def _asks_the_machine() -> bool:
    """Whether the standard library has started a child to learn about the machine: ``uname``, ``ldconfig``, ``ip``.

    SDKs and libraries have it do so for headers and when they are imported. What it learns is the same for every run on
    the machine, and no part of what the agent observes.
    """
    frame: Any = sys._getframe(1)
    for _ in range(_NEAR):
        if frame is None:
            return False
        if frame.f_globals.get("__name__") in _OF_THE_MACHINE:
            return True
        frame = frame.f_back
    return False


def _name_program(command: Any, *_: Any, **__: Any) -> str:
    """The program's file name, without its arguments: they belong to it."""
    if isinstance(command, list | tuple):
        command = command[0]
    elif isinstance(command, str):
        command = command.split(maxsplit=1)[0]
    return os.path.basename(os.fsdecode(command))


def _name_process(process: Any) -> str:
    target = getattr(process, "_target", None)
    return type(process).__qualname__ if target is None else name_callable(target)
