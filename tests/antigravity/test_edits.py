"""Verifying, editing and telling apart: what a changed program or a changed recording comes to."""

import asyncio

import pytest

import playhead
from playhead.errors import ForkRefusedError
from tests.antigravity._desk import Desk, Recorded, say
from tests.antigravity._scenarios import _chat, built_in_tools, plain, several_turns, tool_exception

pytestmark = pytest.mark.slow

PLAN = [{"text": "Something long enough to come in several pieces."}]


async def asked_otherwise(desk):
    return await _chat(desk, say("Say anything.", PLAN))


async def set_up_otherwise(desk):
    return await _chat(desk, say("Say something.", PLAN), tools=[desk.add])


def step_of(recording, name, nth=0):
    found = [at for at, each in enumerate(recording.steps, 1) if getattr(each.question.body, "name", None) == name]
    return found[nth]


def test_a_changed_prompt_is_drift_under_loose_and_a_divergence_that_names_the_frame_under_strict(place, monkeypatch):
    recorded = Recorded(plain, "gemini", place)

    result, report, _ = recorded.replay(monkeypatch, asked_otherwise, match="loose")
    assert result[0] == recorded.result[0]
    assert report.ok
    assert [each.name for each in report.drift] == ["antigravity.user_input"]
    assert "/frame/userInput/parts/0/text" in report.drift[0].differences[0].path

    with pytest.raises(playhead.DivergenceError, match=r"antigravity\.user_input") as caught:
        recorded.replay(monkeypatch, asked_otherwise)
    assert caught.value.divergence.name == "antigravity.user_input"
    assert any("userInput" in each.path for each in caught.value.divergence.differences)


def test_another_set_of_tools_is_seen_in_the_configuration(place, monkeypatch):
    recorded = Recorded(plain, "vertex", place)

    with pytest.raises(playhead.DivergenceError, match=r"antigravity\.configure"):
        recorded.replay(monkeypatch, set_up_otherwise)
    result, report, _ = recorded.replay(monkeypatch, set_up_otherwise, match="loose")
    assert result[0] == recorded.result[0]
    assert [each.name for each in report.drift] == ["antigravity.configure"]


def test_an_edited_tool_is_seen_by_the_program_and_its_answer_is_drift(place, monkeypatch):
    recorded = Recorded(several_turns, "gemini", place)
    step = step_of(recorded.recording, "add")
    refused = playhead.edit(recorded.recording, store=recorded.store).raises(step, "PermissionError: 403").save()

    result, report, desk = recorded.replay(monkeypatch, recording=refused, match="loose")
    assert report.ok, str(report)
    assert desk.ran == []
    assert [each.name for each in report.drift] == ["antigravity.tool_response"]
    assert result[0] == recorded.result[0]


def test_a_divergence_amid_a_conversation_ends_it_at_once(place, monkeypatch):
    """It comes up in tasks of the SDK, which knows nothing of it: whoever waits for more must not wait for ever."""
    recorded = Recorded(several_turns, "gemini", place)
    step = step_of(recorded.recording, "add")
    other = playhead.edit(recorded.recording, store=recorded.store).returns(step, 4).save()
    told = []

    async def telling(desk):
        try:
            return await several_turns(desk)
        except BaseException as error:
            told.append(error)
            raise

    with pytest.raises(playhead.DivergenceError, match=r"antigravity\.tool_response"):
        recorded.replay(monkeypatch, telling, recording=other)
    assert isinstance(told[0], playhead.DivergenceError)


def test_an_edited_action_of_the_harness_stands_in_the_frame_that_ends_it(place, monkeypatch):
    recorded = Recorded(built_in_tools, "openai", place)
    run = step_of(recorded.recording, "run_command")
    view = step_of(recorded.recording, "view_file")
    failed = step_of(recorded.recording, "view_file", 1)
    edits = playhead.edit(recorded.recording, store=recorded.store)
    edits.returns(run, {"exit_code": 3, "combined_output": "burnt"}).raises(view, "OSError: gone").returns(failed, {})

    result, report, _ = recorded.replay(monkeypatch, recording=edits.save())

    assert report.ok, str(report)
    ended = [step for step in result[1] if step["status"] in ("DONE", "ERROR") and step["tool_calls"]]
    assert [(step["tool_calls"][0]["name"], step["status"]) for step in ended] == [
        ("edit_file", "DONE"),
        ("run_command", "DONE"),
        ("view_file", "ERROR"),
        ("view_file", "DONE"),
    ]
    assert ended[1]["tool_calls"][0]["args"]["combined_output"] == "burnt"
    assert ended[1]["tool_calls"][0]["args"]["exit_code"] == 3
    assert "gone" in ended[2]["error"]


def test_actions_and_tools_are_steps_with_what_was_asked_and_answered(place):
    recorded = Recorded(built_in_tools, "gemini", place)
    recording, steps = recorded.recording, recorded.tools

    asked = [each.question.body for each in steps]
    assert [body.name for body in asked] == ["edit_file", "run_command", "view_file", "view_file"]
    assert asked[1].arguments["command_line"] == "cat hello.txt; date +%N"
    assert "combined_output" not in asked[1].arguments
    answers = [each.answer.body for each in steps]
    assert answers[1].value["exit_code"] == 0
    assert answers[1].value["combined_output"].startswith("hi")
    assert "does not exist" in answers[3].error["args"][0]
    lanes = {each.question.lane for each in steps}
    assert lanes == {"main/antigravity.c1#1"}
    assert recording.lanes_of_others["main/antigravity.c1#1"].by == "antigravity"


def test_a_tool_that_raised_raises_the_same_again(place, monkeypatch):
    recorded = Recorded(tool_exception, "gemini", place)
    step = recorded.tools[0]
    assert step.answer.kind == "tool.failed"
    assert step.answer.body.error["class"] == "builtins:LookupError"
    assert step.question.body.call_id

    raised = []

    async def watching(desk):
        agent = desk.agent()
        async with agent:
            runner = agent._tool_runner
            process = runner.process_tool_calls

            async def process_tool_calls(calls):
                found = await process(calls)
                raised.extend(each.exception for each in found)
                return found

            runner.process_tool_calls = process_tool_calls
            response = await agent.chat(say("Try.", [{"calls": [("fail", {"reason": "dark"})]}, {"text": "it failed"}]))
            await response.text()

    recorded.replay(monkeypatch, watching)
    assert [(type(each), str(each)) for each in raised] == [(LookupError, "no luck: dark")]


def test_a_fork_does_not_go_live_amid_a_conversation(place, monkeypatch):
    recorded = Recorded(several_turns, "gemini", place)
    monkeypatch.setenv("ANTIGRAVITY_HARNESS_PATH", "/nonexistent/harness")
    desk = Desk("gemini", place, recorded.url)
    refused = pytest.raises(ForkRefusedError, match="is not running")
    with refused, playhead.fork(recorded.recording, at=1, store=recorded.store):
        asyncio.run(several_turns(desk))
