"""A law of order, over made-up programs of threads that touch what they share only under locks and through queues."""

from __future__ import annotations

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playhead
from tests.order.crews import compute

pytestmark = pytest.mark.slow

Step = tuple[Any, ...]
Steps = list[Step]

names = st.sampled_from("abc")
millis = st.integers(0, 4)

simple: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("call"), names, millis),
    st.tuples(st.just("compute"), st.integers(0, 7)),
    st.tuples(st.just("note"), names),
    st.tuples(st.just("put"), names),
    st.tuples(st.just("take")),
    st.tuples(st.just("sleep"), millis),
)


def blocks(inner: st.SearchStrategy[Steps]) -> st.SearchStrategy[Step]:
    """Steps that are made of others."""
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        st.tuples(st.just("threads"), several),
        st.tuples(st.just("pool"), several),
        st.tuples(st.just("lock"), st.lists(simple, min_size=1, max_size=3)),
        st.tuples(st.just("room"), st.lists(simple, min_size=1, max_size=3)),
    )


programs: st.SearchStrategy[Steps] = st.recursive(
    st.lists(simple, min_size=1, max_size=4),
    lambda inner: st.lists(st.one_of(simple, blocks(inner), blocks(inner)), min_size=1, max_size=4),
    max_leaves=8,
)


@playhead.tool
def call(name: str, millis: int) -> str:
    time.sleep(millis / 1000)
    if name == "c" and millis == 3:
        raise LookupError(name)
    return f"{name}{millis}"


class Running:
    """One run of a made-up program; ``log`` is what its threads say, in the order in which they got to say it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self._saying = threading.Lock()
        self._lock = threading.RLock()
        self._room = threading.Semaphore(2)
        self._shelf: queue.Queue[str] = queue.Queue()

    def run(self, steps: Steps, who: str) -> str:
        for number, step in enumerate(steps):
            self._do(step, f"{who}.{number}")
        return who

    def _say(self, who: str, what: Any) -> None:
        with self._saying:
            self.log.append(f"{who} {what}")

    def _do(self, step: Step, who: str) -> None:
        match step:
            case ("call", name, millis):
                try:
                    answer = call(name, millis)
                except LookupError:
                    answer = "none"
                compute(len(who) + millis)
                self._say(who, answer)
            case ("compute", length):
                compute(length)
            case ("note", name):
                self._say(who, name)
            case ("put", name):
                self._shelf.put(f"{name} of {who}")
            case ("take",):
                self._take(who)
            case ("sleep", millis):
                time.sleep(millis / 1000)
            case ("threads", several):
                threads = [
                    threading.Thread(target=self.run, args=(each, f"{who}t{at}")) for at, each in enumerate(several)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                    self._say(who, "joined")
            case ("pool", several):
                with ThreadPoolExecutor(2) as pool:
                    for done in [pool.submit(self.run, each, f"{who}p{at}") for at, each in enumerate(several)]:
                        compute(len(who))
                        self._say(who, done.result())
            case ("lock", inner):
                with self._lock:
                    self.run(inner, f"{who}l")
            case ("room", inner):
                with self._room:
                    self.run(inner, f"{who}r")

    def _take(self, who: str) -> None:
        try:
            self._say(who, self._shelf.get(timeout=0.003))
        except queue.Empty:
            self._say(who, "nothing")


def comes_out_again(steps: Steps, store: Path) -> None:
    def program() -> list[str]:
        running = Running()
        running.run(steps, "m")
        return running.log

    with playhead.record(kind="made-up", store=store) as recorded:
        log = program()
    for _ in range(2):
        with playhead.replay(recorded.id, store=store) as replay:
            assert program() == log
        assert replay.report.identical, replay.report.lines()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=programs)
def test_any_threads_that_share_under_locks_come_out_as_they_did(
    steps: Steps, tmp_path_factory: pytest.TempPathFactory
) -> None:
    comes_out_again(steps, tmp_path_factory.mktemp("store"))


@pytest.mark.sweep
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=programs)
def test_any_of_many_such_threads_come_out_as_they_did(steps: Steps, tmp_path_factory: pytest.TempPathFactory) -> None:
    comes_out_again(steps, tmp_path_factory.mktemp("store"))
