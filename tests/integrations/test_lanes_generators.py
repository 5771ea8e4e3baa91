"""Generators that outlive the call which made them: their lane goes with them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from playhead.boundary import Lane, current_lane, stay_in_lane, stay_in_lane_async
from playhead.integrations import clock, tasks, threads
from tests.integrations._reads import RecordingReads, installed

ALL = (clock.install, tasks.install, threads.install)


async def answer_async() -> AsyncGenerator[str, str]:
    time.time()
    try:
        sent = yield "a"
        time.time()
        yield sent or "b"
    finally:
        await asyncio.sleep(0)
        time.time()


def answer() -> Generator[str, str, str]:
    time.time()
    try:
        sent = yield "a"
        time.time()
        yield sent or "b"
    except ValueError:
        yield "caught"
    finally:
        time.time()
    return "done"


async def drain(source: AsyncGenerator[str, str]) -> list[str]:
    return [part async for part in source]


async def take(source: AsyncGenerator[str, str]) -> str:
    return await anext(source)


async def leave(source: AsyncGenerator[str, str]) -> None:
    await source.aclose()


def test_a_streaming_answer_belongs_to_its_run_whoever_drains_or_closes_it() -> None:
    """B59: begun in one task, drained in another, closed in a third context: one lane, and no error on closing."""

    async def serve(lane: Lane) -> list[str]:
        drained = stay_in_lane_async(lane, answer_async())
        parts = [await asyncio.create_task(take(drained)), *await asyncio.create_task(drain(drained))]
        left = stay_in_lane_async(lane, answer_async())
        await asyncio.create_task(take(left))
        await asyncio.create_task(leave(left), context=contextvars.Context())
        assert current_lane() is None
        return parts

    session = RecordingReads()
    with installed(*ALL):
        assert asyncio.run(serve(Lane(session, name="handler"))) == ["a", "b"]
    assert session.lanes == {"handler"}
    assert len(session.reads) == 5


def test_a_plain_generator_belongs_to_its_run_in_other_threads_too() -> None:
    """B59: the same for a generator that a server drains in a worker thread and closes in another."""
    session = RecordingReads()
    lane = Lane(session, name="handler")
    parts: list[Any] = []

    def in_thread(act: Any) -> None:
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()

    with installed(*ALL):
        drained, left = stay_in_lane(lane, answer()), stay_in_lane(lane, answer())
        parts.append(next(drained))
        in_thread(lambda: parts.extend(drained))
        in_thread(lambda: parts.append(next(left)))
        in_thread(left.close)
    assert parts == ["a", "b", "a"]
    assert session.lanes == {"handler"}
    assert len(session.reads) == 5


def test_what_is_sent_thrown_and_returned_passes_through() -> None:
    lane = Lane(RecordingReads())
    source = stay_in_lane(lane, answer())
    assert next(source) == "a"
    assert source.send("sent") == "sent"
    assert source.throw(ValueError()) == "caught"
    with pytest.raises(StopIteration, match="done"):
        next(source)
    broken = stay_in_lane(lane, answer())
    next(broken)
    with pytest.raises(KeyError):
        broken.throw(KeyError())


def test_what_is_sent_and_thrown_passes_through_an_asynchronous_one() -> None:
    async def agent() -> None:
        source = stay_in_lane_async(Lane(RecordingReads()), answer_async())
        assert await anext(source) == "a"
        assert await source.asend("sent") == "sent"
        with pytest.raises(KeyError):
            await source.athrow(KeyError())

    asyncio.run(agent())
