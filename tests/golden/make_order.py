"""Make the golden recording of a race: ``python -m tests.golden.make_order FOLDER``. Those released stay as they are.

Its replay needs all that a recording of format 1 says of order: woken threads, turns of loops, pieces and heads.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2

import playhead
from playhead.eventlog import pack
from playhead.testing import ModelServer, Text

URL = "http://127.0.0.1:9/v1/chat/completions"
"""The model's address; in a replay nobody is there."""


@playhead.tool
async def count() -> AsyncIterator[int]:
    for number in range(4):
        yield number


@playhead.tool
def look(number: int) -> int:
    return number * 10


async def ask(client: httpx2.AsyncClient, url: str, number: int, log: list[Any]) -> None:
    asked = {"model": "big", "stream": True, "messages": [{"role": "user", "content": f"question {number}"}]}
    async with client.stream("POST", url, json=asked) as answer:
        log.append(f"head {number}")
        async for line in answer.aiter_lines():
            log.append(f"line {number}" if line else f"gap {number}")


async def read(log: list[Any]) -> None:
    async for number in count():
        log.append(number)


async def converse(url: str, log: list[Any]) -> None:
    async with httpx2.AsyncClient() as client, asyncio.TaskGroup() as group:
        for number in range(2):
            group.create_task(ask(client, url, number, log))
        group.create_task(read(log))


def race(url: str) -> list[Any]:
    """Threads that wait for one event, and then streams in one loop: what came in which order."""
    log: list[Any] = []
    go = threading.Event()

    def lane(number: int) -> None:
        go.wait()
        log.append(f"woken {number}")
        log.append(look(number))

    threads = [threading.Thread(target=lane, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    asyncio.run(converse(url, log))
    return log


def make(folder: Path) -> None:
    """Record the race and keep it in one file. Its address is that of nobody, since a replay asks nobody."""
    store = folder / "store"
    with (
        ModelServer(lambda *_: Text("one two three four")) as server,
        playhead.record(kind="race", id="race-golden", store=store) as run,
    ):
        run.succeed(race(f"{server.openai_url}/chat/completions"))
    pack(playhead.load(run.id, store=store).path, folder / "race.playhead")


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    sys.argv = ["race"]  # the recording names no folder of whoever made it
    os.chdir("/")
    make(target)
