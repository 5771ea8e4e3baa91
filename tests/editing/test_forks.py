"""A fork equals its parent up to its point, and goes live there: it never sees what the parent was answered later."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from typing import Any

import pytest

import playhead
from playhead.errors import ForkRefusedError, UsageError
from playhead.testing import ModelServer, Text, ToolCall, ToolCalls

pytestmark = pytest.mark.usefixtures("own_store")

_calls: list[Any] = []


@playhead.tool
def look_up(item: Any) -> Any:
    _calls.append(item)
    return [item, len(_calls)]


@playhead.tool(side_effects=True)
def pay(amount: int) -> str:
    _calls.append(amount)
    return f"paid {amount}"


def long_run(steps: int = 30) -> list[Any]:
    found: list[Any] = []
    for step in range(steps):
        found.append([look_up([step, found[-1:]]), random.random(), time.time()])
    return found


def what_was_asked(recording: playhead.Recording, last: int) -> list[Any]:
    """All that a recording says of its first steps, but for when it was and what repeats are called in the file."""
    kinds = ("tool.called", "tool.returned", "clock.read", "random.drawn", "lane.opened")
    events = [event for event in recording.events if event.kind in kinds]
    end = recording.step(last).answer if last else None
    found = [(event.kind, event.lane, event.body) for event in events if end is not None and event.seq <= end.seq]
    assert len(recording.steps) >= last
    return found


@pytest.mark.parametrize("at", range(31))
def test_a_fork_at_every_step_of_a_long_run_equals_the_parent_up_to_there(at: int) -> None:
    with playhead.record(kind="long") as run:
        recorded = long_run()
    parent = playhead.load(run.id)
    assert parent.path is not None
    before = parent.path.read_bytes()
    _calls.clear()
    with playhead.fork(parent, at=at) as fork:
        found = long_run()
    made = fork.made
    assert made is not None
    assert made.verify().proven
    assert len(_calls) == fork.answered_live == 30 - at
    assert [each[0] for each in found[:at]] == [each[0] for each in recorded[:at]]
    assert [each[1:] for each in found[: max(0, at - 1)]] == [each[1:] for each in recorded[: max(0, at - 1)]]
    assert what_was_asked(made, at) == what_was_asked(parent, at)
    assert parent.path.read_bytes() == before
    assert made.started is not None
    assert made.started.parent is not None
    assert (made.started.parent.run, made.started.parent.head, made.started.parent.at_step) == (run.id, parent.head, at)
    with playhead.replay(made) as replaying:
        assert long_run() == found
    assert replaying.report.identical


def test_after_the_point_nothing_comes_from_the_parent() -> None:
    with playhead.record(kind="later") as run:
        look_up("a"), look_up("b")
    with playhead.fork(run.id, at=1):
        assert look_up("a")[1] == playhead.load(run.id).steps[0].answer.body.value[1]  # type: ignore[union-attr]
        count = len(_calls)
        assert look_up("b") == ["b", count + 1]


def test_tasks_that_wait_at_the_point_go_live_and_are_recorded_in_a_way_that_replays() -> None:
    @playhead.tool
    async def fetch(name: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return f"{name} {len(_calls)}"

    async def program() -> list[str]:
        first = await fetch("first", 0.01)
        others = await asyncio.gather(fetch("slow", 0.05), fetch("quick", 0.01), asyncio.sleep(0.02, "slept"))
        return [first, *others, await fetch("last", 0)]

    with playhead.record(kind="tasks") as run:
        asyncio.run(program())
    for at in range(5):
        with playhead.fork(run.id, at=at) as fork:
            found = asyncio.run(program())
        made = fork.made
        assert made is not None
        assert len(made.steps) == 4
        with playhead.replay(made):
            assert asyncio.run(program()) == found


def test_threads_fork_too() -> None:
    def program() -> list[Any]:
        found: list[Any] = [look_up("before")]
        threads = [threading.Thread(target=lambda n=n: found.append(look_up(n)[0])) for n in range(3)]
        for thread in threads:
            thread.start()
            thread.join()
        return [*found, look_up("after")[0]]

    with playhead.record(kind="threads") as run:
        program()
    for at in range(6):
        with playhead.fork(run.id, at=at) as fork:
            found = program()
        assert fork.made is not None
        with playhead.replay(fork.made):
            assert program() == found


def ask(server: ModelServer, tool: Any, model: str = "gpt-4o") -> Any:
    import openai

    client = openai.OpenAI(api_key="k", base_url=server.openai_url, max_retries=0)
    messages: list[Any] = [{"role": "user", "content": "Where is order 7?"}]
    said = client.chat.completions.create(model=model, messages=messages).choices[0].message
    found = tool(7)
    messages += [said.to_dict(), {"role": "tool", "tool_call_id": said.tool_calls[0].id, "content": str(found)}]  # type: ignore[index]
    return client.chat.completions.create(model=model, messages=messages).choices[0].message.content


WANTED = ToolCalls([ToolCall("look_up", {"item": 7}, id="call_1")])


def test_a_live_model_with_recorded_tools_and_the_other_way_round() -> None:
    with ModelServer([WANTED, Text("on its way"), Text("lost"), WANTED, Text("gone")]) as server:
        with playhead.record(kind="order") as run:
            assert ask(server, look_up) == "on its way"
        _calls.clear()
        with playhead.fork(run.id, at=1, recorded=["tool"]) as fork:
            assert ask(server, look_up) == "lost"
        assert _calls == []
        assert fork.answered_live == 1
        with playhead.fork(run.id, at=0, recorded=["tool"]):
            assert ask(server, look_up) == "gone"
        assert _calls == []
        asked = len(server.requests)
        _calls.append("so that the tool gives something else")
        with pytest.raises(ForkRefusedError, match="no equal"), playhead.fork(run.id, at=1, live=["tool"]):
            ask(server, look_up)
        assert _calls[1:] == [7]
        assert len(server.requests) == asked


def test_another_model_needs_a_word() -> None:
    with ModelServer([WANTED, Text("fine"), WANTED, Text("other")]) as server:
        with playhead.record(kind="order") as run:
            ask(server, look_up)
        asked = len(server.requests)
        told = r"asks gpt-5 .* made with gpt-4o.*drift"
        with pytest.raises(ForkRefusedError, match=told), playhead.fork(run.id, at=0):
            ask(server, look_up, "gpt-5")
        assert len(server.requests) == asked
        with playhead.fork(run.id, at=0, cross_version=True):
            assert ask(server, look_up, "gpt-5") == "other"


def test_a_tool_with_side_effects_does_not_go_live_unless_it_is_allowed() -> None:
    """B56: what was paid in the recorded run is not paid again."""
    with playhead.record(kind="paying") as run:
        look_up("bill"), pay(7)
    _calls.clear()
    with pytest.raises(ForkRefusedError, match="pay has side effects") as caught, playhead.fork(run.id, at=1):
        look_up("bill"), pay(7)
    assert "--allow-side-effects pay" in str(caught.value)
    assert _calls == []
    with playhead.fork(run.id, at=2):
        look_up("bill"), pay(7)
    assert _calls == []
    with playhead.fork(run.id, at=1, allow_side_effects=["pay"]):
        look_up("bill"), pay(7)
    assert _calls == [7]


def test_a_program_that_asks_something_else_before_the_point_diverges_and_leaves_nothing() -> None:
    with playhead.record(kind="other") as run:
        look_up("a"), look_up("b")
    _calls.clear()
    with pytest.raises(playhead.DivergenceError), playhead.fork(run.id, at=2) as fork:
        look_up("a"), look_up("other")
    assert fork.made is None
    assert _calls == []
    with pytest.raises(playhead.DivergenceError), playhead.fork(run.id, at=2):
        look_up("a")


def test_what_was_forgiven_before_the_point_is_kept_as_it_was_asked() -> None:
    with playhead.record(kind="loose") as run:
        look_up("a"), look_up("b")
    with playhead.fork(run.id, at=1, match="loose") as fork:
        look_up("another"), look_up("b")
    assert fork.made is not None
    with playhead.replay(fork.made) as replaying:
        look_up("another"), look_up("b")
    assert replaying.report.identical


def test_a_run_that_fails_after_the_point_is_a_failure() -> None:
    with playhead.record(kind="failing") as run:
        look_up("a")
    with pytest.raises(ValueError, match="boom"), playhead.fork(run.id, at=1) as fork:
        look_up("a"), look_up("b")
        raise ValueError("boom")
    assert fork.made is not None
    assert fork.made.outcome == "failure"


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"at": 9}, "has one step, not 9"),
        ({"at": 1, "live": ["clock"]}, "is no boundary"),
        ({"at": 1, "live": ["tool"], "recorded": ["model"]}, "either what goes live"),
    ],
)
def test_a_fork_that_cannot_be_says_why(how: Any, told: str) -> None:
    with playhead.record(kind="one") as run:
        look_up("a")
    with pytest.raises(UsageError, match=told):
        playhead.fork(run.id, **how)
