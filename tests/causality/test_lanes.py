"""What a recording proves of lanes that others created, ended or woke, whatever the order in which they wrote."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
import pytest

import playhead
from playhead.causality import find_races, read_graph
from playhead.events import ToolCalled
from playhead.testing import ModelServer, Text


@playhead.tool
async def step(name: str, turns: int = 1) -> str:
    """A call that takes so many turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return name


@playhead.tool
def work(name: str) -> str:
    """A call that takes a moment of a thread."""
    time.sleep(0.001)
    return name


class Found:
    """The graph of a recorded function, asked by the names that its tools were given; an answer is ``name!``."""

    def __init__(self, recording: playhead.Recording) -> None:
        self.graph = read_graph(recording)
        self._seqs: dict[str, int] = {}
        for exchange in recording.steps:
            assert isinstance(exchange.question.body, ToolCalled)
            name = exchange.question.body.arguments["name"]
            self._seqs[name] = exchange.question.seq
            if exchange.answer is not None:
                self._seqs[f"{name}!"] = exchange.answer.seq

    def leads(self, before: str, after: str) -> bool:
        """Whether a path leads from one to the other."""
        return self.graph.reaches(self._seqs[before], self._seqs[after])

    def came_first(self, before: str, after: str) -> bool:
        """Whether one was written before the other."""
        return self._seqs[before] < self._seqs[after]


@pytest.fixture
def record(tmp_path: Path) -> Callable[[Callable[[], Any]], Found]:
    """Records a function."""

    def recorded(agent: Callable[[], Any]) -> Found:
        with playhead.record(store=tmp_path, id="run-1"):
            agent()
        return Found(playhead.load("run-1", store=tmp_path))

    return recorded


def run(agent: Callable[[], Coroutine[Any, Any, Any]]) -> Callable[[], Any]:
    return lambda: asyncio.run(agent())


def test_a_lane_follows_what_its_creator_had_done_when_it_was_created(record: Any) -> None:
    async def child() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        await step("child")

    async def agent() -> None:
        await step("before")
        task = asyncio.create_task(child())
        await step("meanwhile", 1)
        await task

    found = record(run(agent))
    assert found.came_first("meanwhile!", "child")
    assert found.leads("before!", "child")
    assert not found.leads("meanwhile", "child")


def test_a_lane_that_waits_for_tasks_goes_on_after_the_last_of_each(record: Any) -> None:
    """B61: the work of tasks lies between the step that started it and the one that waited for it."""

    async def agent() -> None:
        await asyncio.gather(step("one", 3), step("two", 1))
        await step("gathered")
        async with asyncio.TaskGroup() as group:
            group.create_task(step("three", 2))
            group.create_task(step("four", 4))
        await step("grouped")

    found = record(run(agent))
    for name, after in (("one", "gathered"), ("two", "gathered"), ("three", "grouped"), ("four", "grouped")):
        assert found.leads(f"{name}!", after)
    for one, other in (("one", "two"), ("two", "one"), ("three", "four"), ("four", "three")):
        assert not found.leads(f"{one}!", f"{other}!")
    assert [race.way for race in find_races(found.graph)] == ["order", "order"]


def test_who_is_first_lets_the_waiting_lane_go_on_and_the_other_does_not(record: Any) -> None:
    async def agent() -> None:
        tasks = [asyncio.create_task(step("quick", 1)), asyncio.create_task(step("slow", 20))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        await step("after")
        await tasks[1]

    found = record(run(agent))
    assert found.leads("quick!", "after")
    assert not found.leads("slow!", "after")
    assert not found.leads("after", "slow!")


def test_a_queue_an_event_and_a_cancellation_lead_from_lane_to_lane(record: Any) -> None:
    async def agent() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        event = asyncio.Event()

        async def produce() -> None:
            await step("made")
            await queue.put(1)
            await event.wait()
            await step("told")
            await asyncio.sleep(1000)

        async def watched() -> None:
            try:
                await produce()
            except asyncio.CancelledError:
                await step("stopped")
                raise

        task = asyncio.create_task(watched())
        await queue.get()
        await step("taken")
        event.set()
        await step("set", 20)
        task.cancel()
        await asyncio.wait([task])
        await step("end")

    found = record(run(agent))
    assert found.leads("made!", "taken")
    assert found.leads("taken!", "told")
    assert found.leads("set!", "stopped")
    assert found.leads("stopped!", "end")


def test_who_comes_next_at_a_lock_is_luck_and_no_cause(record: Any) -> None:
    async def agent() -> None:
        lock, places = asyncio.Lock(), asyncio.Semaphore(1)

        async def one(name: str) -> None:
            async with lock:
                await step(f"{name} locked", 3)
            async with places:
                await step(f"{name} let in", 3)

        await asyncio.gather(one("a"), one("b"))

    found = record(run(agent))
    assert not any(found.leads(f"{one} locked", f"{other} let in") for one, other in ("ab", "ba"))


def test_a_connection_that_two_lanes_share_is_no_cause(tmp_path: Path) -> None:
    async def agent(url: str) -> None:
        limits = httpx2.Limits(max_connections=1)
        async with httpx2.AsyncClient(limits=limits) as client:

            async def ask(number: int) -> None:
                for _ in range(3):
                    body = {"model": "m", "messages": [{"role": "user", "content": f"{number}"}]}
                    await client.post(f"{url}/chat/completions", json=body)

            await asyncio.gather(*(ask(number) for number in range(3)))

    with ModelServer(Text("Yes.")) as server, playhead.record(store=tmp_path, id="run-1"):
        asyncio.run(agent(server.openai_url))
    recording = playhead.load("run-1", store=tmp_path)
    opened = {event.lane: event.seq for event in recording.of_kind("lane.opened")}
    assert len(opened) == 3
    for event in recording:
        if event.lane in opened and event.seq != opened[event.lane]:
            assert event.causes == ()


def test_threads_and_pools_are_followed_by_who_joined_them(record: Any) -> None:
    """B61: a thread, a pool and `to_thread`."""

    def agent() -> None:
        work("before")
        thread = threading.Thread(target=work, args=("thread",))
        thread.start()
        thread.join()
        work("joined")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(work, "one"), pool.submit(work, "two")]
            for future in concurrent.futures.as_completed(futures):
                future.result()
            work("as completed")
            assert list(pool.map(work, ["three", "four"])) == ["three", "four"]
            work("mapped")

        async def inner() -> None:
            await asyncio.to_thread(work, "five")
            await step("awaited")

        asyncio.run(inner())

    found = record(agent)
    assert found.leads("before!", "thread")
    assert found.leads("thread!", "joined")
    for name, lanes in (("as completed", ("one", "two")), ("mapped", ("three", "four")), ("awaited", ("five",))):
        assert all(found.leads(f"{lane}!", name) for lane in lanes)
    assert not found.leads("one!", "two!")
    assert not found.leads("two!", "one!")


def test_a_lane_without_events_hands_on_what_it_follows(record: Any) -> None:
    async def agent() -> None:
        async def silent() -> None:
            await asyncio.gather(step("inner"))

        await step("before")
        await asyncio.gather(silent())
        await step("after")

    found = record(run(agent))
    assert found.leads("before!", "inner")
    assert found.leads("inner!", "after")


def test_many_lanes_after_many_lanes_name_one_event_and_not_each_other(record: Any) -> None:
    async def one(name: str) -> None:
        await step(name)

    async def agent() -> None:
        await asyncio.gather(*(one(f"first {number}") for number in range(30)))
        await asyncio.gather(*(one(f"second {number}") for number in range(30)))
        await step("after")

    found = record(run(agent))
    assert all(found.leads(f"first {one}!", f"second {other}") for one in range(30) for other in range(30))
    assert not any(found.leads(f"second {one}", f"second {one + 1}") for one in range(29))
    assert all(found.leads(f"second {one}!", "after") for one in range(30))
    assert len(found.graph.edges) < 10 * len(found.graph.nodes) / 3


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are new in 3.12")
def test_an_eager_task_is_followed_by_who_created_it(record: Any) -> None:
    async def agent() -> None:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)

        async def at_once() -> None:
            work("eager")

        task = asyncio.create_task(at_once())
        work("after")
        await task

    assert record(run(agent)).leads("eager!", "after")
