"""How fast the writer's thread works: with masking, hash and chain, into a file that is committed as it goes.

Events per second of its own processor time, so that what else the machine does counts less. Beside: the standard
library's JSON encoder and a line to a file.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _material import text
from _measuring import Figure, gauge, report

from playhead.boundary import Arguments, Call, Lane, Returned, Ticket
from playhead.eventlog import Header, LogWriter
from playhead.events import snapshot
from playhead.masking import Masker
from playhead.recorder import Scribe

ROUNDS = 5


def look_up(order: str, limit: int) -> dict[str, Any]:
    """A small tool."""
    return {"order": order, "status": "shipped", "limit": limit}


class Desk:
    """A scribe with its log, and crossings to write."""

    def __init__(self, folder: Path, number: int) -> None:
        self.log = LogWriter(folder / f"run-{number}", Header(run=f"run-{number}", kind="bench", created_ns=0))
        self._scribe = Scribe(self.log, Masker(key=b"of a benchmark"), wall_minus_mono_ns=0)
        self._lane = Lane(None)  # type: ignore[arg-type]

    def tools(self, count: int) -> int:
        """``count`` exchanges of a small tool; how many events that is."""
        for at in range(count):
            args, kwargs = (), {"order": f"A-{at}", "limit": at}
            ticket = Ticket(self._lane, Call("tool", "look_up", Arguments(look_up, args, kwargs)))
            result = look_up(**kwargs)
            self._scribe.question(at, ticket, args, {key: snapshot(value) for key, value in kwargs.items()})
            self._scribe.answer(at, ticket, Returned(result), snapshot(result))
            if at % 500 == 499:
                self.log.commit()
        return 2 * count

    def large(self, texts: list[str]) -> int:
        """A note of each text; how many events that is."""
        for at, each in enumerate(texts):
            self._scribe.event(at, self._lane, "note.added", {"name": "note", "details": {"text": each}})
        self.log.commit()
        return len(texts)


def best(make: Callable[[int], Callable[[], int]]) -> tuple[float, int]:
    """Seconds of processor time of the best round, and the number of events."""
    seen = []
    events = 0
    for number in range(ROUNDS):
        work = make(number)
        gauge()
        begun = time.thread_time()
        events = work()
        seen.append(time.thread_time() - begun)
    return min(seen), events


def lines(path: Path, bodies: list[Any]) -> int:
    """The yardstick: a line of JSON for each body."""
    with path.open("a", encoding="utf-8") as file:
        for at, body in enumerate(bodies):
            file.write(json.dumps({"seq": at, "kind": "event", "at": time.time(), "body": body}) + "\n")
    return len(bodies)


def main() -> None:
    chance = random.Random(3)
    texts = [text(chance, 14_000) for _ in range(300)]
    small = [{"name": "look_up", "arguments": {"order": f"A-{at}", "limit": at}} for at in range(8000)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        took, events = best(lambda number: partial(Desk(folder, number).tools, 4000))
        rate = events / took
        took, events = best(lambda number: partial(Desk(folder, 100 + number).large, texts))
        pace = 14_000 * events / took / 1e6
        took, events = best(lambda _: partial(lines, folder / "small.jsonl", small))
        plain_rate = events / took
        took, events = best(lambda _: partial(lines, folder / "large.jsonl", texts))
        plain_pace = 14_000 * events / took / 1e6
    report(
        "writing",
        [
            Figure("small tool events", rate, "events/s", 50_000, "JSON lines", plain_rate, better="higher"),
            Figure("events of 14 kB of text", pace, "MB/s", 40, "JSON lines", plain_pace, better="higher"),
        ],
        note="Processor time of the writer.",
    )


if __name__ == "__main__":
    main()
