"""Who is asked, and whose code runs again: people answer from the recording, hooks and policies are the agent's own."""

import asyncio
from typing import Any

import pytest
from google.antigravity import CapabilitiesConfig, policy, types
from google.antigravity.hooks import hooks

import playhead
from playhead.testing import ModelServer
from tests.antigravity._desk import Desk, Recorded, follow_plan, say
from tests.antigravity._scenarios import _LABELS, _chat

pytestmark = pytest.mark.slow
asked: list[Any] = []


@pytest.fixture(autouse=True)
def _nobody_asked():
    asked.clear()


async def approving(desk):
    async def ask(call, reason=""):
        asked.append(["approve", call.name])
        await asyncio.sleep(0)
        return call.args.get("a") == 1

    def small(args):
        asked.append("looked at")
        return True

    rules = [policy.ask_user("add", handler=ask, when=small), policy.allow("*")]
    calls = [("add", {"a": 1, "b": 1}), ("add", {"a": 2, "b": 2})]
    return await _chat(desk, say("Go.", [{"calls": calls}, {"text": "done"}]), policies=rules)


def test_whether_a_person_allows_a_tool_comes_from_the_recording(place, monkeypatch):
    recorded = Recorded(approving, "gemini", place)
    assert sorted(map(str, asked)) == sorted(map(str, ["looked at", ["approve", "add"]] * 2))
    asked.clear()

    result, report, _ = recorded.replay(monkeypatch)

    assert result == recorded.result
    assert report.identical, str(report)
    assert asked == ["looked at"] * 2
    assert [event.body.request["tool"] for event in recorded.named("user.approval")] == ["add", "add"]
    assert len(recorded.named("antigravity.policy_response")) == 2


async def questioning(desk):
    @hooks.on_interaction
    async def answer(spec):
        asked.append(type(spec).__name__)
        return types.QuestionHookResult(responses=[types.QuestionResponse(selected_option_ids=["2"])])

    question = {"question": "Which?", "options": ["a", "b"], "is_multi_select": False}
    plan = [{"calls": [("ask_question", {"questions": [question], **_LABELS})]}, {"text": "thanks"}]
    behaviour = CapabilitiesConfig(
        agent_behavior=types.AgentBehavior.INTERACTIVE, enabled_tools=[types.BuiltinTools.ASK_QUESTION]
    )
    return await _chat(desk, say("Ask me.", plan), hooks=[answer], capabilities=behaviour)


def test_a_question_to_a_person_is_answered_from_the_recording(place, monkeypatch):
    recorded = Recorded(questioning, "gemini", place)
    assert asked == ["AskQuestionInteractionSpec"]
    asked.clear()

    result, report, _ = recorded.replay(monkeypatch)

    assert result == recorded.result
    assert report.identical, str(report)
    assert asked == []
    assert len(recorded.named("user.question")) == 1


@playhead.tool(name="remember", side_effects=True)
def remember(text: str) -> str:
    """Remember a text."""
    asked.append(text)
    return text.upper()


async def marked(desk):
    calls = [("remember", {"text": "tea"})]
    return await _chat(desk, say("Go.", [{"calls": calls}, {"text": "done"}]), tools=[remember])


def test_a_tool_that_is_marked_by_hand_crosses_once(place, monkeypatch):
    recorded = Recorded(marked, "gemini", place)
    assert asked == ["tea"]

    result, report, _ = recorded.replay(monkeypatch)

    assert result == recorded.result
    assert report.identical
    assert asked == ["tea"]
    assert [each.question.body.name for each in recorded.tools] == ["remember"]


async def reading(desk):
    def stamp() -> str:
        """What time it is."""
        return playhead.now().isoformat()

    told = []

    @hooks.pre_tool_call_decide
    async def before(call):
        told.append(playhead.uuid4().hex)
        return types.HookResult(allow=True)

    plan = [{"calls": [("stamp", {}), ("stamp", {})]}, {"text": "done"}]
    return [await _chat(desk, say("Go.", plan), tools=[stamp], hooks=[before]), told]


def test_hooks_run_again_in_lanes_of_the_run_and_read_what_was_recorded(place, monkeypatch):
    """Tools and hooks run in tasks that the reader of the socket makes: their context has to be that of the run."""
    recorded = Recorded(reading, "vertex", place)
    assert recorded.recording.of_kind("random.drawn")
    assert not recorded.recording.of_kind("clock.read")  # it belongs to the tool

    result, report, _ = recorded.replay(monkeypatch)

    assert result == recorded.result
    assert report.identical, str(report)
    assert report.reads == 2


def test_a_run_that_begins_inside_an_agent_says_that_the_conversation_is_not_seen(place, monkeypatch):
    async def inside(desk):
        async with desk.agent() as agent:
            with playhead.record(kind="inside", store=place / "store") as run:
                response = await agent.chat(say("Say.", [{"text": "so"}]))
                text = await response.text()
            return [text, run.id]

    with ModelServer(follow_plan) as server:
        desk = Desk("gemini", place, server.url)
        text, run = asyncio.run(inside(desk))
    assert text == "so"
    recording = playhead.load(run, store=place / "store")
    assert "Antigravity conversation" in recording.finished.unseen


def test_a_run_that_begins_around_the_use_of_an_agent_in_a_loop_has_all_of_it(place, monkeypatch):
    async def around(desk):
        return await _chat(desk, say("Go.", [{"calls": [("add", {"a": 1, "b": 2})]}, {"text": "three"}]))

    async def inside(desk):
        with playhead.record(kind="inside", store=place / "store") as run:
            found = await around(desk)
        return [found, run.id]

    with ModelServer(follow_plan) as server:
        desk = Desk("gemini", place, server.url)
        found, run = asyncio.run(inside(desk))
    recording = playhead.load(run, store=place / "store")
    assert [each.question.kind for each in recording.steps].count("tool.called") == 1

    async def again(desk):
        with playhead.replay(recording) as replay:
            result = await around(desk)
        return [result, replay.report]

    monkeypatch.setenv("ANTIGRAVITY_HARNESS_PATH", "/nonexistent/harness")
    result, report = asyncio.run(again(Desk("gemini", place, server.url)))
    assert result == found
    assert report.identical, str(report)
