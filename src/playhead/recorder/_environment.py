"""What a replay has to know of the machine, the versions and the code that a run had."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from playhead._system import ENVIRONMENT, python_version
from playhead.boundary import outside_runs
from playhead.events import Environment
from playhead.recorder._threads import start_unwatched

_GIT_WITHIN_S = 2.0


def read_environment(zone: tuple[str, int], code: dict[str, Any]) -> Environment:
    """The environment of this process, read now.

    ``zone`` is its time zone's name and offset from UTC in seconds, ``code`` what `read_code` said.
    """
    return Environment(
        python=python_version(),
        platform=f"{sys.platform}-{os.uname().machine}" if hasattr(os, "uname") else sys.platform,
        timezone=zone[0],
        utc_offset_s=zone[1],
        locale=ENVIRONMENT.get("LC_ALL") or ENVIRONMENT.get("LANG"),
        hash_seed=ENVIRONMENT.get("PYTHONHASHSEED"),
        packages=read_packages(),
        code=code,
    )


def read_packages() -> dict[str, str]:
    """The versions of the packages that are imported now, by top-level name, as they say themselves."""
    names = {name.partition(".")[0] for name in list(sys.modules)} - set(sys.stdlib_module_names)
    found: dict[str, str] = {}
    for name in sorted(names):
        version = vars(sys.modules.get(name, object)).get("__version__")
        if isinstance(version, str) and not name.startswith("_"):
            found[name] = version
    genai = sys.modules.get("google.genai.version")
    if genai is not None:
        found["google.genai"] = str(vars(genai).get("__version__"))
    return found


class CodeReader:
    """Asks for the code's version on a thread of its own, since git takes as long as the checkout is large."""

    def __init__(self, folder: str, arrived: Callable[[], None]) -> None:
        """``arrived`` is called, on that thread, when the answer is there."""
        self._folder = folder
        self._arrived = arrived
        self._known = threading.Event()
        self._code: dict[str, Any] = {}
        start_unwatched(threading.Thread(target=self._read, name="playhead-code", daemon=True))

    def _read(self) -> None:
        with outside_runs():
            self._code = read_code(self._folder)
        self._known.set()
        self._arrived()

    def take(self, *, within_s: float = _GIT_WITHIN_S * 2) -> dict[str, Any] | None:
        """The version the first time that it is known, within so many seconds; else, and later, ``None``."""
        if not self._known.wait(within_s):
            return None
        code, self._code = self._code, {}
        return code or None


@cache
def read_code(folder: str) -> dict[str, Any]:
    """The commit of the git checkout around ``folder`` and whether it has changes; empty where there is none."""
    if not any((parent / ".git").exists() for parent in (Path(folder), *Path(folder).parents)):
        return {}
    commit = _ask_git(folder, "rev-parse", "HEAD")
    status = _ask_git(folder, "status", "--porcelain", "--untracked-files=no")
    return {} if commit is None else {"commit": commit, "dirty": bool(status)}


def _ask_git(folder: str, *words: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", folder, *words], capture_output=True, text=True, timeout=_GIT_WITHIN_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
