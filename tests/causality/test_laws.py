"""Laws of the graph, for any run."""

from __future__ import annotations

import tempfile
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import playhead
from playhead.causality import Graph, find_causes, find_effects, find_races, read_graph
from playhead.events import QUESTIONS
from tests.causality.writing import Fact, edges_of, key_of, programs, write

pytestmark = pytest.mark.slow

FEW = 15 if settings.default.derandomize else 50
"""Examples of what takes longest: where they are the same each time, more of them find nothing new."""


def graph_of(facts: list[Fact]) -> Graph:
    with tempfile.TemporaryDirectory() as folder, write(Path(folder), facts, name="run-1") as recording:
        return read_graph(recording)


@settings(max_examples=50, deadline=None)
@given(facts=programs())
def test_every_edge_respects_the_order_of_the_recording_so_there_are_no_rings(facts: list[Fact]) -> None:
    graph = graph_of(facts)
    assert all(edge.before < edge.after for edge in graph.edges)
    place = {seq: at for at, seq in enumerate(graph.order)}
    assert sorted(place) == sorted(graph.nodes)
    for edge in graph.edges:
        assert place[edge.before] < place[edge.after]
        assert graph.nodes[edge.before].lamport < graph.nodes[edge.after].lamport


@settings(max_examples=FEW, deadline=None)
@given(facts=programs(), data=st.data())
def test_the_order_is_the_same_in_whichever_order_concurrent_lanes_wrote(
    facts: list[Fact], data: st.DataObject
) -> None:
    """B41: which of two branches was quicker makes no other graph where it changed nothing that was seen."""
    graph = graph_of(facts)
    before: dict[int, list[int]] = {}
    for edge in graph.edges:
        before.setdefault(edge.after, []).append(edge.before)
    left, written = sorted(graph.nodes), list[int]()
    while left:
        ready = [seq for seq in left if all(each in written for each in before.get(seq, ()))]
        chosen = data.draw(st.sampled_from(ready))
        written.append(chosen)
        left.remove(chosen)
    again = graph_of([facts[seq] for seq in written])
    assert edges_of(again) == edges_of(graph)
    assert [key_of(again, seq) for seq in again.order] == [key_of(graph, seq) for seq in graph.order]
    lanes = {frozenset({key_of(graph, race.first), key_of(graph, race.second)}) for race in find_races(graph)}
    assert {frozenset({key_of(again, race.first), key_of(again, race.second)}) for race in find_races(again)} == lanes


@settings(max_examples=40, deadline=None)
@given(facts=programs(), data=st.data())
def test_what_an_event_was_caused_by_led_to_it(facts: list[Fact], data: st.DataObject) -> None:
    graph = graph_of(facts)
    seq = data.draw(st.sampled_from(sorted(graph.nodes)))
    for through in ("data", "all"):
        causes = find_causes(graph, seq, through=through)
        assert causes.seqs[-1] == seq
        assert all(seq in find_effects(graph, each, through=through).seqs for each in causes.seqs)
        assert set(causes.edges) <= set(graph.edges)
    everything = set(find_causes(graph, seq, through="all").seqs)
    assert everything == {each for each in graph.nodes if graph.reaches(each, seq)}


@settings(max_examples=40, deadline=None)
@given(facts=programs())
def test_races_are_the_pairs_that_no_path_connects_and_that_met(facts: list[Fact]) -> None:
    graph = graph_of(facts)
    exchanges = {seq: end for seq in graph.nodes if _asks(graph, seq) and (end := graph.answer(seq)) is not None}
    targets = [seq for seq, node in graph.nodes.items() if node.kind in ("model.requested", "run.finished")]
    expected = set()
    for (one, end), (other, other_end) in combinations(exchanges.items(), 2):
        free = not graph.reaches(end, other_end) and not graph.reaches(other_end, end)
        if free and any(graph.reaches(end, each) and graph.reaches(other_end, each) for each in targets):
            expected.add((one, other) if end < other_end else (other, one))
    found = [(race.first, race.second) for race in find_races(graph, each="pair")]
    assert sorted(found) == sorted(expected)
    assert {(race.first, race.second) for race in find_races(graph)} <= expected


def _asks(graph: Graph, seq: int) -> bool:
    return graph.nodes[seq].kind in QUESTIONS


def test_a_run_in_one_lane_has_no_race(tmp_path: Path) -> None:
    tool = playhead.tool(lambda n: n, name="count")
    with playhead.record(store=tmp_path, id="run-1"):
        for number in range(20):
            tool(number)
    assert list(find_races(read_graph(playhead.load("run-1", store=tmp_path)))) == []
