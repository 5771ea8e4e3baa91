"""Threads of the recorder's own, which are no part of the run."""

from __future__ import annotations

import threading


def start_unwatched(thread: threading.Thread) -> bool:
    """Start ``thread`` without a lane; whether it could be: at the interpreter's end, or at a limit, there are none."""
    start = threading.Thread.start
    try:
        getattr(start, "__wrapped__", start)(thread)
    except RuntimeError:
        return False
    return True
