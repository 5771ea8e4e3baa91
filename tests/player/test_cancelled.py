"""Calls that were cancelled or timed out when recorded."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

import playhead
from tests.player.conftest import record


@playhead.tool
async def slow(name: str) -> str:
    await asyncio.sleep(30)
    return name


@playhead.tool
async def quick(name: str) -> str:
    await asyncio.sleep(0)
    return name


@playhead.tool
async def trickle() -> AsyncIterator[int]:
    yield 1
    yield 2
    await asyncio.sleep(30)
    yield 3


async def waits() -> list[Any]:
    found: list[Any] = []
    try:
        await asyncio.wait_for(slow("a"), 0.05)
    except TimeoutError:
        found.append("timed out")
    try:
        async with asyncio.timeout(None) as limit:
            async for number in trickle():
                found.append(number)
                if number == 2:
                    limit.reschedule(asyncio.get_running_loop().time() + 0.05)
    except TimeoutError:
        found.append("timed out")
    task = asyncio.create_task(slow("b"))
    found.append(await quick("c"))
    await asyncio.sleep(0)
    task.cancel()
    found += [type(each).__name__ for each in await asyncio.gather(task, return_exceptions=True)]
    return found


def test_what_timed_out_or_was_cancelled_does_so_again() -> None:
    recording, result = record(lambda: asyncio.run(waits()))
    assert result == ["timed out", 1, 2, "timed out", "c", "CancelledError"]
    with playhead.replay(recording) as replay:
        assert asyncio.run(waits()) == result
    assert replay.report.identical, replay.report.lines()


def test_a_call_that_is_not_cancelled_any_more_diverges_and_does_not_hang() -> None:
    recording, _ = record(lambda: asyncio.run(waits()))

    async def patient() -> str:
        return await slow("a")

    with pytest.raises(playhead.DivergenceError, match="was cancelled when recorded"), playhead.replay(recording):
        asyncio.run(patient())
