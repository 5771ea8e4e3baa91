"""Threads that work beside one another, and the tool that they call."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Any

import playhead


@playhead.tool
def look(question: Any) -> Any:
    """A tool that takes its time."""
    time.sleep(random.uniform(0, 0.006))
    return question


def in_threads(work: Callable[[int], None], count: int, between: Callable[[], None] = lambda: None) -> None:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    between()
    for thread in threads:
        thread.join()


def compute(length: int) -> None:
    """Up to some 8 ms of computing, for a length of up to 7: long enough for another thread to come between."""
    for _ in range(length % 8 * 50_000):
        pass
