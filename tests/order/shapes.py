"""Small agents of different shapes of concurrency, whose outcome depends on the order in which answers come.

Each gives everything that it saw: replayed, it has to give the same. What a tool does takes as long as chance will
have it, between nothing and ``PACE`` seconds; the agents' own sleeps are as long.
"""

from __future__ import annotations

import asyncio
import queue
import random
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import playhead

PACE = 0.03
_CHILD = Path(__file__).with_name("child.py")


def _delay(share: float = 1.0) -> float:
    return random.random() * PACE * share


@playhead.tool
async def search(query: str) -> str:
    """A tool that takes its time."""
    await asyncio.sleep(_delay())
    return f"found {query}"


@playhead.tool
def look_up(key: str) -> str:
    """The same for threads."""
    time.sleep(_delay())
    return f"value of {key}"


@playhead.tool
async def flaky(query: str) -> str:
    """A tool that fails half of the time."""
    await asyncio.sleep(_delay())
    if random.random() < 0.5:
        raise ConnectionError(f"no luck with {query}")
    return f"luck with {query}"


@playhead.tool
async def stream(name: str) -> AsyncIterator[str]:
    """A tool whose answer comes in pieces."""
    for number in range(4):
        await asyncio.sleep(_delay(0.5))
        yield f"{name}{number}"


@playhead.tool
def trickle(name: str) -> Iterator[str]:
    """The same for threads."""
    for number in range(4):
        time.sleep(_delay(0.5))
        yield f"{name}{number}"


async def _think(question: str, seen: list[Any]) -> str:
    await asyncio.sleep(_delay())
    return f"{question}: {len(seen)} of {seen[-3:]}"


think = playhead.model(_think, name="thinking")


async def shared_list() -> Any:
    """Tasks that add to one list; a model is asked about it at every round."""
    seen: list[str] = []

    async def add(name: str) -> None:
        seen.append(await search(name))

    said = []
    for number in range(3):
        await asyncio.gather(*[add(f"{number}.{each}") for each in range(5)])
        said.append(await think(f"round {number}", seen))
    return seen, said


async def first_completed() -> Any:
    """The first of three wins, the others are cancelled."""
    won: list[Any] = []
    for number in range(4):
        racing = [asyncio.create_task(search(f"{number}.{each}")) for each in range(3)]
        done, losers = await asyncio.wait(racing, return_when=asyncio.FIRST_COMPLETED)
        for loser in (each for each in racing if each in losers):  # a set of tasks has the order of their addresses
            loser.cancel()
        ended = await asyncio.gather(*racing, return_exceptions=True)
        won.append([[task in done for task in racing], [type(each).__name__ for each in ended]])
    return won, await think("who won", won)


async def timeouts() -> Any:
    """Time limits of about the time that a call takes: some fire, some just do not."""
    said: list[str] = []
    for number in range(6):
        try:
            async with asyncio.timeout(PACE / 2):
                said.append(await search(str(number)))
        except TimeoutError:
            said.append("too late")
        try:
            said.append(await asyncio.wait_for(search(f"{number} again"), PACE / 2))
        except TimeoutError:
            said.append("too late again")
    return said


async def retries() -> Any:
    """Retries with a backoff that is drawn, in three tasks that share a budget."""
    budget = [9]
    log: list[str] = []

    async def insist(query: str) -> str:
        while budget[0]:
            budget[0] -= 1
            try:
                return await flaky(query)
            except ConnectionError as error:
                log.append(str(error))
                await asyncio.sleep(random.uniform(0, PACE))
        return f"gave up on {query}"

    return await asyncio.gather(*map(insist, "abc")), log, budget


async def queues() -> Any:
    """Producers and consumers at one short queue."""
    shelf: asyncio.Queue[str] = asyncio.Queue(maxsize=2)
    taken: list[str] = []

    async def produce(name: str) -> None:
        for number in range(3):
            await shelf.put(await search(f"{name}{number}"))

    async def consume(name: str) -> None:
        while True:
            item = await shelf.get()
            taken.append(f"{name} took {item}: {await search(item)}")
            shelf.task_done()

    consumers = [asyncio.create_task(consume(name)) for name in ("one", "two")]
    await asyncio.gather(produce("a"), produce("b"))
    await shelf.join()
    for each in consumers:
        each.cancel()
    await asyncio.gather(*consumers, return_exceptions=True)
    return taken


async def threads_and_tasks() -> Any:
    """A thread pool and tasks, which both add to one list."""
    seen: list[str] = []

    def add(key: str) -> str:
        value = look_up(key)
        seen.append(value)
        return value

    async def add_found(query: str) -> None:
        seen.append(await search(query))

    for number in range(2):
        await asyncio.gather(
            *[asyncio.to_thread(add, f"thread {number}.{each}") for each in range(3)],
            *[add_found(f"task {number}.{each}") for each in range(3)],
        )
        seen.append(await think("so far", seen))
    return seen


async def task_groups() -> Any:
    """Task groups within task groups, one of which fails and takes its own down."""
    seen: list[str] = []

    async def add(query: str) -> None:
        seen.append(await search(query))

    async def fail() -> None:
        await search("nothing")
        raise LookupError("nothing")

    async def inner(name: str, *, failing: bool) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for number in range(3):
                    group.create_task(add(f"{name}{number}"))
                if failing:
                    group.create_task(fail())
        except* LookupError:
            seen.append(f"{name} failed")

    async with asyncio.TaskGroup() as outer:
        outer.create_task(inner("a", failing=False))
        outer.create_task(inner("b", failing=True))
    return seen


async def generators() -> Any:
    """Asynchronous generators that are resumed by whichever task comes."""
    seen: list[str] = []

    async def numbers() -> AsyncIterator[str]:
        for number in range(8):
            yield await search(str(number))

    source = numbers()
    lock = asyncio.Lock()

    async def take(name: str) -> None:
        while True:
            async with lock:
                item = await anext(source, None)
            if item is None:
                return
            seen.append(f"{name}: {item}")
            await asyncio.sleep(random.uniform(0, PACE / 2))

    await asyncio.gather(take("one"), take("two"))
    return seen


async def rate_limit() -> Any:
    """Six callers at a semaphore that lets two in, and no more than one every so often."""
    gate = asyncio.Semaphore(2)
    loop = asyncio.get_running_loop()
    free_at = [loop.time()]
    entered: list[str] = []

    async def call(name: str) -> str:
        async with gate:
            await asyncio.sleep(max(0.0, free_at[0] - loop.time()))
            free_at[0] = loop.time() + PACE / 5
            entered.append(name)
            return await search(name)

    return await asyncio.gather(*[call(str(number)) for number in range(6)]), entered


async def streams() -> Any:
    """Three streams that are read at the same time, piece by piece."""
    pieces: list[str] = []

    async def read(name: str) -> None:
        async for piece in stream(name):
            pieces.append(piece)
            if len(pieces) > 9:
                break

    await asyncio.gather(*map(read, "abc"))
    return pieces, await think("pieces", pieces)


async def sub_agents() -> Any:
    """Sub-agents that ask the same tool the same things, and go by what the others have found."""
    board: list[str] = []

    async def sub_agent(name: str) -> str:
        for number in range(3):
            board.append(f"{name} {await search('the same')} {number}")
            await think("what now", board)
        return f"{name}: {board[-1]}"

    return await asyncio.gather(*map(sub_agent, ("red", "green", "blue"))), board


async def child_processes() -> Any:
    """Three children of the program's own, whose words are taken in the order in which they end."""
    seen: list[str] = []

    async def run(name: str) -> None:
        command = (sys.executable, str(_CHILD), name, str(10 * PACE))
        child = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        said, _ = await child.communicate()
        seen.append(said.decode())

    await asyncio.gather(*(run(name) for name in ("one", "two", "three")))
    return seen


def pool() -> Any:
    """A thread pool whose results are taken as they come."""
    seen: list[str] = []
    with ThreadPoolExecutor(3) as workers:
        for future in as_completed([workers.submit(look_up, str(number)) for number in range(6)]):
            seen.append(future.result())
    return seen


def threads() -> Any:
    """Threads that hand over through a queue, share a counter under a lock, and read a stream."""
    shelf: queue.Queue[str] = queue.Queue(maxsize=2)
    lock = threading.Lock()
    count = {"asked": 0}
    log: list[str] = []

    def produce(name: str) -> None:
        for number in range(3):
            with lock:
                count["asked"] += 1
                ticket = count["asked"]
            shelf.put(f"{ticket}: {look_up(f'{name}{number}')}")
        for piece in trickle(name):
            log.append(piece)
        shelf.put("end")

    workers = [threading.Thread(target=produce, args=(name,)) for name in "ab"]
    for worker in workers:
        worker.start()
    taken: list[str] = []
    while taken.count("end") < 2:
        taken.append(shelf.get())
    for worker in workers:
        worker.join()
    return taken, log


Shape = Callable[[], Any]


def _in_loop(agent: Callable[[], Awaitable[Any]]) -> Shape:
    def run() -> Any:
        async def main() -> Any:
            return await agent()

        return asyncio.run(main())

    run.__name__ = getattr(agent, "__name__", "agent")
    return run


SHAPES: dict[str, Shape] = {
    **{
        agent.__name__: _in_loop(agent)
        for agent in (
            shared_list, first_completed, timeouts, retries, queues, threads_and_tasks, task_groups, generators,
            rate_limit, streams, sub_agents, child_processes,
        )
    },
    "pool": pool,
    "threads": threads,
}  # fmt: skip
"""The agents by name; each gives what it saw."""
