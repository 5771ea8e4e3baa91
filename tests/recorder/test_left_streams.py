"""Streams that are left: one finished record each, whichever way, which says how far it got and counts nothing.

B58, from the program to the file and back.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

import playhead
from playhead.eventlog import counted
from playhead.events import ModelResponded, ToolFailed, ToolReturned
from playhead.testing import ModelServer, Text, forbid_connections

BODY = {"model": "big", "stream": True, "messages": [{"role": "user", "content": "count"}]}
ENDLESS = Text("one two three four five six", stream_pieces=4, drop_after=4, hang=True)
"""It falls silent before its end: whoever does not leave it waits for ever."""

WAYS = ["break", "close", "exception", "cancel", "drop", "never"]


class LeftError(Exception):
    """The program's own reason."""


class Stopped(BaseException):
    """What stands for a cancellation where there are no tasks."""


def leave(way: str, items: Iterator[Any], close: Callable[[], Any]) -> list[Any]:
    """Read one item, unless ``way`` is not to, and leave."""
    seen = []
    if way == "never":
        return seen
    for item in items:
        seen.append(item)
        if way == "break":
            break
        if way == "close":
            close()
            break
        if way in ("exception", "cancel"):
            raise LeftError if way == "exception" else Stopped
        if way == "drop":
            break
    return seen


def ask(url: str, way: str) -> list[bytes]:
    """Ask the model with a plain client and leave its answer."""
    client = httpx2.Client()
    try:
        if way in ("drop", "never"):
            response = client.send(client.build_request("POST", url, json=BODY), stream=True)
            seen = leave(way, response.iter_raw(), response.close)
            del response
            gc.collect()
            return seen
        with client.stream("POST", url, json=BODY) as response:
            return leave(way, response.iter_raw(), response.close)
    except (LeftError, Stopped):
        return [b"raised"]
    finally:
        client.close()


async def leave_async(way: str, items: AsyncIterator[Any], close: Callable[[], Any]) -> list[Any]:
    seen = []
    if way == "never":
        return seen
    async for item in items:
        seen.append(item)
        if way in ("break", "drop"):
            break
        if way == "close":
            await close()
            break
        if way == "exception":
            raise LeftError
        if way == "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
    return seen


async def ask_async(url: str, way: str) -> list[bytes]:
    client = httpx2.AsyncClient()
    try:
        if way in ("drop", "never"):
            response = await client.send(client.build_request("POST", url, json=BODY), stream=True)
            seen = await leave_async(way, response.aiter_raw(), response.aclose)
            del response
            gc.collect()
            return seen
        async with client.stream("POST", url, json=BODY) as response:
            return await leave_async(way, response.aiter_raw(), response.aclose)
    except LeftError:
        return [b"raised"]
    finally:
        await client.aclose()


async def in_task(coroutine: Any) -> list[Any]:
    """Its result, or that it was cancelled."""
    task = asyncio.create_task(coroutine)
    try:
        return await task
    except asyncio.CancelledError:
        return ["cancelled"]


@pytest.mark.parametrize("manner", ["sync", "async"])
@pytest.mark.parametrize("way", WAYS)
def test_a_models_stream_that_is_left_is_one_finished_record(way: str, manner: str, tmp_path: Path) -> None:
    def program(url: str) -> list[bytes]:
        return ask(url, way) if manner == "sync" else asyncio.run(in_task(ask_async(url, way)))

    with ModelServer(lambda request: ENDLESS, padding=False) as server:
        url = server.openai_url + "/chat/completions"
        with playhead.record(store=tmp_path) as run:
            seen = program(url)
    recording = playhead.load(run.id, store=tmp_path)
    (exchange,) = recording.exchanges
    assert exchange.answer is not None
    body = exchange.answer.body
    assert exchange.answer.kind == "model.responded"
    assert isinstance(body, ModelResponded)
    assert body.usage is None
    assert body.end == (
        "cancelled" if (way, manner) == ("cancel", "async") else "closed" if way != "cancel" else body.end
    )
    pieces = len(body.gaps)
    assert pieces >= len([piece for piece in seen if piece not in (b"raised", "cancelled")])
    assert body.verdict is not None
    assert body.verdict["kind"] == "left"
    assert body.verdict["detail"] == f"left by the program after {counted(pieces, 'piece')}"
    assert run.incomplete == ()
    with forbid_connections(), playhead.replay(recording) as replay:
        again = program(url)
    assert again == seen
    assert replay.report.answered == 1


@playhead.tool
def count() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


@playhead.tool
async def count_async() -> AsyncIterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def use(way: str) -> list[Any]:
    source = count()
    try:
        return leave(way, source, source.close)  # type: ignore[attr-defined]
    except (LeftError, Stopped):
        return ["raised"]


async def use_async(way: str) -> list[Any]:
    source = count_async()
    try:
        return await leave_async(way, source, source.aclose)  # type: ignore[attr-defined]
    except LeftError:
        return ["raised"]


@pytest.mark.parametrize("manner", ["sync", "async"])
@pytest.mark.parametrize("way", WAYS)
def test_a_tools_generator_that_is_left_is_one_finished_record(way: str, manner: str, tmp_path: Path) -> None:
    """One that is never iterated has not begun: none of its code has run, and there is nothing to record."""

    async def cancelled() -> list[Any]:
        async def wait() -> list[Any]:
            seen = await use_async(way)
            await asyncio.sleep(0)
            return seen

        return await in_task(wait())

    def program() -> list[Any]:
        seen = use(way) if manner == "sync" else asyncio.run(cancelled())
        gc.collect()
        return seen

    with playhead.record(store=tmp_path) as run:
        if (way, manner) == ("cancel", "async"):
            seen = asyncio.run(in_task(consume_cancelled()))
        else:
            seen = program()
    recording = playhead.load(run.id, store=tmp_path)
    if way == "never":
        assert list(recording.exchanges) == []
        return
    (exchange,) = recording.exchanges
    assert exchange.answer is not None
    body = exchange.answer.body
    assert isinstance(body, ToolReturned)
    assert not isinstance(body, ToolFailed)
    assert body.items == [1]
    assert body.end == ("cancelled" if (way, manner) == ("cancel", "async") else "closed")
    with playhead.replay(recording):
        again = asyncio.run(in_task(consume_cancelled())) if (way, manner) == ("cancel", "async") else program()
    assert again == seen


@playhead.tool
async def count_slowly() -> AsyncIterator[int]:
    yield 1
    await asyncio.sleep(3600)
    yield 2


async def consume_cancelled() -> list[Any]:
    """Cancelled while the generator waits for its next item."""
    task = asyncio.current_task()
    assert task is not None
    async for _ in count_slowly():
        asyncio.get_running_loop().call_soon(task.cancel)
    return []
