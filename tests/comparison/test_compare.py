"""Two recordings side by side: what counts, what does not, and which exchange is which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import playhead
from playhead.comparison import Comparison, align, compare


def run(folder: Path, name: str, *calls: tuple[str, Any, Any], outcome: str = "success") -> playhead.Recording:
    """A run of tool calls: name, argument, answer."""
    tools: dict[str, Any] = {}
    with playhead.record(kind="run", store=folder, id=name) as this:
        for tool, argument, answer in calls:
            tools[tool] = playhead.tool(lambda q, answer=answer: answer, name=tool)
            tools[tool](argument)
        if outcome == "success":
            this.succeed("done")
        else:
            this.fail("no")
    return playhead.load(name, store=folder)


CALLS = [("search", "parcel", ["A-1"]), ("read", "policy", "30 days"), ("search", "order", ["A-2"])]


def kinds(found: Comparison) -> list[tuple[str, str, int | None, int | None]]:
    return [(change.kind, change.name, change.step, change.step_after) for change in found.changes]


def test_two_equal_runs_are_the_same_whatever_their_timings(tmp_path: Path) -> None:
    """B41: wall-clock fields are no part of what is compared; one letter in an answer is."""
    first, second = run(tmp_path, "run-1", *CALLS), run(tmp_path, "run-2", *CALLS)
    found = compare(first, second)
    assert found.same
    assert found.equal == 3
    assert first.header.created_ns != second.header.created_ns
    altered = run(tmp_path, "run-3", CALLS[0], ("read", "policy", "31 days"), CALLS[2])
    found = compare(first, altered)
    assert not found.same
    assert [each.path for each in found.changes[0].answered] == ["/value"]
    assert found.changes[0].answered[0].words() == "[-30-]{+31+} days"


def test_which_of_two_parallel_branches_was_quicker_does_not_count(tmp_path: Path) -> None:
    """B41: finishing order matters only where it changed what the agent saw."""
    import threading

    def parallel(name: str, order: list[int]) -> playhead.Recording:
        turns = [threading.Event() for _ in order]
        tool = playhead.tool(lambda n: n * 10, name="count")

        def one() -> None:
            turns[1].wait(10)
            tool(1)
            turns[2].set()

        def two() -> None:
            turns[2].wait(10)
            tool(2)
            turns[1].set()

        with playhead.record(kind="run", store=tmp_path, id=name):
            threads = [threading.Thread(target=one), threading.Thread(target=two)]
            for thread in threads:
                thread.start()
            turns[order[0]].set()
            for thread in threads:
                thread.join()
        return playhead.load(name, store=tmp_path)

    first, second = parallel("run-1", [1, 2, 0]), parallel("run-2", [2, 1, 0])
    lanes = [[exchange.question.lane for exchange in each.exchanges] for each in (first, second)]
    assert lanes[0] == lanes[1][::-1]
    assert compare(first, second).same


def test_a_call_that_was_added_or_left_out_shifts_no_other(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", *CALLS)
    more = run(tmp_path, "run-2", ("search", "new", []), *CALLS)
    assert kinds(compare(first, more)) == [("added", "search", None, 1)]
    assert kinds(compare(more, first)) == [("removed", "search", 1, None)]


def test_a_question_in_other_words_is_the_same_place_changed(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", *CALLS)
    other = run(tmp_path, "run-2", CALLS[0], ("read", "policies", "30 days"), CALLS[2])
    found = compare(first, other)
    assert kinds(found) == [("changed", "read", 2, 2)]
    assert [each.path for each in found.changes[0].asked] == ["/q"]
    assert found.changes[0].answered == ()


def test_ids_that_are_made_anew_are_told_and_do_not_count(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", ("book", "x", {"id": "ticket_8f3a91c0"}))
    second = run(tmp_path, "run-2", ("book", "x", {"id": "ticket_77b1d2e4"}))
    found = compare(first, second)
    assert found.same
    assert [each.path for each in found.renamed] == ["/value/id"]


def test_another_outcome_is_a_difference(tmp_path: Path) -> None:
    first, second = run(tmp_path, "run-1", *CALLS), run(tmp_path, "run-2", *CALLS, outcome="failure")
    found = compare(first, second)
    assert found.outcomes == ("success", "failure")
    assert not found.same
    assert {each.path for each in found.result} == {"/result", "/reason"}


def test_every_exchange_of_both_is_in_exactly_one_pair(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", *CALLS, ("x", 1, 1))
    second = run(tmp_path, "run-2", ("y", 1, 1), *reversed(CALLS))
    pairs = align(first, second)
    assert sorted(pair.before.question.seq for pair in pairs if pair.before) == [
        e.question.seq for e in first.exchanges
    ]
    assert sorted(pair.after.question.seq for pair in pairs if pair.after) == [e.question.seq for e in second.exchanges]
