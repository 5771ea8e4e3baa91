"""How late recording makes an event loop, and how long it keeps the interpreter from other threads.

An agent's loop takes in 20 model events a second: answers of a 12 kB conversation that grows, and now and then a
tool result of a megabyte. A task that wakes every millisecond notes how late it is; so does a thread, which is as
late as whoever held the interpreter lock. Rounds with and without recording take turns: what the machine does
besides is in both, and the figure is the difference.
"""

from __future__ import annotations

import asyncio
import gc
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from _material import rows
from _measuring import Figure, report
from caller import Bodies, ask

import playhead

ROUNDS = 8
SECONDS = 2.5
EVERY_S = 0.05
TICK_S = 0.001
_sleep = time.sleep


@playhead.tool
def fetch(size: int) -> Any:
    """A large tool result, made beforehand so that only recording it is measured."""
    return LARGE


LARGE = rows(random.Random(3), 1 << 20)


class Ticker(threading.Thread):
    """Wakes every half millisecond; ``late`` holds the milliseconds that it came too late."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.late: list[float] = []
        self.going = True

    def run(self) -> None:
        while self.going:
            begun = time.perf_counter()
            _sleep(TICK_S / 2)
            self.late.append((time.perf_counter() - begun - TICK_S / 2) * 1e3)


async def tick(late: list[float]) -> None:
    """Wake every millisecond and note the milliseconds beyond it."""
    while True:
        begun = time.perf_counter()
        await asyncio.sleep(TICK_S)
        late.append((time.perf_counter() - begun - TICK_S) * 1e3)


async def agent(bodies: Iterator[bytes], late: list[float], large: Callable[[], object] | None) -> None:
    """Take in events at their pace for the length of a round; the loop's own lateness goes to ``late``."""
    ticking = asyncio.create_task(tick(late))
    until = time.perf_counter() + SECONDS
    number = 0
    while time.perf_counter() < until:
        number += 1
        ask(bodies)
        if large is not None and number % 10 == 0:
            large()
        await asyncio.sleep(EVERY_S)
    ticking.cancel()


def measure(*, recorded: bool, large: bool) -> dict[str, float]:
    """One round: lateness of the loop at the median and at the 99th percentile, and the longest wait of a thread."""
    bodies, late, ticker = iter(Bodies(new=2)), [], Ticker()
    gc.collect()

    def play() -> None:
        ticker.start()
        asyncio.run(agent(bodies, late, (lambda: fetch(1)) if large else None))
        ticker.going = False
        ticker.join()

    if recorded:
        with tempfile.TemporaryDirectory() as folder, playhead.record(kind="bench", store=folder):
            _sleep(0.3)  # the run's beginning is no part of its pace
            play()
    else:
        play()
    cuts = statistics.quantiles(late, n=100)
    return {"p50": cuts[49], "p99": cuts[98], "longest": max(ticker.late)}


def compare(*, large: bool) -> dict[str, dict[str, float]]:
    """Medians over the rounds, with and without recording."""
    seen: dict[bool, list[dict[str, float]]] = {True: [], False: []}
    measure(recorded=True, large=large)
    for _ in range(ROUNDS):
        for recorded in (False, True):
            seen[recorded].append(measure(recorded=recorded, large=large))
    return {
        name: {what: statistics.median(each[what] for each in rounds) for what in rounds[0]}
        for name, rounds in (("bare", seen[False]), ("recorded", seen[True]))
    }


def main() -> None:
    figures = []
    raw = {}
    for large, label in ((False, "20 model events a second"), (True, "and two results of 1 MB")):
        found = raw[label] = compare(large=large)
        bare, recorded = found["bare"], found["recorded"]
        more = {what: max(0.0, recorded[what] - bare[what]) for what in bare}
        budget = 1.0 if not large else None
        figures += [
            Figure(f"loop lateness caused, p50, {label}", more["p50"], "ms", None, "without", bare["p50"]),
            Figure(f"loop lateness caused, p99, {label}", more["p99"], "ms", budget, "without", bare["p99"]),
            Figure(f"longest hold of the lock, {label}", more["longest"], "ms", 5.0, "without", bare["longest"]),
        ]
    report("lateness", figures, note="Figures are with recording minus without; beside them those without.", extra=raw)


if __name__ == "__main__":
    main()
