"""A replay that stops at a step, in the agent's own frame, or ends there."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.errors import AtPromptError, NotStoppedError, UsageError
from playhead.player import _stillness
from tests.player.conftest import record

Look = Callable[[dict[str, Any], int], None]


@pytest.fixture
def at_each_stop(monkeypatch: pytest.MonkeyPatch) -> Callable[[Look], None]:
    """Put a debugger in place that is given the variables and the line of the frame that called it."""

    def install(look: Look) -> None:
        def hook() -> None:
            frame = sys._getframe(1)
            assert frame.f_code.co_filename == __file__
            look(dict(frame.f_locals), frame.f_lineno)

        monkeypatch.setattr(sys, "breakpointhook", hook)

    return install


@playhead.tool
def search(query: str) -> str:
    return query.upper()


@playhead.tool
async def fetch(query: str) -> str:
    await asyncio.sleep(0.001)
    return query.upper()


def agent() -> list[str]:
    found: list[str] = []
    for query in ("tea", "salt", "sugar"):
        found.append(search(query))
    return found


def test_a_replay_goes_until_a_step_and_the_block_ends_there() -> None:
    recording, _ = record(agent)
    went_on = False
    with playhead.replay(recording, until=3) as replay:
        agent()
        went_on = True
    assert (went_on, replay.report.stopped_at, replay.report.answered) == (False, 3, 2)
    assert replay.report.ok
    assert replay.report.lines()[-1] == "stopped at step 3, before it was answered"


@pytest.mark.parametrize("swallow", [Exception, BaseException])
def test_a_program_that_swallows_errors_gets_no_further_either(swallow: type[BaseException]) -> None:
    recording, _ = record(agent)

    def stubborn() -> None:
        for query in ("tea", "salt", "sugar"):
            try:
                search(query)
            except swallow:
                pass

    with playhead.replay(recording, until=2) as replay:
        stubborn()
    assert (replay.report.answered, replay.report.stopped_at, replay.report.unplayed) == (1, 2, [])


def test_tasks_in_a_group_end_as_well() -> None:
    async def parts() -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("tea", "salt"):
                group.create_task(fetch(name))

    recording, _ = record(lambda: asyncio.run(parts()))
    with playhead.replay(recording, until=2) as replay:
        asyncio.run(parts())
    assert (replay.report.stopped_at, replay.report.ok) == (2, True)


@pytest.mark.parametrize("how", [{"until": 4}, {"breaks": [1, 9]}, {"until": 0}])
def test_a_step_that_is_not_there_is_refused_before_anything_runs(how: dict[str, Any]) -> None:
    recording, _ = record(agent)
    with pytest.raises(UsageError, match="steps 1 to 3"):
        playhead.replay(recording, **how)


def test_a_step_that_is_not_reached_is_told() -> None:
    recording, _ = record(agent)
    with playhead.replay(recording, match="loose", until=3) as replay:
        search("tea")
    assert "step 3, at which to stop, was not reached" in replay.report.warnings


def test_the_debugger_sees_the_agent_s_own_variables_at_its_own_line(at_each_stop: Callable[[Look], None]) -> None:
    recording, result = record(agent)
    seen: list[Any] = []
    at_each_stop(lambda names, line: seen.append((names["query"], list(names["found"]), line)))
    with playhead.replay(recording, breaks=[2, 3]) as replay:
        assert agent() == result
    line = agent.__code__.co_firstlineno + 3
    assert seen == [("salt", ["TEA"], line), ("sugar", ["TEA", "SALT"], line)]
    assert replay.report.identical


def test_a_coroutine_given_to_a_task_is_seen_from_where_it_is_awaited(at_each_stop: Callable[[Look], None]) -> None:
    async def gathering() -> list[str]:
        names = ("tea", "salt")
        both = await asyncio.gather(*(fetch(name) for name in names))
        one = await asyncio.create_task(fetch("sugar"))
        return [*both, one]

    recording, result = record(lambda: asyncio.run(gathering()))
    seen: list[int] = []
    at_each_stop(lambda names, line: seen.append(line - gathering.__code__.co_firstlineno))
    with playhead.replay(recording, breaks=[1, 2, 3]) as replay:
        assert asyncio.run(gathering()) == result
    assert seen == [2, 2, 3]
    assert replay.report.identical


def test_here_knows_the_step_and_says_where_it_knows_nothing(at_each_stop: Callable[[Look], None]) -> None:
    def remembering() -> list[str]:
        playhead.checkpoint({"asked": []})
        first = search("tea")
        playhead.checkpoint({"asked": [first]})
        return [first, search("salt")]

    recording, _ = record(remembering)
    here = playhead.here
    seen: list[Any] = []

    def look(names: dict[str, Any], line: int) -> None:
        seen.append((here.step, here.run, here.lane, here.asked, here.answer, here.context, here.state))
        seen.append([(each.step, each.tool, each.value) for each in here.returns])
        seen.append(repr(here))

    at_each_stop(look)
    with playhead.replay(recording, breaks=[2]):
        remembering()
    assert seen[0] == (2, recording.id, "main", {"query": "salt"}, "SALT", None, {"asked": ["TEA"]})
    assert seen[1] == [(1, "search", "TEA")]
    assert f"<step 2 of 2 steps of {recording.id}, lane main>" in seen[2]
    assert recording.state(1) == {"asked": []}
    assert repr(here) == "<no replay is stopped here>"
    with pytest.raises(NotStoppedError, match="only while a replay is stopped"):
        here.step  # noqa: B018


def test_what_is_called_at_the_prompt_uses_up_no_answer_and_reaches_nothing(
    at_each_stop: Callable[[Look], None],
) -> None:
    def timed() -> list[Any]:
        return [search("tea"), playhead.now(), playhead.random.random(), search("salt")]

    recording, result = record(timed)

    def look(names: dict[str, Any], line: int) -> None:
        with pytest.raises(AtPromptError, match="tool search was asked for at the prompt"):
            search("tea")
        with pytest.raises(AtPromptError, match="connection"):
            socket.create_connection(("192.0.2.1", 80), timeout=1)
        assert playhead.now() != result[1]
        thread = threading.Thread(target=playhead.now)
        thread.start()
        thread.join()
        time.sleep(0.001)

    at_each_stop(look)
    with playhead.replay(recording, breaks=[1, 2]) as replay:
        assert timed() == result
    assert replay.report.identical
    assert not replay.report.refused


def test_other_threads_stay_where_they_are_while_one_is_stopped(
    at_each_stop: Callable[[Look], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time at the prompt counts for nobody, however long a replay waits for what comes no more."""
    monkeypatch.setattr(_stillness, "_OUTSIDE_NS", 50_000_000)
    monkeypatch.setattr(_stillness, "_PATIENCE_NS", 50_000_000)
    done: list[str] = []

    def part(name: str) -> None:
        for number in range(4):
            time.sleep(0.002)
            done.append(search(f"{name}{number}"))

    def crowd() -> list[str]:
        done.clear()
        with ThreadPoolExecutor(3) as pool:
            for name in ("a", "b", "c"):
                pool.submit(part, name)
        return list(done)

    recording, result = record(crowd)

    def look(names: dict[str, Any], line: int) -> None:
        before = list(done)
        time.sleep(0.2)
        assert done == before

    at_each_stop(look)
    with playhead.replay(recording, breaks=[1, 4, 9]) as replay:
        assert crowd() == result
    assert replay.report.identical, str(replay.report)


def test_breakpoints_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    recording, result = record(agent)
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    with playhead.replay(recording, breaks=[1]) as replay:
        assert agent() == result
    assert replay.report.identical


def test_a_stop_in_a_thread_without_own_code_shows_who_waits_for_it(
    at_each_stop: Callable[[Look], None], store: Path
) -> None:
    def pooled() -> list[str]:
        with ThreadPoolExecutor(1) as pool:
            work = pool.submit(search, "tea")
            return [work.result()]

    recording, result = record(pooled)
    seen: list[int] = []
    at_each_stop(lambda names, line: seen.append(line - pooled.__code__.co_firstlineno))
    with playhead.replay(recording, breaks=[1]):
        assert pooled() == result
    assert seen[0] in (1, 2, 3)
