"""Processes: what a run has waiting is kept before one ends abruptly, and the start of another one is noticed.

What a process observes that is started by ``os.system``, ``os.posix_spawn`` or a plain fork is not seen. Each such
start is noted once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from playhead.boundary import Patches, announce_abrupt_end, current_lane
from playhead.integrations._children import asks_the_machine, counted_once, is_counted

_ENDS = ("_exit", "abort", "execv", "execve")
_STARTS = ("posix_spawn", "posix_spawnp", "system")
_watching_forks = False


def install(patches: Patches) -> None:
    """Keep what waits before the process ends; notice processes that it starts."""
    for name in _ENDS:
        if hasattr(os, name):
            patches.replace(os, name, _announced(getattr(os, name)))
    for name in _STARTS:
        if hasattr(os, name):
            patches.replace(os, name, _noticed(getattr(os, name), _name_program))

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
        with counted_once():
            result = original(*args, **kwargs)
        _notice(partial(name, *args, **kwargs))
        return result

    return start


def _watch_forks() -> None:
    """Notice plain forks. The interpreter offers no way to take such a hook out again: outside a run it does nothing.

    It is asked rather than ``os.fork`` replaced, since that is often imported by its name.
    """
    global _watching_forks
    if not _watching_forks and hasattr(os, "register_at_fork"):
        _watching_forks = True
        os.register_at_fork(after_in_parent=partial(_notice, lambda: "fork"))


def _notice(name: Callable[[], str]) -> None:
    if is_counted():
        return
    lane = current_lane()
    if lane is None or lane.opaque or asks_the_machine():
        return
    try:
        program = name()
    except Exception:  # arguments that only the original understood
        program = "?"
    lane.session.notice(lane, "child process", {"program": program})


def _name_program(command: Any, *_: Any, **__: Any) -> str:
    """The program's file name, without its arguments: they belong to it."""
    if isinstance(command, list | tuple):
        command = command[0]
    elif isinstance(command, str):
        command = command.split(maxsplit=1)[0]
    return os.path.basename(os.fsdecode(command))
