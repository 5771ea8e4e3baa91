"""What passes from one thread to another without anybody waiting passes so again in a replay."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from playhead.events import LaneWoken
from tests.order.conftest import Deck
from tests.order.crews import compute, in_threads, look


def pools_in_a_pool() -> list[Any]:
    """Who waits for the results of a pool is woken beside its next piece of work; some are there already."""
    log: list[Any] = []
    lock = threading.Lock()

    def outer(number: int) -> int:
        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(look, (number, each)) for each in range(3)]:
                compute(number * 3)
                found = number, done.result()
                with lock:
                    log.append(found)
        return number

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(outer, number) for number in range(3)]:
            last = done.result()
            with lock:
                log.append(last)
    return log


def a_lock_after_computing() -> list[Any]:
    """Nobody waits for the lock, each thread computes between its last crossing and it."""
    log: list[Any] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        for each in range(3):
            look((number, each))
            compute(5 - number * 2 + each)
            with lock:
                log.append((number, each))
            compute(number + each)
            with lock:
                log.append((number, each, "again"))

    in_threads(work, 3)
    return log


def results_in_a_queue() -> list[Any]:
    """What is worked out after a crossing is put into a queue, from which it is taken late."""
    log: list[Any] = []
    shelf: queue.Queue[Any] = queue.Queue()

    def work(number: int) -> None:
        for each in range(3):
            look((number, each))
            compute(4 + number - each)
            shelf.put((number, each))

    def collect() -> None:
        for _ in range(9):
            compute(3)
            log.append(shelf.get())

    in_threads(work, 3, collect)
    return log


def consumers_that_compute() -> list[Any]:
    """Who takes an item that is there already gets which one."""
    log: list[Any] = []
    lock = threading.Lock()
    shelf: queue.Queue[int | None] = queue.Queue()

    def work(number: int) -> None:
        while (item := shelf.get()) is not None:
            with lock:
                log.append((number, item))
            compute(item * 3)
            if item % 3 == 0:
                look(item)

    def produce() -> None:
        for item in [*range(9), None, None]:
            shelf.put(item)

    in_threads(work, 2, produce)
    return log


def a_semaphore_that_is_free() -> list[Any]:
    """Room for two of three, who come to it in the order of their computing."""
    log: list[Any] = []
    places, lock = threading.Semaphore(2), threading.Lock()

    def work(number: int) -> None:
        for each in range(2):
            look((number, each))
            compute(4 - number)
            with places:
                with lock:
                    log.append((number, each))
                compute(each + number)

    in_threads(work, 3)
    return log


PROGRAMS = (
    pools_in_a_pool,
    a_lock_after_computing,
    results_in_a_queue,
    consumers_that_compute,
    a_semaphore_that_is_free,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_whoever_came_first_to_what_threads_share_does_so_again(program: Callable[[], list[Any]], deck: Deck) -> None:
    deck.comes_out_again(program, times=2)


def test_what_one_lane_has_alone_is_noted_once_at_most(deck: Deck) -> None:
    def alone() -> None:
        lock, event, shelf = threading.Lock(), threading.Event(), queue.Queue[int]()
        event.set()
        for each in range(20):
            with lock:
                event.wait()
                look(each)
                shelf.put(each)
                shelf.get()

    recording, _ = deck.record(alone)
    assert len(recording.of_kind("lane.woken")) <= 1
    recording, _ = deck.record(a_lock_after_computing)
    woken = [event.body for event in recording.of_kind("lane.woken")]
    assert any(isinstance(body, LaneWoken) and body.wait for body in woken)
