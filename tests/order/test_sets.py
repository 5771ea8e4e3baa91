"""What asyncio and anyio keep in sets is gone through in the same order when recorded and when replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor, as_completed
from concurrent.futures import wait as wait_for_all
from contextlib import suppress
from typing import Any

import pytest

import playhead
from tests.order.conftest import Deck

COUNT = 6


@playhead.tool
async def fetch(number: int) -> int:
    await asyncio.sleep(0.002)
    return number


@playhead.tool
def look_up(number: int) -> int:
    return number


async def done_at_once() -> list[int]:
    done, _ = await asyncio.wait([asyncio.create_task(fetch(number)) for number in range(COUNT)])
    return [task.result() for task in done]


async def started() -> list[int]:
    log: list[int] = []

    async def one(number: int) -> int:
        log.append(number)
        return await fetch(number)

    for each in asyncio.as_completed([one(number) for number in range(COUNT)]):
        await each
    return log


class Stopped:
    """Notes who was cancelled."""

    def __init__(self) -> None:
        self.log: list[int] = []

    async def sleep(self, number: int) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            self.log.append(number)


async def cancelled_by_a_group() -> list[int]:
    stopped = Stopped()
    with suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            for number in range(COUNT):
                group.create_task(stopped.sleep(number))
            await fetch(0)
            raise LookupError
    return stopped.log


async def cancelled_as_losers() -> list[int]:
    stopped = Stopped()
    tasks = [asyncio.create_task(stopped.sleep(number)) for number in range(COUNT)]
    _, pending = await asyncio.wait([asyncio.create_task(fetch(0)), *tasks], return_when="FIRST_COMPLETED")
    for task in pending:
        task.cancel()
    await asyncio.wait(pending)
    return stopped.log


async def cancelled_by_anyio() -> list[int]:
    anyio = pytest.importorskip("anyio")
    stopped = Stopped()
    async with anyio.create_task_group() as group:
        for number in range(COUNT):
            group.start_soon(stopped.sleep, number)
        await fetch(0)
        group.cancel_scope.cancel()
    return stopped.log


@pytest.mark.parametrize(
    "agent", [done_at_once, started, cancelled_by_a_group, cancelled_as_losers, cancelled_by_anyio]
)
def test_a_set_of_tasks_is_gone_through_as_when_recorded(
    agent: Callable[[], Coroutine[Any, Any, list[int]]], deck: Deck
) -> None:
    held = []
    for _ in range(3):
        recording, given = deck.record(lambda: asyncio.run(agent()))
        held.append([bytearray(200 + len(held)) for _ in range(50)])  # so that addresses are others
        assert deck.replay(recording, lambda: asyncio.run(agent())) == given
        assert deck.report.identical, deck.report.lines()


def test_what_is_left_over_is_cancelled_as_when_recorded(deck: Deck) -> None:
    def agent() -> list[int]:
        stopped = Stopped()

        async def main() -> None:
            tasks = [asyncio.create_task(stopped.sleep(number)) for number in range(COUNT)]
            await fetch(len(tasks))

        asyncio.run(main())
        return stopped.log

    for _ in range(3):
        recording, given = deck.record(agent)
        assert deck.replay(recording, agent) == given


def test_results_of_a_pool_that_are_there_already_come_in_the_recorded_order(deck: Deck) -> None:
    """`as_completed` begins with a set of those that are done."""

    def agent() -> list[Any]:
        with ThreadPoolExecutor(3) as workers:
            futures = [workers.submit(look_up, number) for number in range(9)]
            wait_for_all(futures)
            return [future.result() for future in as_completed(futures)]

    for _ in range(3):
        recording, given = deck.record(agent)
        assert deck.replay(recording, agent) == given
