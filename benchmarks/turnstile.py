"""What the recorded order costs: a sequential replay with the turnstile and without it, and replays of growing size.

First the same calls, one after the other, are replayed with the turnstile and with a stand-in that lets everything go
at once, in turn and many times. Then recordings of 1,000 to 100,000 exchanges in 10 to 1,000 lanes, as tasks, as
threads and mixed, are replayed: what an exchange costs must not grow. Last, what tasks that cross nothing pay while
they are recorded or replayed. ``python benchmarks/turnstile.py 10000`` leaves the sizes above 10,000 out.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from _material import completion, dumped, message
from _measuring import Figure, gauge, report
from growth import ask
from replaying import bodies, recorded

import playhead
from playhead.boundary import Activity, Call, Lane, Pause, Returned, Ticket
from playhead.player import _session

SIZES = ((1_000, 10), (10_000, 100), (100_000, 1_000))
"""Exchanges, and lanes in which they are made."""

THREADS = 100
"""More threads than these at once say more about the system than about a replay."""

CALLS = {"sync tools": 1_000, "async tools": 1_000, "model calls": 120}
ROUNDS = 31
LONGEST = 1.25
"""So many times as much as in the smallest recording may an exchange cost in the largest."""

ANSWER = dumped(completion(random.Random(3), message(random.Random(4), "assistant", 400)))
REQUESTS = list(bodies(CALLS["model calls"]))


@playhead.tool
def look_up(order: str, limit: int) -> dict[str, Any]:
    """A small tool, after which another thread may go on."""
    time.sleep(0)
    return {"order": order, "status": "shipped", "limit": limit}


@playhead.tool
async def look_up_async(order: str, limit: int) -> dict[str, Any]:
    """A small tool that is awaited."""
    await asyncio.sleep(0)
    return {"order": order, "status": "shipped", "limit": limit}


class Unordered:
    """In the place of a replay's `Ordering`: every answer may be given at once, and time stays real."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.activity = Activity()
        self.stile = self.course = self

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """A thread begins at once."""
        return True

    def await_others(self) -> None:
        """Nobody is waited for."""

    def asked(self, *_: Any) -> None:
        """Nothing follows from a question."""

    def comes_alone(self, *_: int) -> bool:
        """The answer has no turn."""
        return True

    def answer(self, *_: Any) -> None:
        """A stream has no turns."""

    def finished(self, index: int) -> None:
        """Nothing waits for it."""

    def pause(self, lane: Lane, call: Call, pause: Pause) -> Ticket:
        """A sleep takes no time."""
        return Ticket(lane, call, answer=Returned(None))

    def tell_time(self, now: float) -> float:
        """The real time."""
        return now

    def end(self, error: BaseException) -> None:
        """Nobody waits."""


def use_tools() -> None:
    """One after the other."""
    for at in range(CALLS["sync tools"]):
        look_up(f"A-{at}", limit=at)


async def await_tools(first: int = 0, count: int = CALLS["async tools"]) -> None:
    """One after the other."""
    for at in range(first, first + count):
        await look_up_async(f"A-{at}", limit=at)


def ask_models() -> None:
    """One after the other."""
    for body in REQUESTS:
        ask(body, ANSWER)


def sequential(folder: str) -> list[Figure]:
    """With the turnstile beside without it."""
    figures = []
    works: dict[str, Callable[[], Any]] = {
        "sync tools": use_tools,
        "async tools": lambda: asyncio.run(await_tools()),
        "model calls": ask_models,
    }
    for name, work in works.items():
        path = recorded(folder, work)
        seen: dict[str, list[float]] = {"with": [], "without": []}
        for number in range(ROUNDS + 2):
            gauge()
            turns = ("with", "without") if number % 2 else ("without", "with")
            for each in turns:
                cost = replay_cost(path, folder, work, ordered=each == "with")
                if number >= 2:
                    seen[each].append(cost / CALLS[name] * 1e6)
        ratio = statistics.median(
            ordered / unordered for ordered, unordered in zip(seen["with"], seen["without"], strict=True)
        )
        middle = {each: statistics.median(costs) for each, costs in seen.items()}
        figures.append(
            Figure(f"{name}, one after the other", middle["with"], "us").beside_of("no turnstile", middle["without"])
        )
        figures.append(Figure("what the turnstile adds, median of pairs", (ratio - 1) * 100, "%", 5.0))
        counts = [instructions(partial(replay_cost, path, folder, work, ordered=each)) for each in (True, False)]
        figures.append(
            Figure("the same in instructions of the interpreter", (counts[0] / counts[1] - 1) * 100, "%", 5.0)
        )
    return figures


def instructions(action: Callable[[], object]) -> int:
    """How many the interpreter carries out in this thread for Python code: the same number each time.

    What is done in C counts as one, in both. Time tells of that as well, and on a busy machine of much else.
    """
    count = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def replay_cost(path: Path, folder: str, work: Callable[[], Any], *, ordered: bool) -> float:
    """Seconds of processor time of this thread for a replay, loading included."""
    begun = time.thread_time()
    if ordered:
        with playhead.replay(path, store=folder):
            work()
    else:
        with patch.object(_session, "Ordering", Unordered), playhead.replay(path, store=folder):
            work()
    return time.thread_time() - begun


def in_tasks(count: int, lanes: int) -> None:
    """Exchanges in so many tasks at once."""

    async def main() -> None:
        each = count // lanes
        await asyncio.gather(*(await_tools(lane * each, each) for lane in range(lanes)))

    asyncio.run(main())


def call_tools(first: int, count: int) -> None:
    """One after the other, in a thread."""
    for at in range(first, first + count):
        look_up(f"A-{at}", limit=at)


def in_threads(count: int, lanes: int) -> None:
    """Exchanges in so many threads at once."""
    lanes = min(lanes, THREADS)
    each = count // lanes
    threads = [threading.Thread(target=call_tools, args=(lane * each, each)) for lane in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def mixed(count: int, lanes: int) -> None:
    """Half of the exchanges in tasks, half in the threads of a pool."""

    async def main() -> None:
        loop = asyncio.get_running_loop()
        half, beside = lanes // 2, min(lanes // 2, THREADS)
        each = count // 2 // half
        more = count // 2 // beside
        with ThreadPoolExecutor(beside) as pool:
            work = [loop.run_in_executor(pool, call_tools, -lane * more, more) for lane in range(1, beside + 1)]
            await asyncio.gather(*work, *(await_tools(lane * each, each) for lane in range(half)))

    asyncio.run(main())


SHAPES: dict[str, Callable[[int, int], None]] = {"tasks": in_tasks, "threads": in_threads, "mixed": mixed}


def sizes(folder: str, most: int) -> tuple[list[Figure], list[dict[str, Any]]]:
    """What an exchange costs by the size of the recording."""
    figures, rows = [], []
    for shape in SHAPES:
        first = None
        for count, lanes in SIZES:
            if count > most:
                continue
            gauge()
            row = in_a_process("record", folder, shape, count, lanes)
            for _ in range(3 if count < 100_000 else 1):
                gauge()
                again = in_a_process("replay", folder, shape, count, lanes, row["run"])
                row = {**again, **row, "replay_us": min(again["replay_us"], row.get("replay_us", math.inf))}
            if shape == "mixed":
                row["unordered_us"] = in_a_process("unordered", folder, shape, count, lanes, row["run"])["unordered_us"]
            rows.append(row)
            what = f"{count:,} exchanges, {row['lanes']:,} {shape}: replayed"
            figures.append(Figure(what, row["replay_us"], "us").beside_of("recorded", row["record_us"]))
            if first is not None:
                beside = Figure(f"its exchange to one of {first['exchanges']:,}", row["replay_us"], "us")
                figures.append(replace(beside.beside_of("", first["replay_us"]), ratio_budget=LONGEST))
                if "unordered_us" in row:
                    grown = Figure("the same with no turnstile", row["unordered_us"], "us")
                    figures.append(grown.beside_of("", first["unordered_us"]))
            figures.append(Figure("most memory beyond that at the start, an exchange", row["memory_kb"], "kB"))
            first = first or row
    return figures, rows


def in_a_process(*words: object) -> dict[str, Any]:
    """What `measured` gives in a process of its own: what is left of one measurement does not disturb the next."""
    done = subprocess.run([sys.executable, __file__, *map(str, words)], stdout=subprocess.PIPE, check=True)
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def measured(doing: str, folder: str, shape: str, count: int, lanes: int, run: str = "") -> dict[str, Any]:
    """Microseconds an exchange, of all threads."""
    work = SHAPES[shape]
    work(100, 2)  # what is imported late
    memory_kb, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    if doing == "record":
        with playhead.record(kind="bench", store=folder) as recorder:
            work(count, lanes)
        run = recorder.id
    elif doing == "replay":
        with playhead.replay(run, store=folder):
            work(count, lanes)
    else:
        with patch.object(_session, "Ordering", Unordered), playhead.replay(run, store=folder):
            work(count, lanes)
    taken_us = (time.process_time() - begun) / count * 1e6
    memory_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory_kb
    at_once = {"tasks": lanes, "threads": min(lanes, THREADS), "mixed": lanes // 2 + min(lanes // 2, THREADS)}
    row = {"shape": shape, "exchanges": count, "lanes": at_once[shape], "run": run, f"{doing}_us": taken_us}
    return row if doing == "record" else {**row, "memory_kb": memory_kb / count}


def main() -> None:
    if sys.argv[1:2] in (["record"], ["replay"], ["unordered"]):
        doing, folder, shape, count, lanes, *run = sys.argv[1:]
        print(json.dumps(measured(doing, folder, shape, int(count), int(lanes), *run)))
        return
    most = next((int(word) for word in sys.argv[1:] if word.isdigit()), SIZES[-1][0])
    with tempfile.TemporaryDirectory() as folder:
        figures = sequential(folder)
        grown, rows = sizes(folder, most)
    report("turnstile", [*figures, *grown], note="Processor time; loading included.", extra={"sizes": rows})


if __name__ == "__main__":
    main()
