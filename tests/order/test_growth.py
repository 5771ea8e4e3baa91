"""What an exchange of a replay costs does not grow with the recording, nor with the lanes that wait beside it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

import playhead
from tests.order.conftest import Deck

Shape = Callable[[int, int], None]


@playhead.tool
async def look_up(order: int) -> int:
    await asyncio.sleep(0)
    return order


@playhead.tool
def look_up_beside(order: int) -> int:
    time.sleep(0)
    return order


def in_tasks(lanes: int, each: int) -> None:
    async def work(lane: int) -> None:
        for at in range(each):
            await look_up(lane * each + at)

    async def main() -> None:
        await asyncio.gather(*map(work, range(lanes)))

    asyncio.run(main())


def in_threads(lanes: int, each: int) -> None:
    def work(lane: int) -> None:
        for at in range(each):
            look_up_beside(lane * each + at)

    threads = [threading.Thread(target=work, args=(lane,)) for lane in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def cost(deck: Deck, shape: Shape, lanes: int, each: int) -> float:
    """Processor time of one exchange in a replay, the least of three."""
    recording, _ = deck.record(lambda: shape(lanes, each))
    seen = []
    for _ in range(3):
        begun = time.process_time()
        deck.replay(recording, lambda: shape(lanes, each))
        seen.append(time.process_time() - begun)
    return min(seen) / (lanes * each)


def grows(deck: Deck, shape: Shape, small: tuple[int, int], large: tuple[int, int]) -> float:
    """How much more an exchange costs in the large recording; what a replay costs once is in both."""
    return cost(deck, shape, *large) / cost(deck, shape, *small)


def test_an_exchange_in_eight_times_as_many_tasks_costs_no_more_than_twice_as_much(deck: Deck) -> None:
    assert grows(deck, in_tasks, (16, 20), (128, 20)) < 2


@pytest.mark.slow
@pytest.mark.sweep
def test_an_exchange_in_a_recording_of_many_thousands_costs_no_more_than_twice_as_much(deck: Deck) -> None:
    assert grows(deck, in_tasks, (100, 30), (800, 30)) < 2


@pytest.mark.slow
def test_an_exchange_in_eight_times_as_many_threads_costs_no_more_than_twice_as_much(deck: Deck) -> None:
    assert grows(deck, in_threads, (8, 60), (64, 60)) < 2
