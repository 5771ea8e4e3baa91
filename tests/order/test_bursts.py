"""Pieces of streams come in the turns of the loop in which they came when recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import httpx2
import pytest

import playhead
from playhead.testing import ModelServer, Text
from tests.order.conftest import Deck


@playhead.tool
async def burst() -> AsyncIterator[int]:
    await asyncio.sleep(0.002)
    for number in range(3):
        yield number


@playhead.tool
async def stream(seconds: float) -> AsyncIterator[int]:
    await asyncio.sleep(seconds)
    yield 1
    await asyncio.sleep(60)


@playhead.tool
async def fetch(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def noted_among() -> list[Any]:
    log: list[Any] = []
    first = asyncio.Event()

    async def read() -> None:
        async for number in burst():
            log.append(number)
            first.set()
        log.append("end")

    reading = asyncio.create_task(read())
    await first.wait()
    log.append("first")
    await reading
    return log


def keep_busy() -> None:
    """What is to come in the next 15 ms comes in one turn."""
    asyncio.get_running_loop().call_later(0.003, time.sleep, 0.02)


async def with_an_answer() -> list[int]:
    log: list[int] = []

    async def read() -> None:
        async for number in stream(0.007):
            log.append(number)

    tasks = [asyncio.create_task(fetch(0.005)), asyncio.create_task(read())]
    keep_busy()
    await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
    tasks[1].cancel()
    await asyncio.wait(tasks)
    return log


async def of_two_streams() -> list[int]:
    log: list[int] = []
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def read(seconds: float) -> None:
        async for number in stream(seconds):
            queue.put_nowait(number)

    tasks = [asyncio.create_task(read(seconds)) for seconds in (0.005, 0.007)]
    keep_busy()
    for _ in tasks:
        await queue.get()
        log.append(queue.qsize())
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return log


async def of_two_streams_after_an_end() -> list[str]:
    log: list[str] = []

    async def read(name: str, seconds: float) -> None:
        async for number in stream(seconds) if seconds else burst():
            log.append(f"{name}{number}")
        log.append(f"{name} end")

    tasks = [asyncio.create_task(read(name, seconds)) for name, seconds in (("a", 0.0), ("b", 0.006), ("c", 0.007))]
    await asyncio.sleep(0)
    keep_busy()
    while len(log) < 6:
        await asyncio.sleep(0.001)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    return log


@pytest.mark.parametrize("agent", [noted_among, with_an_answer, of_two_streams, of_two_streams_after_an_end])
def test_no_other_task_goes_on_between_pieces_that_came_in_one_turn(
    agent: Callable[[], Coroutine[Any, Any, list[Any]]], deck: Deck
) -> None:
    deck.comes_out_again(lambda: asyncio.run(agent()), times=3)


def test_heads_that_came_in_one_turn_come_before_who_was_woken_in_it(deck: Deck) -> None:
    with ModelServer(lambda *_: Text("one two three four five six")) as server:
        url = f"{server.openai_url}/chat/completions"

        async def main() -> list[Any]:
            log: list[Any] = []
            queue: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()

            async def read(client: httpx2.AsyncClient, number: int) -> None:
                asked = {"model": "big", "stream": True, "messages": [{"role": "user", "content": f"{number}"}]}
                async with client.stream("POST", url, json=asked) as answer:
                    async for line in answer.aiter_lines():
                        queue.put_nowait((number, line[:20]))
                queue.put_nowait(None)

            async with httpx2.AsyncClient() as client:
                reading = [asyncio.create_task(read(client, number)) for number in range(4)]
                asyncio.get_running_loop().call_later(0.005, time.sleep, 0.05)
                for _ in reading:
                    while (found := await queue.get()) is not None:
                        log.append((found[0], queue.qsize()))
                await asyncio.gather(*reading)
            return log

        for _ in range(5):
            recording, given = deck.record(lambda: asyncio.run(main()))
            for _ in range(2):
                assert deck.replay(recording, lambda: asyncio.run(main())) == given


def test_only_pieces_that_did_not_come_to_an_idle_loop_are_told_of(deck: Deck) -> None:
    @playhead.tool
    async def slow() -> AsyncIterator[int]:
        for number in range(3):
            await asyncio.sleep(0.002)
            yield number

    async def main() -> None:
        async for _ in burst():
            pass
        async for _ in slow():
            pass

    recording, _ = deck.record(lambda: asyncio.run(main()))
    first, second = [event.body for event in recording.events if event.kind == "tool.returned"]
    assert (first.piece_turns, first.after_piece) == ([[1], [2, 0]], [0])
    assert second.piece_turns == []
