"""Counting the processes that a program starts: what they observe is neither recorded nor replayed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Final

from playhead.boundary import Patches, current_lane
from playhead.integrations._imports import when_imported

_NAME: Final = "processes that the program started"


def watch_processes() -> None:
    """From now on, until this process ends, tell the session of each process that is started outside a tool."""
    patches = Patches()
    patches.replace(subprocess.Popen, "__init__", _noticed(subprocess.Popen.__init__))
    for name in ("system", "posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            patches.replace(os, name, _noticed(getattr(os, name)))
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_parent=_notice)
    for name in ("popen_spawn_posix", "popen_forkserver", "popen_spawn_win32"):
        when_imported(f"multiprocessing.{name}", _watch_launching(patches), patches)


def _watch_launching(patches: Patches) -> Callable[[ModuleType], None]:
    def watch(module: ModuleType) -> None:
        owner: Any = vars(module)["Popen"]
        patches.replace(owner, "__init__", _noticed(owner.__init__))

    return watch


def _noticed(start: Any) -> Any:
    @wraps(start)
    def noticed(*args: Any, **kwargs: Any) -> Any:
        _notice()
        return start(*args, **kwargs)

    return noticed


def _notice() -> None:
    lane = current_lane()
    if lane is not None and not lane.opaque:
        lane.session.notice(lane, _NAME)
