"""Who goes on first of several threads that wait for others is kept, and comes out the same in a replay."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import playhead
from tests.order.conftest import Deck
from tests.order.crews import in_threads, look

BEFORE = threading.Lock()


def one_event() -> list[Any]:
    """All that wait for an event go on at once."""
    log: list[Any] = []
    event = threading.Event()

    def work(number: int) -> None:
        event.wait()
        log.append(number)
        look(number)

    def open_it() -> None:
        look("main")
        event.set()

    in_threads(work, 4, open_it)
    return log


def one_condition() -> list[Any]:
    """The same of a condition; some have a time limit that is not reached."""
    log: list[Any] = []
    condition, gone = threading.Condition(), threading.Event()

    def work(number: int) -> None:
        with condition:
            condition.wait_for(gone.is_set, timeout=20 if number % 2 else None)
            log.append(number)
        log.append(look(number))

    def notify() -> None:
        look("main")
        gone.set()
        with condition:
            condition.notify_all()

    in_threads(work, 4, notify)
    return log


def a_barrier() -> list[Any]:
    """Nothing is asked after the barrier: who goes on first is told by nothing else."""
    log: list[Any] = []
    barrier = threading.Barrier(4)

    def work(number: int) -> None:
        look(number)
        barrier.wait()
        log.append(number)

    in_threads(work, 4)
    return log


def two_consumers() -> list[Any]:
    """Two threads take from one queue."""
    log: list[Any] = []
    shelf: queue.Queue[int | None] = queue.Queue()

    def work(number: int) -> None:
        while (item := shelf.get()) is not None:
            log.append((number, item))
            look(item)

    def produce() -> None:
        for item in [*range(5), None, None]:
            shelf.put(item)

    in_threads(work, 2, produce)
    return log


def a_lock_around_calls() -> list[Any]:
    """Calls are made with a lock held, as in any rate limit."""
    log: list[Any] = []
    lock, again = threading.Lock(), threading.RLock()

    def work(number: int) -> None:
        for each in range(3):
            with lock:
                log.append(look((number, each)))
            with again, again:
                log.append((number, each, "again"))

    in_threads(work, 3)
    return log


def a_cache() -> list[Any]:
    """Whoever gets the lock first fills the cache, the others find it there."""
    log: list[Any] = []
    cache: dict[str, Any] = {}
    condition = threading.Condition()

    def work(number: int) -> None:
        for key in "ab":
            with condition:
                if key not in cache:
                    cache[key] = number, look(key)
                log.append((number, cache[key]))
            look((number, key))

    in_threads(work, 3)
    return log


def a_lock_of_the_module() -> list[Any]:
    """A lock that was made before the run."""
    log: list[Any] = []

    def work(number: int) -> None:
        for each in range(3):
            with BEFORE:
                log.append(look((number, each)))

    in_threads(work, 3)
    return log


def locks_with_limits() -> list[Any]:
    """A lock that is waited for only for so long."""
    log: list[Any] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        for each in range(3):
            if lock.acquire(timeout=0.004):
                try:
                    log.append(look((number, each)))
                finally:
                    lock.release()
            else:
                log.append((number, each, "too late"))

    in_threads(work, 3)
    return log


PROGRAMS = (
    one_event,
    one_condition,
    a_barrier,
    two_consumers,
    a_lock_around_calls,
    a_cache,
    a_lock_of_the_module,
    locks_with_limits,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_whoever_waits_for_others_goes_on_in_its_turn(program: Callable[[], list[Any]], deck: Deck) -> None:
    deck.comes_out_again(program, times=3)


def test_a_program_that_waits_no_more_where_it_did_still_replays(deck: Deck) -> None:
    def program(*, waits: bool) -> list[Any]:
        log: list[Any] = []
        event = threading.Event()

        def work(number: int) -> None:
            if waits:
                event.wait()
            log.append(look(number))

        def open_it() -> None:
            time.sleep(0.001)
            event.set()

        in_threads(work, 3, open_it)
        return sorted(log)

    recording, given = deck.record(lambda: program(waits=True))
    assert deck.replay(recording, lambda: program(waits=False)) == given
    recording, given = deck.record(lambda: program(waits=False))
    assert deck.replay(recording, lambda: program(waits=True)) == given


def test_work_that_was_cancelled_before_it_began_is_cancelled_again(deck: Deck) -> None:
    def program() -> tuple[Any, list[bool], list[bool]]:
        pool = ThreadPoolExecutor(2)
        work = [pool.submit(look, number) for number in range(8)]
        first = work[0].result()
        taken_back = [work[-1].cancel(), work[-2].cancel()]
        pool.shutdown(cancel_futures=True)
        return first, taken_back, [each.cancelled() for each in work]

    deck.comes_out_again(program, times=4)


def test_a_thread_that_a_library_starts_is_waited_for_while_an_answer_is_held(deck: Deck) -> None:
    """A pool's new thread is to come, though nobody of the program's own runs: the order is not given up there."""
    anyio = pytest.importorskip("anyio")

    @playhead.tool
    async def fetch(seconds: float) -> float:
        await anyio.sleep(seconds)
        return seconds

    async def main() -> float:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, look, 1)
            found: float = await fetch(0.005)
            group.cancel_scope.cancel()
        return found

    deck.comes_out_again(lambda: anyio.run(main), times=3)


def test_a_replay_does_not_wait_for_a_call_that_no_thread_has_yet(deck: Deck) -> None:
    """A call that is handed to a thread waits for its loop first, which must not wait for it."""
    anyio = pytest.importorskip("anyio")

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, look, 1)
            await anyio.sleep(0.001)
            group.cancel_scope.cancel()

    def program() -> None:
        anyio.run(main)

    seen: list[tuple[float, float]] = []
    for _ in range(4):
        begun = time.perf_counter()
        recording, _ = deck.record(program)
        ended = time.perf_counter()
        deck.replay(recording, program)
        seen.append((ended - begun, time.perf_counter() - ended))
    assert min(replayed for _, replayed in seen) < 5 * min(recorded for recorded, _ in seen)
