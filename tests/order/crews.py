"""Threads that work beside one another, and the tool that they call."""

from __future__ import annotations

import itertools
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


LENGTHS = itertools.cycle([0, 200_000, 30_000, 400_000, 100_000, 0, 300_000])


def compute() -> None:
    """Up to some 8 ms of computing, in a replay of another length: long enough for another thread to come between."""
    for _ in range(next(LENGTHS)):
        pass
