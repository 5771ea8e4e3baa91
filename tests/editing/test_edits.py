"""What an edit makes of a recording, and that it makes nothing of the one that it was given."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import playhead
from playhead.errors import UsageError
from playhead.events import ToolFailed, ToolReturned, decode
from tests.examples import up_to

pytestmark = pytest.mark.usefixtures("own_store")


@playhead.tool
def look_up(item: str) -> Any:
    return f"{item} costs 7 euros"


@playhead.tool
def count(up_to: int) -> Iterator[int]:
    yield from range(up_to)


def agent() -> list[Any]:
    found: list[Any] = [look_up("tea")]
    try:
        found.append(look_up("salt"))
    except OSError as error:
        found.append(repr(error))
    found += [list(count(3)), time.time(), random.random()]
    return found


def record() -> playhead.Recording:
    with playhead.record(kind="edited") as run:
        run.succeed(agent())
    return playhead.load(run.id)


def digest(recording: playhead.Recording) -> str:
    assert recording.path is not None
    return hashlib.sha256(recording.path.read_bytes()).hexdigest()


def replay(recording: playhead.Recording, match: Any = "strict") -> list[Any]:
    with playhead.replay(recording, match=match):
        return agent()


def test_a_tool_returns_what_the_edit_says_and_the_rest_is_as_recorded() -> None:
    recorded = record()
    before, found = digest(recorded), replay(recorded)
    made = playhead.edit(recorded).returns(2, {"price": 9999}).save()
    assert replay(made) == [found[0], {"price": 9999}, *found[2:]]
    assert digest(recorded) == before
    assert made.verify().proven


def test_the_new_recording_names_its_parent_and_the_edits() -> None:
    recorded = record()
    made = playhead.edit(recorded).returns(2, 1).drop(3).save()
    assert made.started is not None
    parent = made.started.parent
    assert parent is not None
    assert (parent.run, parent.head, parent.at_step) == (recorded.id, recorded.head, 2)
    assert [each["edit"] for each in parent.edits] == ["returns", "drops"]
    assert made.id != recorded.id


@pytest.mark.parametrize("error", ["PermissionError: no", PermissionError("no")], ids=["text", "exception"])
def test_a_tool_raises_what_the_edit_says(error: Any) -> None:
    made = playhead.edit(record()).raises(2, error).save()
    assert replay(made)[1] == "PermissionError('no')"


def test_an_error_that_comes_first_is_followed_by_the_recorded_answer() -> None:
    def persistent() -> Any:
        while True:
            try:
                return look_up("tea")
            except TimeoutError:
                continue

    with playhead.record(kind="persistent") as run:
        persistent()
    made = (
        playhead.edit(run.id).raises(1, "TimeoutError: slow", first=True).raises(1, "TimeoutError", first=True).save()
    )
    assert [type(step.answer.body) for step in made.steps if step.answer] == [ToolFailed, ToolFailed, ToolReturned]
    with playhead.replay(made) as replaying:
        assert persistent() == "tea costs 7 euros"
    assert replaying.report.answered == 3


def test_a_generator_yields_the_items_of_a_list() -> None:
    made = playhead.edit(record()).returns(3, ["a", "b"]).save()
    assert replay(made)[2] == ["a", "b"]


def test_a_dropped_exchange_is_gone_with_its_answer() -> None:
    recorded = record()
    made = playhead.edit(recorded).drop(2).save()
    assert [step.question.body.name for step in made.steps] == ["look_up", "count"]  # type: ignore[union-attr]
    with pytest.raises(playhead.DivergenceError):
        replay(made)
    with playhead.replay(made):
        assert look_up("tea") == "tea costs 7 euros"
        assert list(count(3)) == [0, 1, 2]
        time.time(), random.random()


def test_a_clock_and_a_draw_are_named_by_their_events() -> None:
    recorded = record()
    clock, drawn = recorded.of_kind("clock.read")[0], recorded.of_kind("random.drawn")[0]
    made = playhead.edit(recorded).reads(f"#{clock.seq}", 12.5).reads(f"#{drawn.seq}", 0.25).save()
    assert replay(made)[3:] == [12.5, 0.25]


def test_a_delay_moves_what_follows_and_clocks_tell_it() -> None:
    def timed() -> tuple[float, datetime, datetime]:
        begun, day = time.monotonic(), datetime.now()
        look_up("tea")
        return time.monotonic() - begun, day, datetime.now()

    with playhead.record(kind="timed") as run:
        took, *_ = timed()
    made = playhead.edit(run.id).delay(1, 90).save()
    with playhead.replay(made):
        now, before, after = timed()
    assert now == pytest.approx(took + 90)
    assert 90 <= (after - before).total_seconds() < 91


def test_a_delayed_answer_comes_after_one_that_does_not_wait_for_it() -> None:
    @playhead.tool
    async def fetch(name: str, seconds: float) -> str:
        await asyncio.sleep(seconds)
        return name

    async def racing() -> list[str]:
        came = []
        for first in asyncio.as_completed([fetch("a", 0.01), fetch("b", 0.05)]):
            came.append(await first)
        return came

    with playhead.record(kind="race") as run:
        assert asyncio.run(racing()) == ["a", "b"]
    recording = playhead.load(run.id)
    step = next(each.step for each in recording.steps if each.answer and each.answer.body.value == "a")  # type: ignore[union-attr]
    made = playhead.edit(recording).delay(step or 0, 30).save()
    assert made.verify().proven
    with playhead.replay(made):
        assert asyncio.run(racing()) == ["b", "a"]


def test_an_answer_that_is_delayed_beyond_a_time_limit_runs_into_it() -> None:
    @playhead.tool
    async def fetch() -> str:
        return "here"

    async def impatient() -> str:
        try:
            return await asyncio.wait_for(fetch(), timeout=5)
        except TimeoutError:
            return "too late"

    with playhead.record(kind="impatient") as run:
        assert asyncio.run(impatient()) == "here"
    with playhead.replay(playhead.edit(run.id).delay(1, 4).save()):
        assert asyncio.run(impatient()) == "here"
    with playhead.replay(playhead.edit(run.id).delay(1, 60).save(), match="loose"):
        assert asyncio.run(impatient()) == "too late"


def test_what_a_user_said_is_replaced_wherever_it_went() -> None:
    ask = playhead.model(lambda messages: "fine", name="thinking")

    @playhead.agent(kind="chatty")
    def chatty(text: str) -> Any:
        return ask([{"role": "user", "content": f"Please: {text}"}])

    chatty("find tea")
    recorded = next(iter(playhead.load(each) for each in _ids()))
    made = playhead.edit(recorded).says("find salt", instead_of="find tea").save()
    assert made.started is not None
    assert made.started.entry.arguments == {"args": ["find salt"], "kwargs": {}}
    with playhead.replay(made):
        assert chatty("find salt") == "fine"


def _ids() -> list[str]:
    from playhead._configuration import read_settings
    from playhead._stores import choose_store

    return [summary.run for summary in choose_store(read_settings()).list()]


def test_a_secret_in_an_edit_does_not_reach_the_recording() -> None:
    secret = "sk-ant-api03-" + "x1Y2z3" * 15
    made = playhead.edit(record()).returns(1, {"key": secret, "text": f"use {secret}"}).save()
    assert secret not in "".join(map(repr, made.events))


def test_an_answer_is_given_to_a_question_that_had_none() -> None:
    recorded = playhead.edit(record()).returns(2, "there").save()
    assert recorded.steps[1].answer is not None


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        (lambda edits: edits, "nothing to change"),
        (lambda edits: edits.returns(9, 1), "has steps 1 to 3, not 9"),
        (lambda edits: edits.returns(1, 1).raises(1, "OSError"), "changed twice"),
        (lambda edits: edits.returns(1, 1).drop(1), "changed twice"),
        (lambda edits: edits.status(1, 403), "did not go over HTTP"),
        (lambda edits: edits.answers(1, "hello"), "did not go over HTTP"),
        (lambda edits: edits.fault(1, "refusal"), "is a fault of a model"),
        (lambda edits: edits.raises(1, "NoSuchError: x"), "no exception called 'NoSuchError'"),
        (lambda edits: edits.delay(1, -1), "greater than 0"),
        (lambda edits: edits.reads("#1", 1), "neither a read of a clock nor a random draw"),
        (lambda edits: edits.returns("#9999", 1), "is not there"),
        (lambda edits: edits.returns(True, 1), "is no place in a run"),
        (lambda edits: edits.says("x", instead_of="never said"), "nobody said"),
        (lambda edits: edits.says("x"), "no model was told"),
    ],
)
def test_an_edit_that_cannot_be_carried_out_says_why_and_leaves_nothing(edits: Any, told: str) -> None:
    recorded = record()
    with pytest.raises(UsageError, match=told) as caught:
        edits(playhead.edit(recorded)).save()
    assert caught.value.next
    assert _ids() == [recorded.id]


_changes = st.lists(
    st.one_of(
        st.tuples(st.just("returns"), st.integers(1, 3), st.one_of(st.integers(), st.text(), st.none())),
        st.tuples(st.just("raises"), st.integers(1, 3), st.just("OSError: no")),
        st.tuples(st.just("drop"), st.integers(1, 3)),
        st.tuples(st.just("delay"), st.integers(1, 3), st.floats(0.001, 1e6)),
    ),
    min_size=1,
    unique_by=lambda change: change[1],
)


@settings(max_examples=up_to(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=_changes)
def test_whatever_is_edited_the_chain_holds_and_the_parent_stays(changes: list[Any]) -> None:
    recorded = record()
    before = digest(recorded)
    edits = playhead.edit(recorded)
    for name, *arguments in changes:
        getattr(edits, name)(*arguments)
    made = edits.save()
    assert made.verify().proven
    assert digest(recorded) == before
    gone = {change[1] for change in changes if change[0] == "drop"}
    assert len(made.steps) == len(recorded.steps) - len(gone)
    for index, step in enumerate(each for at, each in enumerate(recorded.steps, 1) if at not in gone):
        assert made.steps[index].question.body == step.question.body


def test_a_long_conversation_is_still_kept_once() -> None:
    """The derived recording grows with what is new, as its parent does."""
    ask = playhead.model(lambda messages: "x" * 400, name="thinking")

    def long(turns: int) -> None:
        messages: list[Any] = []
        for turn in range(turns):
            messages.append({"role": "user", "content": f"turn {turn} " + "y" * 400})
            messages.append({"role": "assistant", "content": ask(messages)})

    with playhead.record(kind="long") as run:
        long(60)
    recorded = playhead.load(run.id)
    made = playhead.edit(recorded).returns(60, "z").save()
    sizes = [each.path.stat().st_size for each in (recorded, made) if each.path is not None]
    assert sizes[1] < 1.5 * sizes[0]
    assert decode(made.steps[59].answer.body.content) == "z"  # type: ignore[union-attr]


def test_a_recording_in_another_store_is_edited_into_this_one(tmp_path: Path) -> None:
    with playhead.record(kind="there", store=tmp_path / "there") as run:
        run.succeed(agent())
    recorded = playhead.load(run.id, store=tmp_path / "there")
    made = playhead.edit(recorded).returns(1, "ana@example.org").save()
    assert made.path is not None
    assert tmp_path / "there" not in made.path.parents
    assert replay(made)[1:] == replay(recorded)[1:]
