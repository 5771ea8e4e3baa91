"""Those who wait for a thread to end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NAME = "_playhead_joiners"
_ENDING = "_playhead_ending"
_lock = threading.Lock()


@contextmanager
def joining(thread: threading.Thread, wake: Callable[[], None]) -> Iterator[None]:
    """While the block lasts, have ``wake`` called as ``thread`` is about to end; at once where it has ended."""
    with _lock:
        is_over = _ENDING in vars(thread) or not thread.is_alive()
        waiting: deque[Any] = vars(thread).setdefault(_NAME, deque())
        waiting.append(wake)
    if is_over:
        wake()
    try:
        yield
    finally:
        with _lock:
            if wake in waiting:
                waiting.remove(wake)


def wake_joiners(thread: threading.Thread, *, is_ending: bool) -> None:
    """``thread`` is about to end, or, of a pool, has nothing to do: those who wait for that go on."""
    with _lock:
        if is_ending:
            vars(thread)[_ENDING] = True
        waiting = tuple(vars(thread).pop(_NAME, ()))
    for wake in waiting:
        wake()
