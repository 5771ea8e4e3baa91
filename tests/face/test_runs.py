"""Runs and replays as a program uses them: entry points, tools of every shape, outcomes, runs inside runs."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import playhead
from playhead.errors import NestedRunError, UsageError


@playhead.tool
def double(number: int) -> int:
    return number * 2


@playhead.tool
async def fetch(page: str, *, fresh: bool = False) -> dict[str, Any]:
    await asyncio.sleep(random.random() / 100)
    return {"page": page, "nonce": random.random()}


@playhead.tool(name="count")
def counting(upto: int) -> Iterator[int]:
    yield from range(upto)
    return "counted"


@playhead.tool
async def ticking(upto: int) -> AsyncIterator[int]:
    for number in range(upto):
        await asyncio.sleep(0)
        yield number


class Desk:
    def __init__(self, name: str) -> None:
        self.name = name

    @playhead.tool
    def greet(self, who: str) -> str:
        return f"{self.name} greets {who}"

    @classmethod
    @playhead.tool
    def make(cls, name: str) -> str:
        return f"{cls.__name__} {name}"

    @staticmethod
    @playhead.tool
    def shout(text: str) -> str:
        return text.upper()


class Adder:
    def __call__(self, left: int, right: int) -> int:
        return left + right


add = playhead.tool(Adder())
ask = playhead.model(lambda prompt: f"answer {random.random()} to {prompt}", name="house")
settings = playhead.wrap("settings", lambda key: {"colour": random.random()}[key])


@playhead.agent(kind="everything")
async def everything(ticket: str) -> list[Any]:
    desk = Desk("north")
    found: list[Any] = [
        double(2),
        double(number=3),
        desk.greet("ana"),
        Desk.make("x"),
        Desk.shout("hey"),
        add(1, right=2),
    ]
    found.append(list(counting(3)))
    found.append([number async for number in ticking(3)])
    found.append(await asyncio.gather(*(fetch(f"{ticket}{at}", fresh=True) for at in range(5))))
    found.append(await asyncio.to_thread(double, 21))
    found += [ask("why"), settings("colour"), playhead.now(), playhead.uuid4(), playhead.random.random()]
    with playhead.cycle(action_type="think"):
        playhead.checkpoint({"found": len(found)}, label="half way")
    return found


def test_every_shape_of_tool_replays_equal_and_the_entry_point_can_be_invoked_again() -> None:
    result = asyncio.run(everything("T-1"))
    recording = playhead.load("everything")
    with playhead.replay(recording) as replay:
        assert asyncio.run(everything("T-1")) == result
    assert replay.report.identical, replay.report.lines()
    assert playhead.invoke(recording) == result
    kinds = [event.kind for event in recording.events]
    assert [kinds.count(kind) for kind in ("cycle.started", "cycle.finished", "state.kept")] == [1, 1, 1]
    assert recording.outcome == "success"


def test_an_invocation_of_changed_code_diverges_or_drifts(monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(everything("T-1"))
    recording = playhead.load("everything")
    monkeypatch.setattr(Desk, "greet", playhead.tool(Desk.greet.__wrapped__, name="wave"))
    with pytest.raises(playhead.DivergenceError, match="wave"):
        playhead.invoke(recording)


def test_lanes_are_named_by_where_they_were_created_in_twenty_runs() -> None:
    """B51"""
    names = set()
    for _ in range(20):
        asyncio.run(everything("T-1"))
    for path in sorted(p for p in __import__("pathlib").Path(".playhead/recordings").glob("everything-*")):
        names.add(playhead.load(path).lanes)
    assert len({tuple(sorted(each)) for each in names}) == 1


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("no"), "failure"),
        (KeyboardInterrupt(), "aborted"),
        (SystemExit(0), "success"),
        (SystemExit(3), "failure"),
        (asyncio.CancelledError(), "aborted"),
        (None, "success"),
    ],
)
def test_what_leaves_the_block_decides_the_outcome(error: BaseException | None, outcome: str) -> None:
    def program() -> str:
        with playhead.record(kind="leaving") as run:
            double(1)
            if error is not None:
                raise error
        return run.id

    if error is None:
        program()
    else:
        with pytest.raises(type(error)) as caught:
            program()
        assert caught.value is error
    recording = playhead.load("leaving")
    assert recording.outcome == outcome
    assert recording.sealed
    assert len(recording.steps) == 1


def test_a_run_can_say_itself_that_it_failed_and_why() -> None:
    with playhead.record(kind="saying") as run:
        run.fail("promised what was not done")
    finished = playhead.load(run.id).finished
    assert finished is not None
    assert (finished.outcome, finished.reason) == ("failure", "promised what was not done")


def test_a_run_inside_a_run_is_a_lane_of_it_and_replays() -> None:
    """B53: each nested agent's steps are addressed in their own lane."""

    @playhead.agent(kind="inner")
    def inner(number: int) -> int:
        return double(number) + double(number + 1)

    def outer() -> list[int]:
        with playhead.record(kind="outer") as run:
            found = [inner(1), double(5), inner(2)]
            run.succeed(found)
        return found

    result = outer()
    recording = playhead.load("outer")
    assert recording.lanes == ("main", "main/inner#1", "main/inner#2")
    assert [step.question.lane for step in recording.steps].count("main/inner#1") == 2
    with playhead.replay(recording) as replay:
        assert outer() == result
    assert replay.report.identical
    assert len(list(__import__("pathlib").Path(".playhead/recordings").iterdir())) == 1


def test_two_runs_at_once_keep_to_themselves() -> None:
    def one(number: int) -> str:
        with playhead.record(kind=f"job{number}") as run:
            for at in range(20):
                double(number * 100 + at)
        return run.id

    with ThreadPoolExecutor(4) as pool:
        ids = list(pool.map(one, range(4)))
    for number, run in enumerate(ids):
        asked = [step.question.body.arguments["number"] for step in playhead.load(run).steps]
        assert asked == [number * 100 + at for at in range(20)]


def test_a_replay_cannot_begin_inside_a_run() -> None:
    with playhead.record() as run:
        double(1)
    recording = playhead.load(run.id)
    with playhead.record(), pytest.raises(NestedRunError), playhead.replay(recording):
        pass


def test_a_recording_of_a_block_cannot_be_invoked_and_says_what_can_be_done() -> None:
    with playhead.record() as run:
        double(1)
    with pytest.raises(UsageError, match="next:"):
        playhead.invoke(run.id)


def test_everything_is_put_back_when_the_last_run_has_ended() -> None:
    import os
    import threading
    import time
    import uuid

    import httpx2

    def state() -> list[Any]:
        return [
            time.time,
            time.__dict__["time_ns"],
            random.random,
            uuid.uuid4,
            os.urandom,
            threading.Thread.start,
            asyncio.BaseEventLoop.create_task,
            httpx2.HTTPTransport.handle_request,
            type(sys.modules["datetime"].datetime.now),
            ThreadPoolExecutor.submit,
        ]

    before = state()
    with playhead.record():
        assert state() != before
        with pytest.raises(ZeroDivisionError), playhead.record(kind="inner"):
            raise ZeroDivisionError
    assert state() == before


def test_a_tool_is_opaque_what_it_does_belongs_to_it() -> None:
    @playhead.tool
    def outer(number: int) -> float:
        return double(number) + playhead.random.random() + random.random()

    with playhead.record() as run:
        outer(1)
    recording = playhead.load(run.id)
    assert [event.kind for event in recording.events if not event.kind.startswith(("run.", "recording.", "note."))] == [
        "tool.called",
        "tool.returned",
    ]


def test_a_recorded_answer_is_a_fresh_object_each_time() -> None:
    """B02 (values)"""
    with playhead.record() as run:
        counted = [list(counting(2)) for _ in range(3)]
        pages = [asyncio.run(fetch("a")) for _ in range(2)]
    with playhead.replay(run.id):
        assert [list(counting(2)) for _ in range(3)] == counted
        first = asyncio.run(fetch("a"))
        first["page"] = "spoiled"
        assert asyncio.run(fetch("a")) == pages[1]


def test_a_late_crossing_is_refused_after_a_replay_and_passes_after_a_run() -> None:
    """B08 (c)"""
    import threading

    from playhead.errors import LateCrossingError

    results: list[Any] = []
    go = threading.Event()

    def later() -> None:
        go.wait(10)
        try:
            results.append(double(4))
        except LateCrossingError as error:
            results.append(type(error))

    with playhead.record() as run:
        double(1)
        thread = threading.Thread(target=later)
        thread.start()
    go.set()
    thread.join()
    assert results == [8]
    assert len(playhead.load(run.id).steps) == 1
    go.clear()
    with playhead.replay(run.id):
        double(1)
        thread = threading.Thread(target=later)
        thread.start()
    go.set()
    thread.join()
    assert results == [8, LateCrossingError]


def test_the_recording_of_an_agent_that_caches_across_runs_names_the_call_made_before_it_began() -> None:
    """B50"""
    cache: dict[str, Any] = {}

    @playhead.tool
    def list_tools() -> list[str]:
        return ["read"]

    def program() -> int:
        if "tools" not in cache:
            cache["tools"] = list_tools()
        return double(len(cache["tools"]))

    with playhead.record():
        program()
    with playhead.record() as second:
        program()
    cache.clear()
    new = pytest.raises(playhead.DivergenceError, match="nothing like it was recorded")
    with new as caught, playhead.replay(second.id):
        program()
    assert caught.value.divergence.kind == "new"
    assert caught.value.divergence.name == "list_tools"
