"""A replay in another order than the recorded one: the answers stay, and who is given his first changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.causality import OtherOrder, find_orders, read_graph
from playhead.errors import UsageError
from playhead.eventlog import Moment
from tests.causality.agents import advise, record_team
from tests.order.shapes import SHAPES
from tests.player.conftest import record


@playhead.tool
async def search(query: str, turns: int) -> str:
    """A tool that takes so many turns of the loop."""
    for _ in range(turns):
        await asyncio.sleep(0)
    return f"{query} was found"


@playhead.tool
def look_up(key: str) -> str:
    """The same for threads, without delay."""
    return f"{key} was looked up"


def orders_of(recording: playhead.Recording) -> list[OtherOrder]:
    return list(islice(find_orders(recording, read_graph(recording)), 10))


def replayed(recording: playhead.Recording, other: OtherOrder, program: Callable[[], Any]) -> Any:
    with playhead.replay(recording, order=other.order):
        return program()


def _ends(recording: playhead.Recording, other: OtherOrder) -> list[Moment]:
    """The answers in the other order."""
    by_seq = {moment.seq: moment for moment in recording.moments()}
    return [by_seq[seq] for seq in other.order if by_seq[seq].kind == "tool.returned"]


def tasks_and_a_list() -> list[str]:
    async def main() -> list[str]:
        seen: list[str] = []

        async def add(query: str, turns: int) -> None:
            seen.append(await search(query, turns))

        await asyncio.gather(add("a", 1), add("b", 5), add("c", 9))
        return seen

    return asyncio.run(main())


def test_tasks_that_add_to_a_list_add_to_it_in_the_other_order() -> None:
    recording, first = record(tasks_and_a_list)
    assert first == [f"{each} was found" for each in "abc"]
    for other in orders_of(recording):
        found = replayed(recording, other, tasks_and_a_list)
        asked = {event.seq: event.body.arguments["query"] for event in recording.of_kind("tool.called")}  # type: ignore[union-attr]
        ended = [f"{asked[moment.of]} was found" for moment in _ends(recording, other)]
        assert found == ended != first


def test_the_recorded_order_is_one_that_can_be_given() -> None:
    recording, first = record(tasks_and_a_list)
    with playhead.replay(recording, order=[moment.seq for moment in recording.moments()]) as replay:
        assert tasks_and_a_list() == first
    assert replay.report.identical


def test_threads_that_add_to_a_list_add_to_it_in_the_other_order() -> None:
    gate = threading.Event()

    @playhead.tool
    def wait_for(name: str) -> str:
        if name == "b":
            gate.wait(5)
        return f"{name} has come"

    def program() -> list[str]:
        seen: list[str] = []

        def add(name: str) -> None:
            seen.append(wait_for(name))
            gate.set()

        threads = [threading.Thread(target=add, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return seen

    recording, first = record(program)
    (other,) = orders_of(recording)
    assert first == ["a has come", "b has come"]
    assert replayed(recording, other, program) == first[::-1]


def test_who_wins_is_another_one_where_the_loser_had_an_answer_as_well() -> None:
    def program() -> list[bool]:
        async def main() -> list[bool]:
            tasks = [asyncio.create_task(search(query, turns)) for query, turns in (("a", 1), ("b", 9))]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            won = [task in done for task in tasks]
            await asyncio.wait(tasks)
            return won

        return asyncio.run(main())

    recording, first = record(program)
    (other,) = orders_of(recording)
    assert first == [True, False]
    assert replayed(recording, other, program) == [False, True]


def test_the_end_of_a_stream_comes_in_its_turn_and_its_pieces_as_they_did() -> None:
    @playhead.tool
    async def stream(name: str, turns: int) -> AsyncIterator[str]:
        for number in range(3):
            for _ in range(turns):
                await asyncio.sleep(0)
            yield f"{name}{number}"

    def program() -> list[str]:
        async def main() -> list[str]:
            seen: list[str] = []

            async def read(name: str, turns: int) -> None:
                async for piece in stream(name, turns):
                    seen.append(piece)
                seen.append(f"end of {name}")

            await asyncio.gather(read("a", 1), read("b", 9))
            return seen

        return asyncio.run(main())

    recording, first = record(program)
    (other,) = orders_of(recording)
    found = replayed(recording, other, program)
    assert first.index("end of a") < first.index("end of b")
    assert found.index("end of b") < found.index("end of a")
    assert sorted(found) == sorted(first)


def test_agents_on_a_real_client_are_answered_in_each_order_that_is_asked_for(own_store: Path) -> None:
    recording = record_team(own_store)
    url = str(next(iter(recording.exchanges)).question.body.url).removesuffix("/chat/completions")  # type: ignore[union-attr]
    others = orders_of(recording)
    assert len(others) > 3
    for other in others:
        answer = replayed(recording, other, lambda: asyncio.run(advise(url)))
        assert answer == "Do not buy any salt: it costs 9999 euros per kilo."


def test_a_program_that_asks_for_something_else_then_diverges_there() -> None:
    def program() -> str:
        async def main() -> str:
            seen: list[str] = []

            async def add(query: str, turns: int) -> None:
                seen.append(await search(query, turns))

            await asyncio.gather(add("a", 1), add("b", 5))
            return await search(seen[0], 1)

        return asyncio.run(main())

    recording, _ = record(program)
    other = orders_of(recording)[0]
    with pytest.raises(playhead.DivergenceError, match="differs from step 3"):
        replayed(recording, other, program)


def test_what_a_lock_keeps_in_order_cannot_be_turned_and_is_passed_over() -> None:
    def program() -> list[str]:
        async def main() -> list[str]:
            lock = asyncio.Lock()

            async def locked(query: str) -> str:
                async with lock:
                    return await search(query, 3)

            return await asyncio.gather(locked("a"), locked("b"))

        return asyncio.run(main())

    recording, first = record(program)
    (other,) = orders_of(recording)
    assert replayed(recording, other, program) == first


def test_a_call_that_blocks_its_loop_holds_nobody_up() -> None:
    """What is asked on the loop's own thread is answered at once: nothing else could come in between."""

    def program() -> list[str]:
        async def main() -> list[str]:
            seen: list[str] = []

            async def add(query: str, turns: int) -> None:
                await search(query, turns)
                seen.append(look_up(query))

            await asyncio.gather(add("a", 1), add("b", 5))
            return seen

        return asyncio.run(main())

    recording, first = record(program)
    found = [replayed(recording, other, program) for other in orders_of(recording)]
    assert first[::-1] in found
    assert all(sorted(each) == sorted(first) for each in found)


def test_an_order_of_other_moments_is_refused() -> None:
    recording, _ = record(tasks_and_a_list)
    with pytest.raises(UsageError, match="other moments"):
        playhead.replay(recording, order=[1, 2, 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("timeouts", "first_completed", "streams")])
def test_agents_of_every_shape_come_to_an_end_in_other_orders(name: str) -> None:
    recording, _ = record(SHAPES[name])
    found = list(islice(find_orders(recording, read_graph(recording)), 1 if name == "child_processes" else 3))
    assert found
    for other in found:
        try:
            replayed(recording, other, SHAPES[name])
        except (playhead.DivergenceError, ExceptionGroup):
            continue
