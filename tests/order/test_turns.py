"""What comes due in one turn of a busy event loop, and what takes some turns, comes out in the recorded order.

In each program something computes for a while, so that several timers come due in the same turn without luck.
"""

from __future__ import annotations

import asyncio
import gc
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import playhead
from playhead.errors import LateCrossingError
from tests.order.conftest import Deck


@playhead.tool
async def fetch(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds


@playhead.tool
async def call(turns: int) -> None:
    try:
        await asyncio.sleep(1)
    finally:
        for _ in range(turns):
            await asyncio.sleep(0)


@playhead.tool
async def close() -> None:
    try:
        await asyncio.sleep(1)
    finally:
        await asyncio.sleep(0.005)


@playhead.tool
def look(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def be_busy() -> None:
    asyncio.get_running_loop().call_later(0.003, time.sleep, 0.012)


async def answers_beside_a_question() -> Any:
    """The answer of one task was ready when another, woken in the same turn, asked something."""
    log: list[str] = []
    woken = asyncio.Event()

    async def wake() -> None:
        await asyncio.sleep(0.005)
        woken.set()
        await asyncio.sleep(0.001)

    async def answered() -> None:
        await fetch(0.007)
        log.append("answered")

    async def waits() -> None:
        await woken.wait()
        log.append("woken")

    be_busy()
    await asyncio.gather(wake(), answered(), waits())
    return log


async def two_calls_of_one_lane() -> Any:
    """The limit comes due between the ends of two calls that were made in the same lane."""
    one, two = asyncio.create_task(fetch(0.005)), asyncio.create_task(fetch(0.009))
    be_busy()
    done, _ = await asyncio.wait([one, two], timeout=0.007)
    await asyncio.gather(one, two)
    return len(done)


async def cancelled_calls_that_take_turns_to_end() -> Any:
    log: list[int] = []

    async def run(turns: int) -> None:
        try:
            await call(turns)
        finally:
            log.append(turns)

    tasks = [asyncio.create_task(run(turns)) for turns in (3, 0)]
    await asyncio.sleep(0.002)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return log


async def a_cancelled_call_that_takes_time_to_end() -> Any:
    log: list[str] = []

    async def run() -> None:
        try:
            await close()
        finally:
            log.append("closed")

    async def run_beside() -> None:
        await fetch(0.004)
        log.append("fetched")

    tasks = [asyncio.create_task(run()), asyncio.create_task(run_beside())]
    await asyncio.sleep(0.002)
    tasks[0].cancel()
    await asyncio.wait(tasks)
    return log


@pytest.mark.parametrize(
    "program",
    [
        answers_beside_a_question,
        two_calls_of_one_lane,
        cancelled_calls_that_take_turns_to_end,
        a_cancelled_call_that_takes_time_to_end,
    ],
)
def test_it_comes_out_as_it_did(deck: Deck, program: Callable[[], Any]) -> None:
    deck.comes_out_again(lambda: asyncio.run(program()), times=2)


def test_a_thread_whose_call_was_not_answered_before_the_end_keeps_nobody_from_it(deck: Deck) -> None:
    def ask(answers: queue.Queue[float], seconds: float) -> None:
        with suppress(LateCrossingError):
            answers.put(look(seconds))

    def agent() -> float:
        answers: queue.Queue[float] = queue.Queue()
        for seconds in (0.005, 0.2):
            threading.Thread(target=ask, args=(answers, seconds), daemon=True).start()
        return answers.get()

    recording, given = deck.record(agent)
    assert given == 0.005
    assert [exchange.answer is None for exchange in recording.exchanges] == [False, True]
    assert deck.replay(recording, agent) == given
    assert deck.report.identical


def test_a_replay_that_fails_in_a_task_that_nobody_waits_for_ends(deck: Deck) -> None:
    """Who waits for a queue to be done does not hear of the worker that the divergence ended."""

    async def agent(seconds: float) -> None:
        work: asyncio.Queue[float] = asyncio.Queue()

        async def worker() -> None:
            while True:
                await fetch(await work.get())
                work.task_done()

        async def heartbeat() -> None:
            while True:
                await asyncio.sleep(0.05)

        tasks = [asyncio.create_task(worker()), asyncio.create_task(heartbeat())]
        work.put_nowait(seconds)
        await work.join()
        for task in tasks:
            task.cancel()

    recording, _ = deck.record(lambda: asyncio.run(agent(0.01)))
    with pytest.raises(playhead.DivergenceError, match="differs from step 1"):
        deck.replay(recording, lambda: asyncio.run(agent(0.02)))
    gc.collect()  # asyncio says now that nobody asked for the worker's exception: not amid something else
