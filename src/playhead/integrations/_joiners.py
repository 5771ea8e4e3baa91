"""Those who wait for a thread to end."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

_NAME = "_playhead_joiners"


def joiners(thread: threading.Thread) -> deque[Any]:
    """Who waits for ``thread``: their keys, each with the activity in which it waits."""
    found: deque[Any] = vars(thread).setdefault(_NAME, deque())
    return found


def wake_joiners(thread: threading.Thread) -> None:
    """``thread`` is about to end: those who wait for that go on."""
    for key, activity in vars(thread).pop(_NAME, ()):
        activity.wake(key)
