"""Threads of the recorder's own, which are no part of the run."""

from __future__ import annotations

import threading
from typing import Any

from playhead.boundary import outside_runs


def start_unwatched(thread: threading.Thread) -> bool:
    """Start ``thread`` without a lane; whether it could be: at the interpreter's end, or at a limit, there are none.

    It has none from its first moment on, when it says that it has started: a crossing there would wait for the
    writer while the writer may wait for just that.
    """
    begun: Any = thread
    bootstrap = begun._bootstrap

    def begin() -> None:
        with outside_runs():
            bootstrap()

    begun._bootstrap = begin
    start: Any = threading.Thread.start
    while hasattr(start, "__wrapped__"):  # more than once where somebody else has wrapped it too
        start = start.__wrapped__
    try:
        start(thread)
    except RuntimeError:
        return False
    return True
