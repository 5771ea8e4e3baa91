"""Lanes of threads, thread pools and callbacks."""

from __future__ import annotations

import asyncio
import contextvars
import random
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import pytest

from playhead.boundary import Arguments, Call, Lane, cross, current_lane, in_lane
from playhead.integrations import clock, tasks, threads
from tests.integrations._reads import RecordingReads, installed, run

colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


def here() -> str:
    lane = current_lane()
    return "outside" if lane is None else lane.name


class Listening(threading.Thread):
    """A thread that is a class of its own."""

    heard = ""

    def run(self) -> None:
        self.heard = here()


class Asking:
    """An object that is called."""

    def __call__(self) -> str:
        return here()

    def method(self) -> str:
        return here()


def test_threads_have_lanes_and_nothing_else_of_the_context() -> None:
    heard: list[str] = []

    def work() -> None:
        heard.append(f"{here()} {colour.get()}")

    with run(RecordingReads(), threads.install):
        colour.set("red")
        own = Listening()
        started = [
            threading.Thread(target=work),
            threading.Thread(target=partial(work)),
            threading.Timer(0, work),
            threading.Thread(target=contextvars.copy_context().run, args=(work,)),
            own,
        ]
        for thread in started:
            thread.start()
            thread.join()
        colour.set("none")
    name = "test_threads_have_lanes_and_nothing_else_of_the_context.<locals>.work"
    assert heard[:3] == [f"main/{name}#{at} none" for at in (1, 2, 3)]
    assert heard[3] == f"main/{name}#4 red"
    assert own.heard == "main/Listening#1"
    assert "run" not in vars(own)


def test_a_thread_that_cannot_be_started_is_as_it_was() -> None:
    with run(RecordingReads(), threads.install):
        thread = Listening()
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="threads can only be started once"):
            thread.start()
    assert "run" not in vars(thread)


def test_a_run_that_was_replaced_on_the_thread_itself_is_called_and_kept() -> None:
    thread = threading.Thread()
    heard: list[str] = []

    def own() -> None:
        heard.append(here())

    thread.run = own  # type: ignore[method-assign]
    with run(RecordingReads(), threads.install):
        thread.start()
        thread.join()
    assert heard == ["main/Thread#1"]
    assert thread.run is own


def test_work_handed_to_a_pool_is_named_by_what_is_called() -> None:
    asking = Asking()
    with run(RecordingReads(), threads.install), ThreadPoolExecutor(2) as pool:
        handed = [
            pool.submit(here),
            pool.submit(asking),
            pool.submit(asking.method),
            pool.submit(partial(here)),
            pool.submit(contextvars.copy_context().run, here),
            pool.submit(partial(contextvars.copy_context().run, here)),
        ]
        lanes = [future.result() for future in handed]
        lanes += pool.map(lambda _: here(), range(2))
    assert lanes[:6] == [
        f"main/{name}" for name in ("here#1", "Asking#1", "Asking.method#1", "here#2", "here#3", "here#4")
    ]
    assert [lane.partition("<locals>.")[2] for lane in lanes[6:]] == ["<lambda>#1", "<lambda>#2"]


def test_a_pool_keeps_no_lane_after_the_work() -> None:
    with ThreadPoolExecutor(2) as pool:
        with run(RecordingReads(), threads.install):
            assert pool.submit(here).result() == "main/here#1"
            assert pool.submit(here).result() == "main/here#2"
        assert {pool.submit(here).result() for _ in range(8)} == {"outside"}
        with run(RecordingReads(), threads.install):
            assert pool.submit(here).result() == "main/here#1"


def test_a_pool_refuses_what_it_refused() -> None:
    with run(RecordingReads(), threads.install):
        pool = ThreadPoolExecutor(1)
        with pytest.raises(TypeError):
            pool.submit(None).result()  # type: ignore[arg-type]
        pool.shutdown()
        with pytest.raises(RuntimeError, match="after shutdown"):
            pool.submit(here)


def test_work_inside_a_tool_belongs_to_the_tool() -> None:
    session = RecordingReads()
    with run(session, clock.install, threads.install) as lane, in_lane(lane.inside()), ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: time.time()).result()
        thread = threading.Thread(target=lambda: time.time())
        thread.start()
        thread.join()
    assert session.reads == []


def test_callbacks_have_lanes_beneath_the_one_that_added_them() -> None:
    heard: list[str] = []
    release = threading.Event()

    def done(future: Future[Any]) -> None:
        heard.append(here())

    with run(RecordingReads(), threads.install), ThreadPoolExecutor(1) as pool:
        future = pool.submit(release.wait)
        future.add_done_callback(done)
        release.set()
        wait([future])
        pool.submit(here).result()
        future.add_done_callback(done)
    assert [lane.rpartition(".")[2] for lane in heard] == ["done#1", "done#2"]


def test_no_crossing_of_a_thread_is_lost() -> None:
    """B07: eight threads make 25 calls each, twenty times over: 200 each time, 25 in each lane."""

    def work() -> None:
        for at in range(25):
            lane = current_lane()
            assert lane is not None
            cross(lane, Call("tool", f"call {at}", Arguments(work, (), {})), lambda: time.time())

    for _ in range(20):
        session = RecordingReads()
        with run(session, clock.install, threads.install):
            started = [threading.Thread(target=work) for _ in range(8)]
            for thread in started:
                thread.start()
            for thread in started:
                thread.join()
        assert len(session.calls) == len(set(session.calls)) == 200
        lanes = {lane for lane, _ in session.calls}
        assert {lane.rpartition("#")[2] for lane in lanes} == {str(at) for at in range(1, 9)}
        assert session.reads == []  # what a tool reads is its own


def test_two_runs_at_once_keep_their_work_apart() -> None:
    """B61: the same five ways to hand work over, in two runs at a time; each piece lies under its own run."""
    delays = random.Random(3)

    def work(name: str) -> tuple[str, Any]:
        time.sleep(delays.random() / 1000)
        lane = current_lane()
        return name, None if lane is None else (lane.session, lane.name)

    async def agent(pool: ThreadPoolExecutor, tag: str) -> list[tuple[str, Any]]:
        loop = asyncio.get_running_loop()
        results: list[tuple[str, Any]] = []
        for at in range(4):
            results.append(await asyncio.to_thread(work, f"to_thread {at}"))
            results.append(await loop.run_in_executor(pool, work, f"run_in_executor {at}"))
            future = pool.submit(work, f"submit {at}")
            called = asyncio.Event()

            def done(future: Future[Any], called: asyncio.Event = called, at: int = at) -> None:
                results.append(work(f"callback {at}"))
                loop.call_soon_threadsafe(called.set)

            future.add_done_callback(done)
            thread = threading.Thread(target=lambda at=at: results.append(work(f"thread {at}")))
            thread.start()
            results.append(await asyncio.wrap_future(future))
            await called.wait()
            await loop.run_in_executor(None, thread.join)
        return results

    async def under(session: RecordingReads, pool: ThreadPoolExecutor, tag: str) -> list[tuple[str, Any]]:
        with in_lane(Lane(session, name=tag)):
            return await asyncio.create_task(agent(pool, tag))

    async def both(pool: ThreadPoolExecutor) -> list[list[tuple[str, Any]]]:
        return await asyncio.gather(under(sessions[0], pool, "one"), under(sessions[1], pool, "two"))

    sessions = (RecordingReads(), RecordingReads())
    with installed(tasks.install, threads.install), ThreadPoolExecutor(3) as pool:
        found = asyncio.run(both(pool))
    for session, tag, results in zip(sessions, ("one", "two"), found, strict=True):
        assert len(results) == 20
        assert all(place is not None and place[0] is session for _, place in results)
        assert all(place[1].startswith(f"{tag}/") for _, place in results)
    names = [sorted((what, place[1].partition("/")[2]) for what, place in results) for results in found]
    assert names[0] == names[1]
    assert len({lane for _, lane in names[0]}) == 20


def test_everything_is_put_back() -> None:
    before = (threading.Thread.start, ThreadPoolExecutor.submit, Future.add_done_callback)
    with installed(threads.install):
        assert ThreadPoolExecutor.submit is not before[1]
    assert (threading.Thread.start, ThreadPoolExecutor.submit, Future.add_done_callback) == before
