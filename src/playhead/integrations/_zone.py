"""The time zone of the process: read when a run is recorded, applied when it is replayed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from playhead._system import ENVIRONMENT

_localtime = time.localtime
_ZONES = "zoneinfo/"


def read_zone() -> tuple[str, int]:
    """The name of the local time zone, as good as it can be known, and its present offset from UTC in seconds."""
    now = _localtime()
    return _zone_name() or now.tm_zone, now.tm_gmtoff


def apply_zone(name: str) -> Callable[[], None]:
    """Make ``name`` the local time zone of the process; call what is returned to have the former one back.

    Does nothing where the system cannot change the zone of a running process (Windows).
    """
    change = getattr(time, "tzset", None)
    if change is None:
        return lambda: None
    before = ENVIRONMENT.get("TZ")
    os.environ["TZ"] = name
    change()

    def put_back() -> None:
        if before is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = before
        change()

    return put_back


def _zone_name() -> str | None:
    named = ENVIRONMENT.get("TZ", "").removeprefix(":")
    if named:
        return named.partition(_ZONES)[2] or named
    try:
        return os.path.realpath("/etc/localtime").partition(_ZONES)[2] or Path("/etc/timezone").read_text().strip()
    except OSError:
        return None
