"""The search: the right step within its budget, and no answer where there is none."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.bisection import Search, Verdict, bisect

VERDICTS = st.sampled_from(["good", "bad", "skip"])


def budget(count: int) -> int:
    return ceil(log2(count)) + 2


class Counting:
    """A check that says what stands in a list, and counts how often it was asked."""

    def __init__(self, verdicts: list[Verdict]) -> None:
        self.verdicts = verdicts
        self.asked: list[int] = []

    def __call__(self, step: int) -> Verdict:
        self.asked.append(step)
        return self.verdicts[step - 1]


def from_step(first: int, count: int) -> list[Verdict]:
    return ["bad" if step >= first else "good" for step in range(1, count + 1)]


@pytest.mark.parametrize("sweep", [True, False])
def test_every_first_bad_step_of_200_is_found_within_the_budget(sweep: bool) -> None:
    for first in range(1, 201):
        check = Counting(from_step(first, 200))
        found = bisect(200, check, sweep=sweep)
        assert (found.kind, found.step) == ("found", first)
        assert found.checks <= budget(200) == 10
        assert len(check.asked) == found.checks + found.swept == len(set(check.asked))
        assert found.proved is sweep


@given(st.integers(1, 5000).flatmap(lambda count: st.tuples(st.just(count), st.integers(1, count))))
def test_a_monotonic_check_is_answered_within_the_budget(case: tuple[int, int]) -> None:
    count, first = case
    check = Counting(from_step(first, count))
    found = bisect(count, check, sweep=False)
    assert (found.kind, found.step) == ("found", first)
    assert len(check.asked) == found.checks <= budget(count)
    assert found.swept == 0


@given(st.lists(st.sampled_from(["good", "bad"]), min_size=1, max_size=80))
def test_a_sweep_never_names_a_step_of_a_check_that_is_not_monotonic(verdicts: list[Verdict]) -> None:
    found = bisect(len(verdicts), Counting(verdicts))
    turning = [
        (step, now) for step, (before, now) in enumerate(pairwise(["good", *verdicts]), start=1) if before != now
    ]
    assert [(turn.step, turn.verdict) for turn in found.turns] == turning
    assert all(turn.after == turn.step - 1 for turn in found.turns)
    expected = {0: "holds", 1: "found"}.get(len(turning), "not_monotonic")
    assert found.kind == expected
    assert found.step == (turning[0][0] if expected == "found" else None)
    assert found.proved
    assert found.checks <= budget(len(verdicts))
    assert found.checks + found.swept == len(verdicts)


@given(st.lists(st.sampled_from(["good", "bad"]), min_size=1, max_size=80))
def test_without_a_sweep_what_is_said_contradicts_nothing_that_was_seen(verdicts: list[Verdict]) -> None:
    check = Counting(verdicts)
    found = bisect(len(verdicts), check, sweep=False)
    if found.kind == "not_monotonic":
        assert set(check.asked) == set(range(1, len(verdicts) + 1))  # once noticed, nothing is spared
        assert len(found.turns) > 1
        return
    assert len(check.asked) <= budget(len(verdicts))
    seen = {step: verdicts[step - 1] for step in check.asked}
    if found.kind == "holds":
        assert set(seen.values()) == {"good"}
    else:
        assert found.step is not None
        assert seen[found.step] == "bad"
        assert found.step == 1 or seen[found.step - 1] == "good"
        assert all(verdict == ("bad" if step >= found.step else "good") for step, verdict in seen.items())


@given(st.integers(3, 300).flatmap(lambda count: st.tuples(st.just(count), st.integers(1, count - 2))))
def test_a_check_of_one_step_that_also_fails_at_the_end_is_noticed_or_the_end_is_named(case: tuple[int, int]) -> None:
    """The usual mistake: the check looks at one step only. Without a sweep it is told apart at the next step."""
    count, broken = case
    verdicts: list[Verdict] = ["bad" if step in (broken, count) else "good" for step in range(1, count + 1)]
    found = bisect(count, Counting(verdicts), sweep=False)
    assert found.kind == "not_monotonic" or found.step == count
    assert bisect(count, Counting(verdicts)).kind == "not_monotonic"


@given(st.lists(VERDICTS, min_size=1, max_size=60))
def test_a_skipped_step_is_never_named_and_the_range_holds_the_answer(verdicts: list[Verdict]) -> None:
    found = bisect(len(verdicts), Counting(verdicts))
    known = [verdict for verdict in verdicts if verdict != "skip"]
    firsts = [step for step, verdict in enumerate(verdicts, start=1) if verdict == "bad"]
    monotonic = known == sorted(known, reverse=True)
    assert (found.kind == "not_monotonic") is not monotonic
    if not monotonic:
        return
    assert set(found.skipped) == {step for step, verdict in enumerate(verdicts, start=1) if verdict == "skip"}
    if not firsts:
        good = max((step for step, verdict in enumerate(verdicts, start=1) if verdict == "good"), default=0)
        assert found.kind == ("holds" if verdicts[-1] == "good" else "unsure")
        assert found.between == (None if verdicts[-1] == "good" else (good + 1, len(verdicts)))
    elif found.kind == "found":
        assert found.step == firsts[0]
        assert firsts[0] == 1 or verdicts[firsts[0] - 2] == "good"
    else:
        assert found.kind == "unsure"
        assert found.between is not None
        low, high = found.between
        assert high == firsts[0]
        assert all(verdicts[step - 1] == "skip" for step in range(low, high))
        assert low == 1 or verdicts[low - 2] == "good"


@given(st.integers(1, 200), st.data())
def test_marks_may_come_in_any_order_and_lead_to_the_same_answer(count: int, data: st.DataObject) -> None:
    first = data.draw(st.integers(1, count))
    verdicts = from_step(first, count)
    search = Search(count)
    for step in data.draw(st.lists(st.integers(1, count), max_size=10)):
        search.mark(step, verdicts[step - 1])
    while (step := search.next_step()) is not None:
        assert step not in search.marks
        between = search.finding().between
        assert between is not None
        assert between[0] <= first <= between[1] or between[1] == count
        search.mark(step, verdicts[step - 1])
    assert search.finding().step == first


def test_a_later_word_on_a_step_takes_the_place_of_an_earlier_one() -> None:
    search = Search(4, {4: "bad", 3: "bad", 2: "good"})
    assert search.finding().step == 3
    search.mark(2, "bad")
    assert search.finding().kind == "open"
    assert search.next_step() == 1


def test_a_run_without_steps_has_nothing_to_look_at() -> None:
    found = bisect(0, lambda step: "bad")
    assert (found.kind, found.checks, found.steps) == ("holds", 0, 0)


@pytest.mark.parametrize("step", [0, 5, -1])
def test_a_step_that_is_not_there_cannot_be_marked(step: int) -> None:
    with pytest.raises(ValueError, match="steps 1 to 4"):
        Search(4).mark(step, "good")
