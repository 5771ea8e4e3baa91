"""Agents whose models are asked by another process: their conversation is replayed, or that process runs again.

The other process is a thread here, that asks its model over HTTP and adds to each request an id of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

import playhead
from playhead.boundary import Arguments, Call, cross, current_lane, in_lane
from playhead.testing import ModelServer
from tests.player.conftest import Ask

Worker = Callable[[str], str]


@playhead.tool
def count_letters(word: str) -> int:
    """A tool of the program's own."""
    calls.append(word)
    return len(word)


calls: list[str] = []


@pytest.fixture
def worker(ask: Ask) -> Worker:
    """Asks the model for the program, and lists its folder by itself."""

    def work(word: str) -> str:
        lane = current_lane()
        assert lane is not None
        behind = lane.root.child("worker", by="worker", behind=True)
        acting = lane.root.child("worker.actions", by="worker")
        listed: list[str] = []

        def send() -> str:
            said: list[str] = []

            def process() -> None:
                with in_lane(behind), suppress(playhead.DivergenceError):
                    said.append(ask(f"{word} {uuid4()}", user=str(uuid4())))

            thread = threading.Thread(target=process)
            thread.start()
            thread.join()
            return said[0].split(" ")[0] if said else "no answer"

        answer = cross(lane, Call("wrap", "worker.say", Arguments(send, (), {})), send)
        with in_lane(acting):
            cross(acting, Call("tool", "list_files", Arguments(send, (), {})), lambda: listed.append(word))
        acted.extend(listed)
        return answer

    return work


acted: list[str] = []


def run_agent(worker: Worker, *, word: str = "tea") -> tuple[str, int]:
    """One turn of it."""
    return worker(word), count_letters(word)


def recorded(worker: Worker) -> tuple[playhead.Recording, tuple[str, int]]:
    """A recording, and what it gave."""
    with playhead.record(kind="test") as run:
        result = run_agent(worker)
    calls.clear()
    acted.clear()
    return playhead.load(run.id), result


def test_what_another_process_asked_behind_the_conversation_is_a_step_and_not_asked_again(
    worker: Worker, server: ModelServer
) -> None:
    recording, result = recorded(worker)
    assert [exchange.question.kind for exchange in recording.steps] == ["model.requested", "tool.called", "tool.called"]
    with playhead.replay(recording) as replay:
        assert run_agent(worker) == result
    assert (replay.report.identical, replay.report.behind, server.hits, acted) == (True, 1, 1, [])
    assert "behind what was replayed: 1 exchange" in str(replay.report)


def test_the_other_process_runs_again_and_its_model_answers_as_recorded_in_spite_of_ids_of_its_own(
    worker: Worker, server: ModelServer
) -> None:
    recording, result = recorded(worker)
    with playhead.replay(recording, reexecute=True) as replay:
        assert run_agent(worker) == result
    assert (replay.report.ok, replay.report.unplayed, server.hits) == (True, [], 1)
    assert (acted, calls) == (["tea"], [])
    assert any("done again" in warning for warning in replay.report.warnings)


def test_what_the_other_process_asks_differently_is_a_divergence_that_says_what_differs(
    worker: Worker, server: ModelServer
) -> None:
    recording, _ = recorded(worker)
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording, reexecute=True):
        run_agent(worker, word="salt")
    assert caught.value.divergence.boundary == "model"
    assert "salt" in str(caught.value)
    assert server.hits == 1


def test_a_recording_without_another_process_cannot_have_it_run_again() -> None:
    with playhead.record(kind="test") as run:
        count_letters("tea")
    with pytest.raises(playhead.errors.UsageError, match="none to run again"):
        playhead.replay(run.id, reexecute=True)


def test_a_step_behind_the_conversation_cannot_be_stopped_at_and_the_report_says_why(worker: Worker) -> None:
    recording, _ = recorded(worker)
    with playhead.replay(recording, until=1) as replay:
        run_agent(worker)
    assert any(
        warning.startswith("step 1, at which to stop, was asked by another") for warning in replay.report.warnings
    )


def test_what_runs_again_in_real_time_is_not_stopped_at_a_step(worker: Worker) -> None:
    recording, _ = recorded(worker)
    wrong: Any = {"until": 1}
    with pytest.raises(playhead.errors.UsageError, match="no step to stop at"):
        playhead.replay(recording, reexecute=True, **wrong)
