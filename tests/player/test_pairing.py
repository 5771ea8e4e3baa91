"""Which recorded answer belongs to which call."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

import playhead
from playhead.testing import ModelServer, forbid_connections
from tests.player.conftest import Ask, record


@playhead.tool
def lookup(word: str) -> int:
    """Answers with the word's length, once a second word was never asked for."""
    return {"tea": 7, "salt": 2}[word]


def test_swapped_calls_of_one_tool_get_their_own_answers_and_the_order_is_reported() -> None:
    """B36"""
    recording, _ = record(lambda: (lookup("tea"), lookup("salt")))
    for match in ("strict", "loose"):
        with playhead.replay(recording, match=match) as replay:
            assert (lookup("salt"), lookup("tea")) == (2, 7)
        assert [(each.step, each.name) for each in replay.report.reordered] == [(2, "lookup")]
        assert not replay.report.identical


def test_a_changed_prompt_stops_strict_at_its_step_with_the_word_and_does_not_shift_later_answers(ask: Ask) -> None:
    """B37"""
    recording, answers = record(lambda: [ask("one"), ask("two words here"), ask("three")])
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        ask("one")
        ask("two signs here")
    assert caught.value.divergence.step == 2
    assert "[-words-]{+signs+}" in str(caught.value)
    assert "/messages/0/content" in str(caught.value)
    with playhead.replay(recording, match="loose") as replay:
        assert ask("one") == answers[0]
        assert ask("three") == answers[2]
    assert [each.step for each in replay.report.unplayed] == [2]


def test_a_miss_never_reaches_the_live_model(ask: Ask, server: ModelServer) -> None:
    """B39 (a)"""
    recording, _ = record(lambda: ask("one"))
    before = server.hits
    with forbid_connections() as guard, pytest.raises(playhead.DivergenceError), playhead.replay(recording):
        ask("something else")
    assert (server.hits, guard.attempts) == (before, [])


def test_the_whole_conversation_is_compared_so_a_second_turn_gets_the_second_answer(ask: Ask) -> None:
    """B42"""
    user = {"role": "user", "content": "book it"}

    def loop() -> list[str]:
        first = ask("", messages=[user])
        second = ask("", messages=[user, {"role": "assistant", "content": first}, {"role": "tool", "content": "ok"}])
        return [first, second]

    recording, answers = record(loop)
    with playhead.replay(recording) as replay:
        assert loop() == answers
    assert replay.report.answered == 2


def test_equal_user_texts_to_different_models_tools_or_formats_are_different_calls(ask: Ask) -> None:
    """B43"""
    tools = [{"type": "function", "function": {"name": "map", "parameters": {"type": "object"}}}]
    extras: list[dict[str, Any]] = [
        {"model": "big", "tools": tools},
        {"model": "small"},
        {"model": "small", "response_format": {"type": "json_object"}},
    ]

    def all_at_once(order: list[int]) -> dict[int, str]:
        with ThreadPoolExecutor(3) as pool:
            futures = {at: pool.submit(ask, "plan a picnic", **extras[at]) for at in order}
            return {at: future.result() for at, future in futures.items()}

    recording, answers = record(lambda: all_at_once([0, 1, 2]))
    with playhead.replay(recording):
        assert all_at_once([2, 0, 1]) == answers


def test_fewer_and_more_calls_than_recorded_are_named() -> None:
    """B18"""

    @playhead.tool
    def call(number: int) -> int:
        return number * 10

    recording, _ = record(lambda: [call(1), call(2), call(3)])
    with (
        pytest.raises(playhead.DivergenceError, match="never asked in this replay: step 2"),
        playhead.replay(recording),
    ):
        call(1), call(3)
    with (
        pytest.raises(playhead.DivergenceError, match=r"recorded 1 time \(step 3\) and asked once more"),
        playhead.replay(recording),
    ):
        call(1), call(2), call(3), call(3)
    with playhead.replay(recording, match="loose") as replay:
        call(1), call(3)
    assert [each.step for each in replay.report.unplayed] == [2]


def test_an_answer_that_another_lane_took_first_is_said_to_be_there() -> None:
    @playhead.tool
    def call(number: int) -> int:
        return number * 10

    def other(*numbers: int) -> None:
        thread = threading.Thread(target=lambda: [call(number) for number in numbers], name="other")
        thread.start()
        thread.join()

    recording, _ = record(lambda: [other(1), call(2)])
    with (
        pytest.raises(playhead.DivergenceError, match=r"step 2, recorded in lane main, went to lane main/.*"),
        playhead.replay(recording),
    ):
        other(1, 2), call(2)


def test_call_ids_that_are_repeated_do_not_overwrite_each_other() -> None:
    """B34"""

    @playhead.tool
    def fetch(place: str) -> str:
        return place.upper()

    def program() -> list[str]:
        found = []
        for place in ("oslo", "lima"):
            with playhead.calling("call_7"):
                found.append(fetch(place))
        return found

    recording, found = record(program)
    assert len(recording.steps) == 2
    with playhead.replay(recording):
        assert program() == found == ["OSLO", "LIMA"]


def test_equal_calls_of_two_agents_are_told_by_the_ids_that_the_model_gave_them() -> None:
    """However the agents are started, and so whatever lanes they have."""
    taken = iter(range(100))

    @playhead.tool
    def draw() -> int:
        return next(taken)

    def agent(call_id: str) -> int:
        with playhead.calling(call_id):
            return draw()

    async def program(*call_ids: str) -> dict[str, int]:
        async def run(call_id: str) -> int:
            await asyncio.sleep(0)
            return agent(call_id)

        return dict(zip(call_ids, await asyncio.gather(*map(run, call_ids)), strict=True))

    recording, found = record(lambda: asyncio.run(program("call_a", "call_b")))
    for match in ("strict", "loose"):
        with playhead.replay(recording, match=match) as replay:
            assert asyncio.run(program("call_b", "call_a")) == found == {"call_a": 0, "call_b": 1}
        assert sorted(each.step for each in replay.report.reordered) == [1, 2]
    with playhead.replay(recording) as replay:  # ids that are new tell nothing
        assert asyncio.run(program("call_c", "call_d")) == {"call_c": 0, "call_d": 1}
    assert replay.report.identical


def test_questions_that_wait_in_parallel_each_get_their_own_answer() -> None:
    """B33"""
    answers = {"shape?": "round", "size?": "XL", "colour?": "red"}
    ask_human = playhead.wrap("human", lambda question: answers[question])

    def program(order: list[str]) -> dict[str, str]:
        with ThreadPoolExecutor(3) as pool:
            return dict(zip(order, pool.map(ask_human, order), strict=True))

    recording, given = record(lambda: program(["size?", "colour?", "shape?"]))
    with playhead.replay(recording):
        assert program(["shape?", "size?", "colour?"]) == given


@pytest.mark.parametrize("match", ["strict", "loose"])
def test_parallel_requests_in_another_order_get_their_own_answers(match: Any, ask: Ask) -> None:
    """B06 (threads): pairing is by content and place, never by arrival."""
    cities = ["oslo", "lima", "cairo", "quito", "perth"]

    def program(order: list[str]) -> dict[str, str]:
        with ThreadPoolExecutor(5) as pool:
            return dict(zip(order, pool.map(ask, order), strict=True))

    recording, given = record(lambda: program(cities))
    with playhead.replay(recording, match=match):
        assert program(cities[::-1]) == given


def test_a_request_written_in_another_style_of_json_is_compared_by_what_it_says(server: ModelServer) -> None:
    """As clients in Go write it: with angle brackets escaped, in a program that has normalisers."""

    def ask_as_go_does(model: str = "big") -> str:
        text = json.dumps({"model": model, "messages": [{"role": "user", "content": "a <b> & c"}]})
        for sign in "<>&":
            text = text.replace(sign, f"\\u{ord(sign):04x}")
        answer = httpx2.post(server.openai_url + "/chat/completions", content=text + "\n")
        return str(answer.json()["choices"][0]["message"]["content"])

    recording, answer = record(ask_as_go_does)
    with playhead.replay(recording, normalisers=[lambda request: request]) as replay:
        assert ask_as_go_does() == answer
    assert replay.report.identical
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording, normalisers=[lambda it: it]):
        ask_as_go_does("small")
    assert [each.path for each in caught.value.divergence.differences] == ["/model"]
