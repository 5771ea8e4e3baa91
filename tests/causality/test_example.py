"""A team of agents that gives a wrong answer, and what led to it."""

from __future__ import annotations

from pathlib import Path

import pytest

import playhead
from playhead.causality import Graph, drawn_edges, find_causes, find_effects, find_races, read_graph
from tests.causality.agents import record_team


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> playhead.Recording:
    return record_team(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def graph(team: playhead.Recording) -> Graph:
    return read_graph(team)


def tool_result(recording: playhead.Recording, item: str) -> int:
    """The answer of the price list for an item."""
    for exchange in recording.steps:
        if getattr(exchange.question.body, "arguments", None) == {"item": item}:
            assert exchange.answer is not None
            return exchange.answer.seq
    raise LookupError(item)


def test_the_wrong_answer_leads_back_to_the_tool_result_that_caused_it(team: playhead.Recording, graph: Graph) -> None:
    assert graph.end is not None
    wrong = tool_result(team, "salt")
    causes = find_causes(graph, graph.end)
    assert wrong in causes.seqs
    kinds = [edge.kind for edge in causes.edges if edge.before == wrong]
    assert kinds == ["result"]
    assert graph.end in find_effects(graph, wrong).seqs


def test_every_tool_call_was_asked_for_by_the_answer_of_its_own_agent(team: playhead.Recording, graph: Graph) -> None:
    """B61: each call lies under its own step, also where agents run side by side."""
    calls = [edge for edge in graph.edges if edge.kind == "call"]
    assert len(calls) == 2
    for edge in calls:
        assert graph.nodes[edge.before].lane == graph.nodes[edge.after].lane


def test_the_researchers_raced_to_the_prompt_of_the_buyer(team: playhead.Recording, graph: Graph) -> None:
    first, *others = find_races(graph)
    assert (first.way, graph.nodes[first.met].name) == ("direct", "buyer")
    assert {graph.nodes[seq].name for seq in (first.first, first.second)} == {"tea-researcher", "salt-researcher"}
    assert others == []


def test_another_run_of_the_same_program_has_the_same_graph(graph: Graph, tmp_path: Path) -> None:
    """B41: whichever researcher was quicker, and whether or not a client set itself a timer."""
    again = read_graph(record_team(tmp_path, "team-2"))
    assert shape_of(again) == shape_of(graph)


def shape_of(graph: Graph) -> set[tuple[tuple[str, int], tuple[str, int], str]]:
    """The edges but for those of sleeps and waits, the events named by lane and place among the others."""
    passing = frozenset({"sleep.asked", "sleep.ended", "lane.opened", "lane.woken"})
    names = {}
    for lane, seqs in graph.lanes.items():
        kept = [seq for seq in seqs if graph.nodes[seq].kind not in passing]
        names |= {seq: (lane, place) for place, seq in enumerate(kept)}
    found = set()
    for edge in drawn_edges(graph, passing):
        before, after = names[edge.before], names[edge.after]
        found.add((before, after, "order" if before[0] == after[0] else edge.kind))
    return found
