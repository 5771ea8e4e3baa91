"""A program that does not keep the recorded order is told so, at the right place, and is never left hanging."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import playhead
from tests.order.conftest import Deck


@playhead.tool
async def fetch(name: str, seconds: float = 0.01) -> str:
    await asyncio.sleep(seconds)
    return name


@playhead.tool
def look_up(name: str, seconds: float = 0.01) -> str:
    time.sleep(seconds)
    return name


async def both(*names: str) -> list[str]:
    seen: list[str] = []

    async def add(name: str) -> None:
        seen.append(await fetch(name, 0.01 * int(name[-1])))

    await asyncio.gather(*map(add, names))
    return seen


def test_a_call_that_is_not_made_any_more_is_named_and_nothing_waits_for_it(deck: Deck) -> None:
    recording, _ = deck.record(lambda: asyncio.run(both("a3", "b1", "c2")))
    with pytest.raises(playhead.DivergenceError, match=r"step 2 \(fetch\)") as caught:
        deck.replay(recording, lambda: asyncio.run(both("a3", "c2")))
    assert caught.value.divergence is not None


def test_in_loose_the_others_go_on_without_it(deck: Deck) -> None:
    recording, _ = deck.record(lambda: asyncio.run(both("a3", "b1", "c2")))

    async def fewer() -> list[str]:
        return [await fetch("a3", 0.03)]

    assert deck.replay(recording, lambda: asyncio.run(fewer()), match="loose") == ["a3"]
    assert {each.name for each in deck.report.unplayed} == {"fetch"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # it is told as well
def test_a_thread_that_does_not_ask_any_more_is_named(deck: Deck) -> None:
    def program(*, whole: bool) -> list[str]:
        seen: list[str] = []

        def first() -> None:
            if whole:
                seen.append(look_up("first", 0.01))

        def second() -> None:
            seen.append(look_up("second", 0.05))

        workers = [threading.Thread(target=each) for each in (first, second)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return seen

    recording, given = deck.record(lambda: program(whole=True))
    assert given == ["first", "second"]
    with pytest.raises(playhead.DivergenceError, match="step 1") as caught:
        deck.replay(recording, lambda: program(whole=False))
    assert caught.value.divergence is not None
    assert caught.value.divergence.step == 1


def test_who_waits_for_what_never_comes_is_told(deck: Deck) -> None:
    """A task that waits for another one, which does not do its part any more."""

    async def agent(*, helpful: bool) -> str:
        there = asyncio.Event()

        async def helper() -> None:
            await fetch("found")
            if helpful:
                there.set()

        task = asyncio.create_task(helper())
        await asyncio.wait_for(there.wait(), 60)
        await task
        return await fetch("done")

    recording, _ = deck.record(lambda: asyncio.run(agent(helpful=True)))
    with pytest.raises((playhead.DivergenceError, TimeoutError)):
        deck.replay(recording, lambda: asyncio.run(agent(helpful=False)))


def test_plain_locks_and_computing_do_not_hold_up_the_others(deck: Deck) -> None:
    """What a thread waits for is not always known: who neither runs nor will run is not waited for."""

    def program() -> list[str]:
        seen: list[str] = []
        lock = threading.Lock()
        lock.acquire()

        def waits() -> None:
            seen.append(look_up("waits", 0.01))
            with lock:
                seen.append("had the lock")

        def opens() -> None:
            seen.append(look_up("opens", 0.06))
            lock.release()

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: each(), (waits, opens)))
        return seen

    recording, given = deck.record(program)
    assert given == ["waits", "opens", "had the lock"]
    assert deck.replay(recording, program) == given


def test_something_real_is_waited_for(deck: Deck) -> None:
    """A child process of the program's own is no part of the recording: it takes the time that it takes."""

    async def agent() -> list[str]:
        seen: list[str] = []

        async def real() -> None:
            child = await asyncio.create_subprocess_exec("sleep", "0.2")
            await child.wait()
            seen.append(await fetch("after the child"))

        async def other() -> None:
            seen.append(await fetch("other", 0.4))

        await asyncio.gather(real(), other())
        return seen

    recording, given = deck.record(lambda: asyncio.run(agent()))
    assert given == ["after the child", "other"]
    assert deck.replay(recording, lambda: asyncio.run(agent())) == given
