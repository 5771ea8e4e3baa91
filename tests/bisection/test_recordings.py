"""Searches over recordings: the planted step is found, checks are given what they need, rules say what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.bisection import (
    RULES,
    Bisected,
    Judgement,
    Prefix,
    Prefixes,
    all_of,
    bisect_recording,
    check_of,
    command_check,
    held_so_far,
    load_function,
    make_check,
)
from playhead.errors import CheckFailedError, ProgramNotStartedError, UsageError
from playhead.testing import Answer, Refusal, Request, Text, ToolCall, ToolCalls
from tests.bisection.runs import converse, note_down


def rule(recording: playhead.Recording, *rules: str) -> Bisected:
    return bisect_recording(recording, make_check(rules))


def searching(*arguments: dict[str, Any], last: Answer | None = None, tool: str = "search") -> Any:
    def script(request: Request) -> Answer:
        turn = len(request.tool_results)
        return ToolCalls([ToolCall(tool, arguments[turn])]) if turn < len(arguments) else last or Text("done")

    return script


@pytest.mark.parametrize(
    "places",
    [
        (1, 2, 3, 99, 100, 127, 128, 129, 199, 200),
        *(pytest.param(range(first, 201, 4), marks=pytest.mark.sweep) for first in (1, 2, 3, 4)),
    ],
    ids=["edges", *map("every fourth from {}".format, (1, 2, 3, 4))],
)
def test_a_corruption_at_each_step_of_200_is_found_within_the_budget(tmp_path: Path, places: Sequence[int]) -> None:
    """A fault that stays (all later answers carry it), and one that a single step shows: every place there is."""
    stays = check_of(lambda prefix: "spoilt" not in prefix.text, name="stays")
    single = make_check(["regex=planted"])
    for planted in places:

        def said(step: int, planted: int = planted) -> str:
            return "planted, spoilt" if step == planted else "spoilt" if step > planted else "fine"

        with note_down(tmp_path, f"run-{planted}", said, 200) as recording:
            quick = bisect_recording(recording, stays, sweep=False).finding
            swept = bisect_recording(recording, single).finding
        assert (quick.kind, quick.step, quick.swept) == ("found", planted, 0)
        assert (swept.kind, swept.step, swept.proved) == ("found", planted, True)
        assert quick.checks <= 10
        assert swept.checks <= 10


def test_a_check_that_looks_at_one_step_is_reported_with_its_turns_and_never_answered(tmp_path: Path) -> None:
    recording = note_down(tmp_path, "run-1", lambda n: "spoilt" if n in (50, 51, 120) else "fine", 200)
    check = check_of(lambda prefix: "spoilt" not in prefix.text, name="single")
    found = bisect_recording(recording, check).finding
    assert (found.kind, found.step) == ("not_monotonic", None)
    assert [(turn.step, turn.verdict) for turn in found.turns] == [
        *((50, "bad"), (52, "good"), (120, "bad"), (121, "good"))
    ]
    assert bisect_recording(recording, held_so_far(check)).finding.step == 50


def test_a_prefix_has_what_the_agent_had_and_no_more(tmp_path: Path) -> None:
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "salt"}))
    prefixes = Prefixes(recording)
    assert [(each.kind, each.name) for each in prefixes] == [
        *(("model", "gpt-4o-mini"), ("tool", "search"), ("model", "gpt-4o-mini"), ("tool", "search")),
        ("model", "gpt-4o-mini"),
    ]
    fourth = prefixes.up_to(4)
    assert fourth.asked == {"q": "salt"}
    assert fourth.answered == fourth.text == "found salt"
    assert not fourth.failed
    assert fourth.error is None
    assert [each.step for each in fourth.steps] == [1, 2, 3, 4]
    assert [message["role"] for message in fourth.context["messages"]] == ["user", "assistant", "tool"]
    assert fourth.state == {"turns": 4}
    assert [(each.step, each.arguments, each.value) for each in fourth.returns] == [(4, {"q": "salt"}, "found salt")]
    third = prefixes[2]
    assert [call.name for call in third.tool_calls] == ["search"]
    assert [each.value for each in third.returns] == ["found tea"]
    assert prefixes[0].state is None
    assert prefixes[0].returns == []
    assert prefixes[4].text == "done"
    spent = [each.spent.tokens for each in prefixes]
    assert spent == sorted(spent)
    assert spent[0] == spent[1] < spent[2]
    assert prefixes[-1].spent.uncounted == 0
    with pytest.raises(UsageError, match="steps 1 to 5"):
        prefixes.up_to(6)


def test_a_model_that_is_a_function_has_arguments_and_a_value(tmp_path: Path) -> None:
    ask = playhead.model(lambda prompt, n=1: {"said": prompt.upper()}, name="shouting")
    with playhead.record(kind="x", store=tmp_path, id="run-1"):
        ask("tea", n=2)
    prefix = Prefixes(playhead.load("run-1", store=tmp_path))[0]
    assert (prefix.kind, prefix.name) == ("model", "shouting")
    assert prefix.asked == {"prompt": "tea", "n": 2}
    assert prefix.answered == {"said": "TEA"}
    assert prefix.text == '{"said": "TEA"}'
    assert prefix.tool_calls == []


def test_what_a_tool_raised_is_the_error_of_its_prefix(tmp_path: Path) -> None:
    def refund(amount: int) -> None:
        raise PermissionError(f"{amount} needs a manager")

    with playhead.record(kind="x", store=tmp_path, id="run-1"):
        for amount in (3, 4):
            with pytest.raises(PermissionError):
                playhead.tool(refund)(amount)
    prefix = Prefixes(playhead.load("run-1", store=tmp_path))[1]
    assert prefix.failed
    assert isinstance(prefix.error, PermissionError)
    assert prefix.text == "PermissionError: 4 needs a manager"
    assert [type(each.error) for each in prefix.returns] == [PermissionError, PermissionError]


@pytest.mark.parametrize(("said", "verdict"), [(True, "good"), (None, "good"), (False, "bad"), ("skip", "skip")])
def test_a_function_says_yes_no_or_that_it_cannot_tell(tmp_path: Path, said: Any, verdict: str) -> None:
    prefix = Prefixes(note_down(tmp_path, "run-1", str, 1))[0]
    assert check_of(lambda _: said, name="mine")(prefix).verdict == verdict


def test_a_failed_assertion_is_bad_and_says_why(tmp_path: Path) -> None:
    def check(prefix: Prefix) -> None:
        assert prefix.step < 3, f"step {prefix.step} is too many"

    found = bisect_recording(note_down(tmp_path, "run-1", str, 5), check_of(check, name="mine"))
    assert found.finding.step == 3
    assert found.why[3].startswith("step 3 is too many")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda prefix: {}["x"], "it raised KeyError"),
        (lambda prefix: 1, "it returned 1, not True"),
        (lambda prefix: later(), "it is asynchronous"),
    ],
)
def test_a_check_that_is_broken_itself_says_nothing_of_the_run(tmp_path: Path, function: Any, why: str) -> None:
    recording = note_down(tmp_path, "run-1", str, 3)
    with pytest.raises(CheckFailedError, match=why) as raised:
        bisect_recording(recording, check_of(function, name="mine"))
    assert raised.value.facts == {"check": "mine", "run": "run-1", "step": 3}


async def later() -> bool:
    return True


def test_arguments_are_held_against_the_schema_that_the_model_was_given(tmp_path: Path) -> None:
    """B28: arguments that are no JSON, or of the wrong type, are a fault of the step that asked with them."""
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "salt", "most": 11}, {"q": "oil"}))
    found = rule(recording, "schema")
    assert found.finding.step == 3
    assert found.why == {3: "search: /most is 11, more than 10"}
    assert rule(converse(tmp_path, "run-2", searching({"q": "tea"}, {"q": "salt"})), "schema").finding.kind == "holds"
    found = rule(converse(tmp_path, "run-3", searching({"q": "tea"}, {})), "schema")
    assert (found.finding.step, found.why) == (3, {3: "search: / lacks 'q'"})


def test_a_call_of_a_tool_that_was_not_offered_is_told(tmp_path: Path) -> None:
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "x"}, tool="find"))
    found = rule(recording, "tool-existed")
    assert found.finding.step == 1
    assert found.why == {1: "the model called 'find'; it was offered search"}
    assert rule(converse(tmp_path, "run-2", searching({"q": "tea"})), "tool-existed").finding.kind == "holds"


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (Text('{"price": 3}'), None),
        (Text('{"price": "three"}'), "/price is string, not number"),
        (Text("three euros"), "the answer is no JSON, though a schema was asked for"),
        (Refusal("I cannot help with that"), "refusal instead of an answer by its schema"),
    ],
)
def test_an_answer_is_held_against_the_schema_that_was_asked_for(tmp_path: Path, last: Answer, why: str | None) -> None:
    """B30: a refusal is no empty turn."""
    schema = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}
    asked = {"type": "json_schema", "json_schema": {"name": "price", "schema": schema}}
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, last=last), response_format=asked)
    found = rule(recording, "result-validated")
    assert found.finding.step == (None if why is None else 3)
    assert found.why == ({} if why is None else {3: why})


def test_a_result_is_held_against_the_schema_that_the_run_began_with(tmp_path: Path) -> None:
    declared = {"name": "count", "outputSchema": {"type": "integer"}}
    count = playhead.tool(lambda word: len(word) if word else "none", name="count")
    with playhead.record(kind="x", store=tmp_path, id="run-1", tools=[declared]):
        for word in ("tea", "", "salt"):
            count(word)
    found = rule(playhead.load("run-1", store=tmp_path), "result-validated")
    assert (found.finding.step, found.why) == (2, {2: "count: / is string, not integer"})


def test_tokens_are_counted_over_the_run_and_what_is_not_known_is_not_nothing(tmp_path: Path) -> None:
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "salt"}))
    sums = [prefix.spent.tokens for prefix in Prefixes(recording)]
    assert rule(recording, f"tokens={sums[0]}").finding.step == 3
    assert rule(recording, f"tokens={sums[-1]}").finding.kind == "holds"
    ask = playhead.model(lambda prompt: prompt.upper(), name="shouting")
    with playhead.record(kind="x", store=tmp_path, id="run-2"):
        ask("tea")
    unknown = playhead.load("run-2", store=tmp_path)
    assert Prefixes(unknown)[0].spent.uncounted == 1
    assert rule(unknown, "tokens=1000").finding.kind == "unsure"


def test_the_same_call_again_is_told_by_name_and_arguments(tmp_path: Path) -> None:
    """B42: an agent that goes round in circles calls the same tool with the same arguments."""
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "salt"}, {"q": "tea"}, {"q": "tea"}))
    assert rule(recording, "repeated").finding.step == 6
    assert rule(recording, "repeated=2").why == {8: "search was called 3 times with the same arguments"}
    assert rule(recording, "repeated=3").finding.kind == "holds"


def test_of_several_rules_the_first_that_is_broken_counts(tmp_path: Path) -> None:
    recording = converse(tmp_path, "run-1", searching({"q": "tea"}, {"q": "tea"}, {"q": 5}))
    assert rule(recording, "schema", "repeated").why == {4: "search was called 2 times with the same arguments"}
    assert rule(recording, "schema", "repeated=3").finding.step == 5


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "there is no rule 'nonsense'"),
        ("tokens", "needs an argument"),
        ("tokens=many", "cannot be 'many'"),
        ("tokens=-1", "cannot be '-1'"),
        ("repeated=x", "cannot be 'x'"),
        ("schema=1", "takes no argument"),
        ("regex=(", r"cannot be '\('"),
    ],
)
def test_what_is_no_rule_is_told_with_what_would_be_one(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        make_check([text])
    assert raised.value.next is not None
    assert raised.value.next.startswith("playhead bisect ")


def test_without_a_list_of_prices_a_cost_is_unknown_and_never_nothing(tmp_path: Path) -> None:
    """B66: an unknown price is never 0."""
    from playhead.comparison import has_prices

    recording = converse(tmp_path, "run-1", searching({"q": "tea"}))
    if not has_prices():
        assert Prefixes(recording)[0].spent.unpriced == 1
        with pytest.raises(UsageError, match="list of prices"):
            make_check(["cost=1"])
    else:
        assert rule(recording, "cost=0").finding.kind in ("found", "unsure")


def test_several_checks_are_bad_with_the_first_that_is_and_undecided_with_any_that_is() -> None:
    def saying(verdict: Any) -> Any:
        return lambda prefix: Judgement(verdict, verdict)

    prefix: Any = None
    assert all_of([saying("good"), saying("skip"), saying("bad")])(prefix).verdict == "bad"
    assert all_of([saying("skip"), saying("good")])(prefix).verdict == "skip"
    assert all_of([])(prefix).verdict == "good"


def test_a_check_may_be_used_on_one_recording_after_another(tmp_path: Path) -> None:
    first = note_down(tmp_path, "run-1", lambda n: "spoilt" if n == 3 else "fine", 5)
    second = note_down(tmp_path, "run-2", lambda n: "spoilt" if n == 5 else "fine", 5)
    check = make_check(["regex=spoilt"])
    assert [bisect_recording(each, check).finding.step for each in (first, second, first)] == [3, 5, 3]


def test_a_program_is_given_the_prefix_and_answers_by_its_exit_code(tmp_path: Path) -> None:
    recording = note_down(tmp_path, "run-1", lambda n: "spoilt" if n >= 4 else "fine", 9)
    seen = tmp_path / "seen"
    code = (
        "import json, os, sys; said = json.load(sys.stdin); "
        "assert said['steps'][-1]['step'] == said['step'] == int(os.environ['PLAYHEAD_STEP']) == len(said['steps']); "
        f"open({str(seen)!r}, 'a').write(os.environ['PLAYHEAD_RUN'] + '\\n'); "
        "sys.exit(125 if said['step'] == 5 else 3 if 'spoilt' in said['steps'][-1]['text'] else 0)"
    )
    found = bisect_recording(recording, command_check(["python3", "-c", code]), sweep=False)
    assert found.finding.step == 4
    assert found.why == {4: "exit code 3", 5: "exit code 125"}
    assert found.finding.skipped == (5,)
    assert seen.read_text().splitlines() == ["run-1"] * (found.finding.checks)


@pytest.mark.parametrize(("code", "ended"), [("exit 127", "exit code 127"), ("kill -TERM $$", "signal 15")])
def test_a_program_that_could_not_judge_ends_the_search(tmp_path: Path, code: str, ended: str) -> None:
    recording = note_down(tmp_path, "run-1", str, 3)
    with pytest.raises(CheckFailedError, match=ended):
        bisect_recording(recording, command_check(["sh", "-c", code]), sweep=False)
    with pytest.raises(ProgramNotStartedError, match="cannot be started"):
        bisect_recording(recording, command_check([str(tmp_path / "nothing")]), sweep=False)


def test_a_function_is_found_in_a_module_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from beside import WORD\nclass Checks:\n    @staticmethod\n    def ok(prefix): return WORD\n")
    (tmp_path / "beside.py").write_text("WORD = 'good'\n")
    assert load_function(f"{file}:Checks.ok")(None) == "good"
    assert load_function("os.path:join")("a", "b") == "a/b"


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("nothing", "not of the form"),
        ("absent.py:check", "there is no file absent.py"),
        ("os:nothing", "os has no nothing"),
        ("os:sep", "it is no function"),
        ("no_such_module:check", "ModuleNotFoundError"),
    ],
)
def test_a_function_that_is_not_there_is_told(named: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        load_function(named)


def test_every_rule_says_what_it_is_for() -> None:
    assert set(RULES) == {"schema", "tool-existed", "result-validated", "tokens", "cost", "repeated", "regex"}
    assert all(each.meaning for each in RULES.values())
