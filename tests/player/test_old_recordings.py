"""Recordings of earlier versions and of another shape than the usual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.eventlog import erase_body
from tests.golden import make_order
from tests.player.conftest import Ask, record

FOLDER = Path(__file__).parents[1] / "golden" / "format-1"
GOLDEN = FOLDER / "format-1.playhead"
RACE = FOLDER / "race.playhead"


@playhead.tool
def search(n: int) -> str:
    raise AssertionError("the body does not run in a replay")


def test_a_recording_made_under_the_first_key_rule_still_answers() -> None:
    """B40: keys are made from the stored requests when they are needed, so no rule is kept with them."""
    with playhead.replay(GOLDEN, match={"tool": "strict", "model": "loose"}) as replay:
        assert [search(0), search(1), search(2)] == ["result 0", "result 1", "result 2"]
    assert len(replay.report.unplayed) == 4


def test_an_erased_answer_is_said_to_be_erased() -> None:
    @playhead.tool
    def read(page: str) -> str:
        return page.upper()

    recording, _ = record(lambda: [read("a"), read("b")])
    answer = recording.steps[1].answer
    assert answer is not None
    assert recording.path is not None
    skeleton = erase_body(recording.path, [answer.seq])
    with pytest.raises(playhead.DivergenceError, match="step 2 was erased"), playhead.replay(skeleton):
        assert read("a") == "A"
        read("b")


def test_tool_results_in_another_order_are_named_as_that(ask: Ask) -> None:
    """B31: the message names the order of tool results."""
    results = [
        {"role": "tool", "tool_call_id": "call_a", "content": "sunny in Oslo"},
        {"role": "tool", "tool_call_id": "call_b", "content": "rain in Lima"},
    ]
    user: dict[str, Any] = {"role": "user", "content": "weather?"}
    recording, _ = record(lambda: ask("", messages=[user, *results]))
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        ask("", messages=[user, *results[::-1]])
    assert "order of tool results" in caught.value.divergence.causes


def test_a_race_recorded_in_format_1_comes_out_as_it_was() -> None:
    """Threads that were woken, heads and pieces of streams that came in one turn: as the first version wrote them."""
    recording = playhead.load(RACE)
    assert {"lane.woken", "lane.opened", "model.responded"} <= {event.kind for event in recording}
    assert recording.finished is not None
    for _ in range(3):
        with playhead.replay(recording) as replay:
            given = make_order.race(make_order.URL)
        assert given == recording.finished.result
        assert replay.report.identical, replay.report.lines()
