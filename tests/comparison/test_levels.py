"""How closely two recordings are compared, and what of a model's requests is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.comparison import Level, compare
from playhead.errors import UsageError
from playhead.testing import Answer, Request, Text, ToolCall, ToolCalls
from tests.bisection.runs import converse


def run(folder: Path, name: str, *calls: tuple[str, Any, Any]) -> playhead.Recording:
    """A run of tool calls: name, argument, answer (raised where it is an exception)."""

    def called(q: Any, answer: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with playhead.record(kind="run", store=folder, id=name):
        for tool, argument, answer in calls:
            door = playhead.tool(lambda q, answer=answer: called(q, answer), name=tool)
            try:
                door(argument)
            except ValueError:
                pass
    return playhead.load(name, store=folder)


CALLS = [("search", "parcel", {"id": 1, "at": "Ulm"}), ("read", {"page": 1}, "30 days")]


@pytest.mark.parametrize(
    ("second", "same"),
    [
        ([("search", "order", {"id": 2, "at": "Bonn"}), ("read", {"page": 7}, "31 days")], "shapes"),
        ([("search", ["parcel"], {"id": 1, "at": "Ulm"}), CALLS[1]], "names"),
        ([CALLS[0], ("read", {"page": 1, "of": "x"}, "30 days")], "names"),
        ([CALLS[0], ("read", {"page": 1}, ValueError("no such page"))], "names"),
        ([CALLS[0], ("skim", {"page": 1}, "30 days")], None),
        (CALLS, "values"),
    ],
)
def test_each_level_sees_what_it_is_for(tmp_path: Path, second: Any, same: Level | None) -> None:
    first, other = run(tmp_path, "run-1", *CALLS), run(tmp_path, "run-2", *second)
    levels: tuple[Level, ...] = ("names", "shapes", "values")
    found = [compare(first, other, on=level).same for level in levels]
    assert found == [same is not None and level <= levels.index(same) for level in range(3)]


def test_what_does_not_count_at_a_level_is_there_to_be_looked_at(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", *CALLS)
    second = run(tmp_path, "run-2", ("search", "order", {"id": 2, "at": "Ulm"}), CALLS[1])
    found = compare(first, second, on="shapes")
    (change,) = found.changes
    assert (found.same, change.level, change.counts, found.equal) == (True, "values", False, 1)
    assert [each.path for each in (*change.asked, *change.answered)] == ["/q", "/value/id"]


@pytest.mark.parametrize(
    ("path", "same"),
    [
        *(("/value/id", False), ("/value", False), ("/*/id", False), ("/q", False)),
        *(("/value/at", True), ("/id", True), ("/q/deeper", False), ("/value/*/x", False)),
    ],
)
def test_values_at_a_path_count_whatever_the_level(tmp_path: Path, path: str, same: bool) -> None:
    first = run(tmp_path, "run-1", *CALLS)
    second = run(tmp_path, "run-2", ("search", "order", {"id": 2, "at": "Ulm"}), CALLS[1])
    assert compare(first, second, on="names", paths=[path]).same is same
    with pytest.raises(UsageError, match="is no path"):
        compare(first, second, paths=["value"])


def test_calls_tokens_and_steps_are_told_and_do_not_decide(tmp_path: Path) -> None:
    def script(words: str) -> Any:
        def answer(request: Request) -> Answer:
            return Text("done") if request.tool_results else ToolCalls([ToolCall("search", {"q": words})])

        return answer

    first = converse(tmp_path, "run-1", script("tea"))
    second = converse(tmp_path, "run-2", script("a much longer question about tea"))
    found = compare(first, second, on="shapes")
    assert found.same
    assert found.calls == ({"search": 1}, {"search": 1})
    assert found.steps == (3, 3)
    assert found.spent[0].tokens < found.spent[1].tokens


def conversation(
    folder: Path, name: str, answers: list[str], *, system: str = "Be kind.", fresh: int = -1
) -> playhead.Recording:
    """A wrapped model that is asked with all that was said so far; before request ``fresh`` it is forgotten."""
    said = iter(answers)
    ask = playhead.model(lambda system, messages: next(said), name="model")
    with playhead.record(kind="run", store=folder, id=name):
        messages: list[str] = ["hello"]
        for turn in range(len(answers)):
            messages = ["hello"] if turn == fresh else messages
            messages = [*messages, ask(system, messages)]
    return playhead.load(name, store=folder)


def test_a_change_in_a_conversation_is_told_where_it_came_in_and_not_again(tmp_path: Path) -> None:
    """B44: two small changes far apart are two small changes, however much is repeated after them."""
    answers = [f"answer {number}" for number in range(20)]
    first = conversation(tmp_path, "run-1", answers)
    changed = [*answers[:4], "something else", *answers[5:]]
    found = compare(first, conversation(tmp_path, "run-2", changed))
    places = [(c.step, [d.path for d in c.asked], [d.path for d in c.answered]) for c in found.changes]
    assert places == [(5, [], ["/content"]), (6, ["/messages/5"], [])]
    found = compare(first, conversation(tmp_path, "run-3", answers, system="Be brief."))
    assert [(c.step, [d.path for d in c.asked]) for c in found.changes] == [(1, ["/system"])]


def test_a_conversation_that_was_begun_anew_is_not_taken_for_one_that_went_on(tmp_path: Path) -> None:
    answers = ["same"] * 8
    first = conversation(tmp_path, "run-1", answers)
    second = conversation(tmp_path, "run-2", answers, fresh=4)
    found = compare(first, second)
    assert not found.same
    assert found.changes[0].step == 5
    assert {difference.kind for difference in found.changes[0].asked} == {"removed"}


def test_what_came_in_between_stands_where_it_came(tmp_path: Path) -> None:
    first = run(tmp_path, "run-1", *(("a", n, n) for n in range(6)))
    second = run(tmp_path, "run-2", *(("a", n, n) for n in range(3)), ("b", 1, 1), *(("a", n, n) for n in range(3, 6)))
    found = compare(first, second)
    assert [place.change for place in found.places] == [None, None, None, 0, None, None, None]
    assert compare(second, first).changes[0].kind == "removed"
