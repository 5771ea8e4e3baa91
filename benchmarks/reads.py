"""What a read of the clock costs: raw, outside a run, inside one, and by code that is not the agent's.

``python benchmarks/reads.py`` prints a table; ``--json`` prints the figures. Outside and inside are with the
integrations installed; inside, a session that keeps nothing answers, so that the figure is the boundary's own.
"""

from __future__ import annotations

import json
import random
import sys
import time
import timeit
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from _measuring import Figure, keep

from playhead.boundary import Call, Lane, Outcome, Patches, Ticket, in_lane
from playhead.integrations import chance, clock, datetimes
from playhead.integrations._captured import find_captured
from playhead.integrations._scope import Scope
from playhead.integrations._sites import set_scope

ROUNDS = 9
READS = 20_000
BUDGETS = {"outside": 100.0, "inside": 1000.0}
"""Nanoseconds on top of the raw read (DESIGN section 12)."""


class NullSession:
    """Does everything live and keeps nothing."""

    def begin(self, lane: Lane, call: Call) -> Ticket:
        return Ticket(lane, call)

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        pass

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Callable[[], Any]) -> Any:
        return live()

    def follows(self, lane: Lane, after: Lane) -> None:
        pass

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        pass


def read_time(count: range) -> None:
    for _ in count:
        time.time()


def read_datetime(count: range) -> None:
    for _ in count:
        datetime.now()


def draw_random(count: range) -> None:
    for _ in count:
        random.random()


def draw_uuid(count: range) -> None:
    for _ in count:
        uuid.uuid4()


READERS = {"time.time": read_time, "datetime.now": read_datetime, "random.random": draw_random, "uuid.uuid4": draw_uuid}


def measure(read: Callable[[range], None]) -> dict[str, float]:
    """Nanoseconds for one read in each setting, at best; settings take turns, so that all feel the same machine."""
    seen: dict[str, list[float]] = {"raw": [], "outside": [], "inside": [], "not the agent's": []}
    for _ in range(ROUNDS):
        seen["raw"].append(once(read))
        patches = Patches()
        for module in (clock, datetimes, chance):
            module.install(patches)
        seen["outside"].append(once(read))
        with in_lane(Lane(NullSession())):
            seen["inside"].append(once(read))
            set_scope(Scope(exclude=[__name__]))
            seen["not the agent's"].append(once(read))
            set_scope(Scope())
        patches.undo()
    return {setting: min(times) for setting, times in seen.items()}


def once(read: Callable[[range], None]) -> float:
    count = range(READS)
    read(range(100))
    # Processor time: what else the machine does would drown a tenth of a microsecond.
    return min(timeit.repeat(lambda: read(count), timer=time.process_time, number=1, repeat=3)) / READS * 1e9


def measure_start() -> dict[str, float]:
    """Milliseconds to install, to list what was captured and to undo, in a program of 5,000 modules."""
    names = [f"crowd_{at}" for at in range(5000)]
    for name in names:
        module = type(sys)(name)
        vars(module).update({f"name_{at}": at for at in range(20)}, __file__=f"/site-packages/{name}.py")
        sys.modules[name] = module
    seen: dict[str, float] = {}
    patches = Patches()
    steps: dict[str, Callable[[], object]] = {
        "install": lambda: [module.install(patches) for module in (clock, datetimes, chance)],
        "list captured": find_captured,
        "undo": patches.undo,
    }
    for step, act in steps.items():
        began = time.perf_counter()
        act()
        seen[step] = (time.perf_counter() - began) * 1e3
    for name in names:
        del sys.modules[name]
    return seen


def main() -> None:
    figures = {name: measure(read) for name, read in READERS.items()}
    start = measure_start()
    kept = []
    for name, seen in figures.items():
        for setting, budget in BUDGETS.items():
            kept.append(Figure(f"{name} {setting} a run", seen[setting] - seen["raw"], "ns", budget))
    keep("reads", kept)
    if "--json" in sys.argv:
        print(json.dumps({"nanoseconds": figures, "start_milliseconds": start, "budgets_on_top": BUDGETS}, indent=2))
        return
    print(f"{'read, ns':<16}{'raw':>8}{'outside':>10}{'on top':>9}{'inside':>10}{'on top':>9}{'other code':>12}")
    for name, seen in figures.items():
        outside, inside = seen["outside"] - seen["raw"], seen["inside"] - seen["raw"]
        print(
            f"{name:<16}{seen['raw']:>8.0f}{seen['outside']:>10.0f}{outside:>9.0f}"
            f"{seen['inside']:>10.0f}{inside:>9.0f}{seen['not the agent' + chr(39) + 's']:>12.0f}"
        )
    print(f"{'budget':<16}{'':>18}{BUDGETS['outside']:>9.0f}{'':>10}{BUDGETS['inside']:>9.0f}")
    print("start with 5,000 modules, ms: " + ", ".join(f"{step} {took:.1f}" for step, took in start.items()))


if __name__ == "__main__":
    main()
