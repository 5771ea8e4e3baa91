"""Other orders in which a run could have gone: each is one that could have been, and turns one race round."""

from __future__ import annotations

import asyncio
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import playhead
from playhead.causality import Graph, Orders, find_orders, find_races, read_graph
from tests.causality.writing import Fact, programs, write

pytestmark = pytest.mark.slow

_MOST = 12


def read(facts: list[Fact]) -> tuple[Graph, Orders, list[Any], list[int]]:
    """The graph of a run, its other orders, some of them read already, and its moments."""
    with tempfile.TemporaryDirectory() as folder, write(Path(folder), facts, name="run-1") as recording:
        graph = read_graph(recording)
        orders = find_orders(recording, graph)
        return graph, orders, list(islice(orders, _MOST)), [moment.seq for moment in recording.moments()]


@settings(max_examples=50, deadline=None)
@given(facts=programs())
def test_every_order_has_each_moment_once_and_respects_every_path(facts: list[Fact]) -> None:
    graph, _, found, moments = read(facts)
    for other in found:
        assert sorted(other.order) == moments
        place = {seq: at for at, seq in enumerate(other.order)}
        for one in moments:
            assert all(place[one] <= place[after] for after in moments if graph.reaches(one, after))


@settings(max_examples=50, deadline=None)
@given(facts=programs())
def test_an_order_turns_its_race_round_and_leaves_what_was_not_in_between(facts: list[Fact]) -> None:
    graph, _, found, moments = read(facts)
    for other in found:
        first, second = graph.answer(other.race.first), graph.answer(other.race.second)
        assert first is not None
        assert second is not None
        assert other.order.index(second) < other.order.index(first)
        kept = [seq for seq in moments if not first <= seq <= second]
        assert [seq for seq in other.order if not first <= seq <= second] == kept
        assert other.order[: moments.index(first)] == tuple(moments[: moments.index(first)])


@settings(max_examples=40, deadline=None)
@given(facts=programs())
@pytest.mark.sweep
def test_no_two_orders_end_in_the_same_way_and_asked_again_they_are_the_same(facts: list[Fact]) -> None:
    graph, _, found, _ = read(facts)
    ends = [tuple(seq for seq in other.order if graph.question(seq) != seq) for other in found]
    assert len(set(ends)) == len(ends)
    assert tuple(sorted(ends[0])) not in ends if ends else True
    assert read(facts)[2] == found


@settings(max_examples=40, deadline=None)
@given(facts=programs(most=20), data=st.data())
def test_the_races_are_the_same_in_whichever_order_concurrent_lanes_wrote(
    facts: list[Fact], data: st.DataObject
) -> None:
    def count(facts: list[Fact]) -> tuple[Graph, int, int]:
        with tempfile.TemporaryDirectory() as folder, write(Path(folder), facts, name="run-1") as recording:
            graph = read_graph(recording)
            orders = find_orders(recording, graph)
            for _ in orders:
                pass
            return graph, orders.races, orders.one_sided

    graph, *amounts = count(facts)
    before: dict[int, list[int]] = {}
    for edge in graph.edges:
        before.setdefault(edge.after, []).append(edge.before)
    left, written = sorted(graph.nodes), list[int]()
    while left:
        ready = [seq for seq in left if all(each in written for each in before.get(seq, ()))]
        chosen = data.draw(st.sampled_from(ready))
        written.append(chosen)
        left.remove(chosen)
    assert count([facts[seq] for seq in written])[1:] == tuple(amounts)


def test_what_was_cancelled_has_no_answer_to_be_first_with(tmp_path: Path) -> None:
    @playhead.tool
    async def wait(turns: int) -> int:
        for _ in range(turns):
            await asyncio.sleep(0)
        return turns

    async def race() -> None:
        tasks = [asyncio.create_task(wait(turns)) for turns in (1, 500, 600)]
        _, losers = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in losers:
            task.cancel()
        await asyncio.wait(losers)

    with playhead.record(store=tmp_path, id="run-1"):
        asyncio.run(race())
    recording = playhead.load("run-1", store=tmp_path)
    orders = find_orders(recording, read_graph(recording))
    assert list(orders) == []
    assert orders.races == orders.one_sided > 0


def test_those_come_first_that_met_most_closely_and_move_least(tmp_path: Path) -> None:
    @playhead.tool
    async def wait(turns: int) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        return f"after {turns} turns"

    async def agent() -> None:
        await asyncio.gather(*[wait(turns) for turns in (1, 5, 9)])

    with playhead.record(store=tmp_path, id="run-1"):
        asyncio.run(agent())
    recording = playhead.load("run-1", store=tmp_path)
    graph = read_graph(recording)
    found = list(find_orders(recording, graph))
    assert len(found) == len(list(find_races(graph, each="pair"))) == 3
    assert [len(other.also) for other in found] == [0, 0, 1]


def test_the_end_of_a_process_comes_after_all_that_was_done_in_it(tmp_path: Path) -> None:
    entry = {"entry": {"form": "program", "argv": ["a"]}, "kind": "run", "id": "run-1"}
    facts = [
        Fact("main", 0, "x.begin", {}),
        Fact("main", 1, "run.started", {**entry, "environment": {"python": "3", "platform": "p"}}),
        Fact("main/a#1", 0, "tool.called", {"name": "a", "arguments": {}}),
        Fact("main/b#1", 0, "tool.called", {"name": "b", "arguments": {}}),
        Fact("main/a#1", 1, "tool.returned", {"value": 1}, ("main/a#1", 0)),
        Fact("main/b#1", 1, "tool.returned", {"value": 2}, ("main/b#1", 0)),
        Fact("main", 2, "run.finished", {"outcome": "success"}),
    ]
    with write(tmp_path, facts, name="run-1") as recording:
        graph = read_graph(recording)
        assert [(race.first, race.second, race.met) for race in find_races(graph)] == [(2, 3, 6)]
        assert [other.order for other in find_orders(recording, graph)] == [(2, 3, 5, 4)]
