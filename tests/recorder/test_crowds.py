"""Many threads and tasks at once: exactly what crossed is there, in order within each lane."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

import playhead
from playhead.eventlog import verify

THREADS, TASKS, CALLS = 8, 20, 500


@playhead.tool
def work(who: str, number: int) -> dict[str, Any]:
    return {"who": who, "number": number, "text": "x" * (number * 7 % 200)}


@playhead.tool
async def work_later(who: str, number: int) -> list[Any]:
    await asyncio.sleep(0)
    return [who, number]


def test_threads_and_tasks_lose_nothing_and_mix_nothing_up(tmp_path: Path) -> None:
    """B07"""

    def crowd(who: str) -> None:
        for number in range(CALLS):
            work(who, number)

    async def task(who: str) -> None:
        for number in range(CALLS // 10):
            await work_later(who, number)

    async def tasks() -> None:
        await asyncio.gather(*(task(f"task {number}") for number in range(TASKS)))

    with playhead.record(store=tmp_path) as run:
        threads = [threading.Thread(target=crowd, args=(f"thread {number}",)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        asyncio.run(tasks())
        for thread in threads:
            thread.join()

    recording = playhead.load(run.id, store=tmp_path)
    assert recording.path is not None
    assert verify(recording.path).ok
    assert run.incomplete == ()
    assert [event.seq for event in recording] == list(range(len(recording)))
    lanes: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for exchange in recording.exchanges:
        assert exchange.answer is not None
        asked, said = exchange.question.body.arguments, exchange.answer.body.value  # type: ignore[union-attr]
        answered = (said["who"], said["number"]) if isinstance(said, dict) else tuple(said)
        assert answered == (asked["who"], asked["number"])
        assert exchange.answer.lane == exchange.question.lane
        lanes[exchange.question.lane].append(answered)
    assert len(recording.exchanges) == THREADS * CALLS + TASKS * CALLS // 10
    assert sorted(lane[0][0] for lane in lanes.values()) == sorted(
        [f"thread {number}" for number in range(THREADS)] + [f"task {number}" for number in range(TASKS)]
    )
    for lane in lanes.values():
        who = lane[0][0]
        assert lane == [(who, number) for number in range(len(lane))]
        assert len(lane) == (CALLS if who.startswith("thread") else CALLS // 10)
    for name in lanes:
        moments = [event.mono_ns for event in recording if event.lane == name]
        assert moments == sorted(moments)
