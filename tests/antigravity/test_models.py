"""What the harness asks of its models: recorded on its way through the gateway, and answered when it runs again."""

from __future__ import annotations

import re
from typing import Any

import pytest

import playhead
from playhead.errors import ForkRefusedError
from playhead.testing import Answer, ModelServer, Request, Text
from tests.antigravity import _scenarios as scenarios
from tests.antigravity._desk import KINDS, Desk, Recorded, follow_plan, play

AGAIN = (
    scenarios.plain,
    scenarios.several_turns,
    scenarios.parallel_tools,
    scenarios.steady_built_in_tools,
    scenarios.tool_exception,
    scenarios.http_400,
    scenarios.http_500,
    scenarios.two_agents,
    scenarios.sub_agents_in_turn,
    scenarios.workflow,
    scenarios.hooked,
)
"""What comes out alike when the harness runs again. One that was killed is not killed by what answers a replay."""

LONG = (scenarios.several_turns, scenarios.http_400, scenarios.two_agents, scenarios.hooked)
"""Of these, what `make test-all` looks at only."""

PROVIDERS = {"gemini": "gemini.generate", "vertex": "gemini.generate", "openai": "openai.chat"}


def run_again(recorded: Recorded) -> tuple[Any, Any, Desk]:
    """The result, the report and the desk of a replay in which the harness runs, without the server."""
    desk = Desk(recorded.kind, recorded.folder, recorded.url, key="another-key")
    playing = playhead.replay(recorded.recording, reexecute=True)
    try:
        with playing:
            result = play(recorded.scenario, desk)
    except playhead.DivergenceError:
        result = None
    return result, playing.report, desk


def words(result: Any) -> list[str]:
    """The texts that a result holds which do not change from run to run: what was answered, and what was raised."""
    match result:
        case [[[str(), [*_]], *_] as turns, [*history], *_]:
            said = _said_by_each(history)
            return [text for text, _ in turns] if len(said) == 1 else said
        case [str(first), str(second)] | [str(first), str(second), [*_]]:
            return [re.sub(r"[0-9a-f]{32}", "[id]", text) for text in (first, second)]
        case [*parts]:
            return [text for part in parts if isinstance(part, list) for text in words(part)]
        case _:
            return []


def _said_by_each(history: list[Any]) -> list[str]:
    """What each agent of a conversation said: the words of several that speak at once are mixed as they come."""
    said: dict[str, list[str]] = {}
    for step in history:
        if (step["type"], step["source"], step["status"]) == ("TEXT_RESPONSE", "MODEL", "DONE"):
            said.setdefault(step["trajectory_id"], []).append(step["content"])
    return sorted(" / ".join(texts) for texts in said.values())


def check_again(recorded: Recorded) -> None:
    result, report, desk = run_again(recorded)
    assert recorded.failures == []
    assert report.ok, str(report)
    assert (report.unplayed, desk.ran) == ([], [])
    assert words(result) == words(recorded.result) != []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_each_request_of_the_harness_is_a_step_with_all_that_the_model_saw(kind: str, place: Any) -> None:
    recorded = Recorded(scenarios.parallel_tools, kind, place)
    models = [exchange for exchange in recorded.recording.steps if exchange.question.kind == "model.requested"]
    assert [exchange.question.body.provider for exchange in models] == [PROVIDERS[kind]] * 2
    assert all(exchange.question.body.url.startswith(recorded.url) for exchange in models)
    assert [exchange.answer.body.usage is not None for exchange in models] == [True, True]
    last = str(recorded.recording.context(models[-1].step))
    assert "You are Antigravity" in last
    assert "Oslo" in last
    tools = [exchange for exchange in recorded.recording.steps if exchange.question.kind == "tool.called"]
    assert len(tools) == 3
    called = {exchange.question.body.call_id for exchange in tools}
    assert len(called) == 3
    assert all(str(call_id) in last for call_id in called)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "kind"),
    [(scenario, KINDS[(at + 1) % len(KINDS)]) for at, scenario in enumerate(AGAIN) if scenario not in LONG],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_the_harness_runs_again_against_recorded_answers(scenario: Any, kind: str, place: Any) -> None:
    check_again(Recorded(scenario, kind, place))


@pytest.mark.sweep
@pytest.mark.parametrize("again", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", AGAIN, ids=lambda scenario: scenario.__name__)
def test_the_harness_runs_again_whatever_it_did(scenario: Any, kind: str, again: int, place: Any) -> None:
    check_again(Recorded(scenario, kind, place))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gemini", *(pytest.param(kind, marks=pytest.mark.sweep) for kind in KINDS[1:])])
def test_what_comes_out_otherwise_when_it_runs_again_is_a_miss_with_the_difference_and_is_not_tried_again(
    kind: str, place: Any
) -> None:
    recorded = Recorded(scenarios.built_in_tools, kind, place)
    _, report, desk = run_again(recorded)
    found = report.divergence
    assert found is not None
    assert found.boundary == "model"
    (difference,) = found.differences
    assert "exited with code 0" in difference.words()
    asked = [exchange.step for exchange in recorded.recording.steps if exchange.question.kind == "model.requested"]
    assert (report.steps, found.step) == (2, asked[2])
    assert (place / "work" / "hello.txt").read_text() == "hi\n"
    assert desk.ran == []


@pytest.mark.slow
def test_models_of_hosts_outside_the_run_are_asked_directly(place: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PLAYHEAD_IGNORE_HOSTS", "127.0.0.1")
    monkeypatch.chdir(place)
    recorded = Recorded(scenarios.plain, "gemini", place)
    assert recorded.recording.lanes_behind == frozenset()
    result, report, _ = recorded.replay(monkeypatch)
    assert (result, report.identical) == (recorded.result, True)


@pytest.mark.slow
def test_a_fork_goes_live_from_a_step_with_the_harness_run_again_up_to_it(place: Any) -> None:
    recorded = Recorded(scenarios.several_turns, "gemini", place)
    models = [exchange.step for exchange in recorded.recording.steps if exchange.question.kind == "model.requested"]

    def answer(request: Request) -> Answer:
        return Text("from here on it is live")

    port = int(recorded.url.rpartition(":")[2])
    with ModelServer(answer, port=port) as server:
        desk = Desk("gemini", place, server.url)
        with playhead.fork(recorded.recording, at=models[1], reexecute=True, store=recorded.store) as fork:
            result = play(recorded.scenario, desk)
        assert server.hits == len(models) - 2
    assert words(result) == [words(recorded.result)[0], *["from here on it is live"] * 2]
    assert desk.ran == []
    made = fork.made
    assert made is not None
    assert made.started is not None
    assert (made.started.parent.run, made.started.parent.at_step) == (recorded.recording.id, models[1])
    with playhead.replay(made) as replay:
        again = play(recorded.scenario, Desk("gemini", place, recorded.url))
    assert (words(again), replay.report.identical) == (words(result), True)


@pytest.mark.slow
def test_a_fork_does_not_go_live_before_its_step_where_the_harness_does_something_else(place: Any) -> None:
    recorded = Recorded(scenarios.built_in_tools, "vertex", place)
    last = len(recorded.recording.steps)
    with ModelServer(follow_plan, port=int(recorded.url.rpartition(":")[2])) as server:
        desk = Desk("vertex", place, server.url)
        with (
            pytest.raises(ForkRefusedError, match="what runs again does something else"),
            playhead.fork(recorded.recording, at=last, reexecute=True, store=recorded.store),
        ):
            play(recorded.scenario, desk)
        assert server.hits == 0
