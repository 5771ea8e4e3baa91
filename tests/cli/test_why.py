"""``why`` and ``show --graph``: a chain from a wrong answer to what caused it, as a person types for it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import playhead
from playhead.causality import find_races, read_graph
from tests.causality.agents import record_team
from tests.cli.commands import type_in


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of a team that gave a wrong answer, and a run of nothing but one tool."""
    folder = tmp_path_factory.mktemp("project")
    record_team(folder / ".playhead")
    with playhead.record(kind="lone", store=folder / ".playhead", id="lone-1"):
        playhead.tool(lambda n: n, name="count")(1)
    return folder


def test_the_chain_from_a_wrong_answer_leads_to_the_tool_result_that_caused_it(project: Path) -> None:
    done = type_in(project, "why", "team-1")
    assert done.returncode == 0
    first, *rest = done.stdout.splitlines()
    assert re.fullmatch(r'#\d+ the run ended \(success\) "Do not buy any salt: .*"', first)
    depths = {
        words: line.index("─") for words in _CHAIN if (line := next((each for each in rest if words in each), ""))
    }
    assert list(depths) == list(_CHAIN)
    assert sorted(depths.values()) == list(depths.values())
    assert len(set(depths.values())) == len(_CHAIN)
    assert "playhead show team-1 --graph" in done.stderr


_CHAIN = (
    "model buyer",
    'model salt-researcher "According to the list',
    'tool look_up_price (item="salt") → {item: "salt", price: "9999 euros',
    "model salt-researcher look_up_price(",
)


def test_an_event_and_a_step_are_told_apart(project: Path) -> None:
    recording = playhead.load("team-1", store=project / ".playhead")
    seq = recording.step(3).question.seq
    by_step = type_in(project, "why", "team-1", "--step", "3", "--forward")
    by_seq = type_in(project, "why", f"team-1#{seq}", "--forward")
    assert by_step.stdout == by_seq.stdout
    assert by_step.stdout.startswith(f"#{seq} step 3 ")
    assert "the run ended" in by_step.stdout.splitlines()[-1]


def test_json_holds_events_and_edges(project: Path) -> None:
    found = json.loads(type_in(project, "why", "team-1", "--json").stdout)
    seqs = [event["seq"] for event in found["events"]]
    assert seqs[-1] == found["start"]
    assert {edge["after"] for edge in found["edges"]} | {edge["before"] for edge in found["edges"]} == set(seqs)
    assert {"result", "text", "call", "answer"} <= {edge["kind"] for edge in found["edges"]}


def test_races_are_listed_and_are_a_no(project: Path) -> None:
    done = type_in(project, "why", "team-1", "--races")
    race = next(find_races(read_graph(playhead.load("team-1", store=project / ".playhead"))))
    assert done.returncode == 1
    assert f"the order of #{race.first} and #{race.second} was a matter of luck" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 race"
    every = json.loads(type_in(project, "why", "team-1", "--races", "--all", "--json").stdout)
    assert len(every["races"]) == 9
    lone = type_in(project, "why", "lone-1", "--races")
    assert (lone.returncode, lone.stdout.startswith("no races")) == (0, True)


def test_lanes_and_edges_are_drawn_for_people_and_for_programs(project: Path) -> None:
    drawn = type_in(project, "show", "team-1", "--graph").stdout
    assert all(sign in drawn for sign in ("◆ run.started", "○", "●", "│", "main/advise#1/research#2"))
    dot = type_in(project, "show", "team-1", "--graph=dot").stdout
    assert dot.startswith("digraph run {")
    assert dot.count("subgraph") == 4
    mermaid = type_in(project, "show", "team-1", "--graph=mermaid").stdout
    assert mermaid.startswith("flowchart TB")
    assert "==>|result|" in mermaid
    found = json.loads(type_in(project, "show", "team-1", "--graph", "--json").stdout)
    numbers = {event["seq"]: event["lamport"] for event in found["events"]}
    assert all(numbers[edge["before"]] < numbers[edge["after"]] for edge in found["edges"])


def test_where_nothing_was_handed_on_what_only_came_before_is_named_so(project: Path) -> None:
    assert "came after #" in type_in(project, "why", "lone-1").stdout


@pytest.mark.parametrize(
    "words",
    [
        ["why", "team-1#x"],
        ["why", "team-1#9999"],
        ["why", "team-1#3", "--step", "2"],
        ["why", "team-1", "--step", "99"],
        ["why", "team-1", "--races", "--forward"],
        ["show", "team-1#2", "--graph"],
    ],
)
def test_what_cannot_be_carried_out_is_a_usage_error_with_a_next_command(project: Path, words: list[str]) -> None:
    done = type_in(project, *words)
    assert done.returncode == 2
    assert "next: playhead" in done.stderr
    assert done.stdout == ""
