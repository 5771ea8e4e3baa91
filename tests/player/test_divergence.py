"""What a person is told when the recording cannot answer."""

from __future__ import annotations

import random
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx2
import msgspec
import pytest

import playhead
from playhead.errors import MissingTypeError
from playhead.player import Request
from playhead.testing import ModelServer, Raw
from tests.player.conftest import Ask, record


def test_a_conversation_that_was_never_recorded_is_told_from_one_that_diverges_later(ask: Ask) -> None:
    """B47"""

    def talk(first: str, third: str) -> None:
        messages: list[dict[str, Any]] = [{"role": "user", "content": first}]
        messages.append({"role": "assistant", "content": ask("", messages=messages)})
        ask("", messages=[*messages, {"role": "user", "content": third}])

    recording, _ = record(lambda: talk("hello there", "and then?"))
    with pytest.raises(playhead.DivergenceError) as never, playhead.replay(recording):
        talk("good evening", "and then?")
    assert never.value.divergence.kind == "never-recorded"
    with pytest.raises(playhead.DivergenceError) as later, playhead.replay(recording):
        talk("hello there", "and now?")
    assert (later.value.divergence.kind, later.value.divergence.step) == ("changed", 2)
    assert {each.path for each in later.value.divergence.differences} == {"/messages/2/content"}


def test_a_recording_that_ends_at_a_failed_call_gives_that_failure_again_and_then_says_it_ends() -> None:
    """B47 (c)"""

    @playhead.tool
    def fail(at: int) -> None:
        raise ConnectionResetError("gone")

    def program(times: int) -> None:
        for at in range(times):
            with pytest.raises(ConnectionResetError):
                fail(at)

    recording, _ = record(lambda: program(1))
    with pytest.raises(playhead.DivergenceError, match="differs from step 1"), playhead.replay(recording):
        program(2)


def test_small_changes_far_apart_are_listed_one_by_one_and_forgiven_in_loose(ask: Ask) -> None:
    """B44: six small changes in a request of 200 kB."""
    filler = " ".join(random.Random(1).choices(["amber", "birch", "cedar", "dune"], k=17_000))

    def program(session: str, end: str, durations: list[int]) -> str:
        lines = [f"line {at} took {durations[at // 13]} ms" if at % 13 == 5 else f"line {at}" for at in range(50)]
        system = f"session {session}\n{filler}\n{filler}\nend {end}"
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "tool_call_id": "call_1", "content": "\n".join(lines)},
        ]
        return ask("", messages=messages)

    recording, answer = record(lambda: program("0123456789abcdef", "fedcba9876543210", [10, 20, 30, 40]))
    with playhead.replay(recording, match="loose") as replay:
        assert program("1123456789abcdef", "fedcba9876543211", [11, 21, 31, 41]) == answer
    (drift,) = replay.report.drift
    assert sum(each.words().count("{+") for each in drift.differences) == 6
    assert sum(each.distance for each in drift.differences) < 120


def test_an_id_minted_by_a_tool_left_real_is_named_and_can_be_normalised(ask: Ask) -> None:
    """B46"""

    def program(note: str) -> str:
        messages = [
            {"role": "user", "content": "note it"},
            {"role": "tool", "tool_call_id": "call_1", "content": f"saved note_{note}"},
        ]
        return ask("", messages=messages)

    recording, answer = record(lambda: program("3f2a"))
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        program("77aa")
    assert "note_3f2a" in str(caught.value)
    assert "opaque id, time or address" in caught.value.divergence.causes
    with playhead.replay(recording, match="loose") as replay:
        assert program("77aa") == answer
    assert all(each.renaming for each in replay.report.drift[0].differences)


def test_a_traceback_in_a_prompt_is_explained_and_forgiven_in_loose(ask: Ask) -> None:
    """B57"""

    @playhead.tool
    def parse() -> None:
        raise ValueError("bad row 3")

    def old() -> str:
        try:
            parse()
        except ValueError:
            return ask(
                "", messages=[{"role": "user", "content": "go"}, {"role": "tool", "content": traceback.format_exc()}]
            )
        return ""

    def new() -> str:
        try:
            parse()
        except ValueError:
            text = traceback.format_exc()
            return ask("", messages=[{"role": "user", "content": "go"}, {"role": "tool", "content": text}])
        return ""

    recording, answer = record(old)
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        new()
    assert "traceback text: path, line, address" in caught.value.divergence.causes
    with playhead.replay(recording, match="loose"):
        assert new() == answer


@dataclass(frozen=True)
class Quote:
    price: Decimal
    at: datetime
    tags: frozenset[str]


def test_a_class_that_is_gone_stops_the_replay_with_its_name_and_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """B55"""
    made = Quote(Decimal("1.10"), datetime(2026, 1, 2, tzinfo=UTC), frozenset({"x"}))

    @playhead.tool
    def quote() -> Quote:
        return made

    recording, _ = record(quote)
    with playhead.replay(recording):
        assert quote() == made
    monkeypatch.delitem(globals(), "Quote")
    with pytest.raises(MissingTypeError, match=r"step 1 .*Quote"), playhead.replay(recording, match="loose"):
        quote()


def test_no_tool_body_runs_in_a_replay() -> None:
    """B56"""
    done: list[str] = []

    @playhead.tool
    def charge() -> str:
        done.append("charge")
        return "ok"

    @playhead.tool
    def notify() -> None:
        done.append("notify")
        raise TimeoutError("no answer")

    def program() -> str:
        charge()
        with pytest.raises(TimeoutError, match="no answer"):
            notify()
        return "end"

    recording, _ = record(program)
    done.clear()
    with playhead.replay(recording):
        program()
    assert done == []


def test_an_exception_handler_cannot_swallow_a_divergence(ask: Ask) -> None:
    recording, _ = record(lambda: ask("one"))
    with pytest.raises(playhead.DivergenceError), playhead.replay(recording):
        try:
            ask("two")
        except Exception:
            pytest.fail("an agent's own handler must not see a divergence")


def test_a_divergence_that_was_swallowed_all_the_same_ends_the_replay(ask: Ask) -> None:
    recording, _ = record(lambda: ask("one"))
    with pytest.raises(playhead.DivergenceError, match="nearest is step 1"), playhead.replay(recording):
        try:
            ask("two")
        except BaseException:
            pass


def test_changed_tools_model_and_parameters_are_recognised_as_causes(ask: Ask) -> None:
    def tools(kind: str) -> list[dict[str, Any]]:
        return [{"type": "function", "function": {"name": "map", "parameters": {"type": kind}}}]

    recording, _ = record(lambda: ask("go", model="big", tools=tools("object"), temperature=0))
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        ask("go", model="bigger", tools=tools("array"), temperature=1)
    assert set(caught.value.divergence.causes) == {
        "model id changed: big → bigger",
        "tool schema changed",
        "parameters changed",
    }


def test_a_swapped_or_missing_tool_is_never_forgiven(ask: Ask) -> None:
    def program(*names: str) -> str:
        return ask("go", tools=[{"type": "function", "function": {"name": name}} for name in names])

    recording, _ = record(lambda: program("read", "write"))
    with (
        pytest.raises(playhead.DivergenceError, match="the set of tools changed: -write"),
        playhead.replay(recording, match="loose"),
    ):
        program("read")


def test_order_of_keys_has_no_meaning_order_of_items_has_and_numbers_are_their_value() -> None:
    """B10"""

    def post(body: str) -> str:
        kind = {"content-type": "application/json"}
        return httpx2.post(f"{server.url}/plain", content=body, headers=kind).text

    with ModelServer(routes={"POST /plain": Raw(200, body=b"fine")}) as server:
        recording, _ = record(lambda: post('{"b":1,"a":[2,3]}'))
        with playhead.replay(recording):
            post('{"a":[2,3],"b":1}')
        with playhead.replay(recording):
            post('{"a":[2,3],"b":1.0}')
        with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
            post('{"a":[3,2],"b":1}')
    assert {each.path for each in caught.value.divergence.differences} == {"/a/0", "/a/1"}


def test_normalisers_apply_to_both_sides() -> None:
    @playhead.tool
    def fetch(page: str, stamp: int) -> str:
        return page

    def without_stamp(request: Request) -> Request:
        content = {key: value for key, value in request.content.items() if key != "stamp"}
        return msgspec.structs.replace(request, content=content)

    recording, _ = record(lambda: fetch("a", 1))
    with pytest.raises(playhead.DivergenceError), playhead.replay(recording):
        fetch("a", 2)
    with playhead.replay(recording, normalisers=[without_stamp]) as replay:
        fetch("a", 2)
    assert replay.report.identical


def test_each_boundary_can_have_its_own_matcher(ask: Ask) -> None:
    @playhead.tool
    def fetch(page: str) -> str:
        return page

    def program(system: str, page: str) -> None:
        ask("", messages=[{"role": "system", "content": system}, {"role": "user", "content": "go"}])
        fetch(page)

    recording, _ = record(lambda: program("be kind", "a"))
    match: Any = {"model": "loose", "tool": "strict"}
    with playhead.replay(recording, match=match) as replay:
        program("be brief", "a")
    assert len(replay.report.drift) == 1
    with pytest.raises(playhead.DivergenceError, match="fetch"), playhead.replay(recording, match=match):
        program("be kind", "b")


def test_a_matcher_of_ones_own_decides() -> None:
    @playhead.tool
    def add(number: int) -> int:
        return number

    class AnyNumber:
        def match(self, asked: Request, recorded: Request) -> playhead.Verdict:
            return playhead.Verdict(asked.name == recorded.name)

    recording, _ = record(lambda: add(1))
    with playhead.replay(recording, match=AnyNumber()):
        assert add(99) == 1
