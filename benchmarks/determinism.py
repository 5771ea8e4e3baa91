"""Whether races come out again: agents of many shapes, recorded with random delays and replayed.

Beside playhead, on the same recordings: the designs that other tools use (one global cursor, a queue for each name,
look-up by content), and playhead with the clock and chance left alone. ``python benchmarks/determinism.py 5`` records
each agent 5 times instead of 20.
"""

from __future__ import annotations

import contextlib
import gc
import random
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from _measuring import Figure, report

import playhead
from playhead.boundary import Activity, Call, Installation, Lane, Outcome, Pause, Program, Ticket, in_lane
from playhead.eventlog import Recording
from playhead.events import canonical
from playhead.integrations import INSTALLERS
from playhead.player import ReplaySession
from playhead.player._answers import outcome_of
from playhead.player._requests import request_of_call, request_of_event
from tests.order import shapes

RECORDED = 20
REPLAYED = 3
LIMIT_S = 5.0
PATIENT_PACE = 1.0
"""Delays of up to so many seconds, for what a replay saves of the time that a run waited."""


class Rival:
    """A session that answers at once with the first recorded exchange of the same key that has not been used."""

    forbids_network = False
    is_over = False

    def __init__(self, recording: Recording, masker: Any, key: Callable[[Any], Any]) -> None:
        self.activity = Activity()
        self._masker = masker
        self._key = key
        self._left: dict[Any, deque[Any]] = defaultdict(deque)
        for exchange in recording.exchanges:
            self._left[key(request_of_event(exchange.question))].append(exchange)

    def ignores(self, host: str) -> bool:
        return False

    def refuse(self, lane: Any, place: str) -> None:
        return None

    def open(self, lane: Lane, *, waited: int | None = None) -> None:
        pass

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        pass

    def begin(self, lane: Lane, call: Call) -> Ticket:
        if isinstance(call.payload, Pause | Program):
            return Ticket(lane, call)
        left = self._left[self._key(request_of_call(call, self._masker))]
        if not left:
            raise LookupError(call.name)
        answer = left.popleft().answer
        return Ticket(lane, call, answer=outcome_of(answer))

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        pass

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Callable[[], Any]) -> Any:
        return live()

    def follows(self, lane: Lane, after: Lane) -> None:
        pass

    def tell_time(self, now: float) -> float:
        return now

    def claim_entry(self, *_: Any) -> None:
        return None

    def note(self, *_: Any) -> None:
        pass

    def notice(self, *_: Any) -> None:
        pass


DESIGNS: dict[str, Callable[[Any], Any]] = {
    "global cursor": lambda request: None,
    "queue by name": lambda request: request.name,
    "look-up by content": lambda request: (request.name, canonical(request.content)),
}


def rival(recording: Recording, agent: Callable[[], Any], key: Callable[[Any], Any]) -> Any:
    """What ``agent`` gives when it is answered by another design."""
    installation = Installation()
    installation.enter(INSTALLERS)
    try:
        masker = playhead.replay(recording)._session._masker
        with in_lane(Lane(Rival(recording, masker, key))):
            return agent()
    finally:
        installation.leave()


@contextlib.contextmanager
def clock_left_alone() -> Iterator[None]:
    """Within the block a replay lets reads of clock and chance go live."""
    kept = ReplaySession.read
    ReplaySession.read = lambda self, lane, kind, fn, site, live: live()  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ReplaySession.read = kept  # type: ignore[method-assign]


def attempt(agent: Callable[[], Any]) -> Any:
    """What ``agent`` gives; a failure is another outcome than the recorded one, whatever it is."""
    try:
        return agent()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"failed: {type(error).__name__}"


def replay(recording: Recording, agent: Callable[[], Any]) -> Any:
    with playhead.replay(recording):
        return agent()


def bounded(agent: Callable[[], Any]) -> Any:
    """``agent``, which another design may leave waiting for ever: in a thread that is given up then."""
    import threading

    given: list[Any] = ["hung"]
    worker = threading.Thread(target=lambda: given.__setitem__(0, attempt(agent)), daemon=True)
    worker.start()
    worker.join(LIMIT_S)
    return given[0]


def study(name: str, agent: Callable[[], Any], store: str, times: int) -> dict[str, float]:
    """How many of the replays gave what the run gave, in per cent, by design; and the seconds spent."""
    equal: dict[str, int] = defaultdict(int)
    spent: dict[str, float] = defaultdict(float)
    for _ in range(times):
        begun = time.perf_counter()
        with playhead.record(kind=name.replace("_", "-"), store=store) as run:
            given = agent()
        spent["recording"] += time.perf_counter() - begun
        recording = playhead.load(run.id, store=store)
        for _ in range(REPLAYED):
            begun = time.perf_counter()
            equal["playhead"] += attempt(lambda recording=recording: replay(recording, agent)) == given
            spent["replaying"] += (time.perf_counter() - begun) / REPLAYED
        with clock_left_alone():
            equal["clock left alone"] += attempt(lambda recording=recording: replay(recording, agent)) == given
        for design, key in DESIGNS.items():
            equal[design] += bounded(lambda recording=recording, key=key: rival(recording, agent, key)) == given
    share = {design: 100 * count / times / (REPLAYED if design == "playhead" else 1) for design, count in equal.items()}
    return {**share, **spent}


def patience(store: str) -> tuple[float, float]:
    """Seconds that runs took which waited as agents do, and that their replays took."""
    kept, shapes.PACE = shapes.PACE, PATIENT_PACE
    recording = replaying = 0.0
    try:
        for name in ("shared_list", "timeouts", "sub_agents", "threads_and_tasks"):
            agent = shapes.SHAPES[name]
            begun = time.perf_counter()
            with playhead.record(kind="patient", store=store) as run:
                agent()
            recording += time.perf_counter() - begun
            found = playhead.load(run.id, store=store)
            replay(found, agent)
            begun = time.perf_counter()
            replay(found, agent)
            replaying += time.perf_counter() - begun
    finally:
        shapes.PACE = kept
    return recording, replaying


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDED
    random.seed()
    raw: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as store:
        for name, agent in shapes.SHAPES.items():
            raw[name] = study(name, agent, store, times)
            gc.collect()
            row = "  ".join(f"{design} {share:5.1f} %" for design, share in list(raw[name].items())[:5])
            print(f"{name:18} {row}", flush=True)
        waited, replayed = patience(store)
    figures = [
        Figure(f"{name}: replays that came out equal", row["playhead"], "%", 100.0, "best other design",
               max(row[design] for design in DESIGNS), better="higher")
        for name, row in raw.items()
    ]  # fmt: skip
    for design in ("clock left alone", *DESIGNS):
        mean = sum(row[design] for row in raw.values()) / len(raw)
        figures.append(Figure(f"all shapes: {design}", mean, "%", better="higher"))
    figures.append(Figure("a run that waited, over its replay", waited / replayed, "x", 100.0, better="higher"))
    report("determinism", figures, note=f"{times} recordings of each, {REPLAYED} replays of each recording.", extra=raw)


if __name__ == "__main__":
    main()
