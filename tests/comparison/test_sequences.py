"""Aligning sequences: everything once, in order, as much alike as can be, and long ones in little time."""

from __future__ import annotations

import random
import time
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.comparison import Item, align_items, common_subsequence
from playhead.comparison import _sequences as sequences

ITEMS = st.builds(
    lambda name, shape, value: Item(name, (name, shape), (name, shape, value)),
    st.sampled_from("ab"),
    st.sampled_from("xy"),
    st.integers(0, 3),
)


def named(*names: str) -> list[Item]:
    """Items such as ``search:tea``: name and value, of one shape a name."""
    return [Item(each.partition(":")[0], each.partition(":")[0], each) for each in names]


def check(old: list[Item], new: list[Item]) -> list[tuple[int | None, int | None]]:
    found = align_items(old, new)
    assert [i for i, _ in found if i is not None] == list(range(len(old)))
    assert [j for _, j in found if j is not None] == list(range(len(new)))
    assert all(old[i].name == new[j].name for i, j in found if i is not None and j is not None)
    assert (None, None) not in found
    return found


def weight(old: list[Item], new: list[Item], found: list[tuple[int | None, int | None]]) -> int:
    return sum(sequences._alike(old[i], new[j]) for i, j in found if i is not None and j is not None)


@given(st.lists(ITEMS, max_size=12), st.lists(ITEMS, max_size=12))
def test_everything_is_there_once_in_its_order_and_short_ones_are_as_much_alike_as_can_be(
    old: list[Item], new: list[Item]
) -> None:
    @cache
    def best(i: int, j: int) -> int:
        if i == len(old) or j == len(new):
            return 0
        return max(best(i + 1, j), best(i, j + 1), best(i + 1, j + 1) + sequences._alike(old[i], new[j]))

    assert weight(old, new, check(old, new)) == best(0, 0)


@settings(max_examples=25)
@given(st.lists(ITEMS, min_size=90, max_size=150), st.randoms(use_true_random=False))
def test_long_ones_too_have_everything_once_and_in_order(old: list[Item], luck: random.Random) -> None:
    new = [item for item in old if luck.random() < 0.8]
    for _ in range(luck.randrange(20)):
        new.insert(luck.randrange(len(new) + 1), Item("c", "c", luck.random()))
    found = check(old, new)
    assert weight(old, new, found) >= 0.9 * sequences._VALUE * sum(item.name != "c" for item in new)


@given(st.lists(st.integers(0, 4), max_size=30), st.lists(st.integers(0, 4), max_size=30))
def test_a_common_subsequence_is_common_and_none_is_longer(old: list[int], new: list[int]) -> None:
    @cache
    def longest(i: int, j: int) -> int:
        if i == len(old) or j == len(new):
            return 0
        return longest(i + 1, j + 1) + 1 if old[i] == new[j] else max(longest(i + 1, j), longest(i, j + 1))

    found = common_subsequence(old, new)
    assert all(old[i] == new[j] for i, j in found)
    assert found == sorted(set(found))
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found) == longest(0, 0)


@given(st.lists(st.integers(0, 4), max_size=40), st.lists(st.integers(0, 4), max_size=40))
def test_what_is_too_wide_is_halved_and_comes_out_as_long(old: list[int], new: list[int]) -> None:
    whole = len(common_subsequence(old, new))
    half = len(old) // 2
    split = sequences._best_split(old, new, half)
    assert len(common_subsequence(old[:half], new[:split])) + len(common_subsequence(old[half:], new[split:])) == whole


def test_a_call_that_came_first_takes_no_other_s_partner() -> None:
    old = named("search:a", "search:b", "search:c")
    assert align_items(old, named("search:b", "search:c")) == [(0, None), (1, 0), (2, 1)]
    assert align_items(named("book:x"), named("read:x")) == [(0, None), (None, 0)]


def test_a_stretch_cut_out_of_a_long_run_of_one_tool_shifts_nothing_else() -> None:
    old = named(*(f"search:{number}" for number in range(1000)))
    found = check(old, old[:300] + old[420:])
    assert all(
        (i < 300 or i >= 420) and old[i].value == old[i].value for i, j in found if i is not None and j is not None
    )
    assert sum(j is None for _, j in found) == 120


def test_three_thousand_against_three_thousand_cost_little_more_than_ten_times_three_hundred() -> None:
    """Ten times the length may cost a hundred times as much with a table of all pairs; here not a third of that."""
    luck = random.Random(4)

    def cost(count: int) -> float:
        old = named(*(f"{luck.choice('abc')}:{luck.randrange(40)}" for _ in range(count)))
        new = named(*(f"{luck.choice('abc')}:{luck.randrange(40)}" for _ in range(count)))
        begun = time.perf_counter()
        check(old, new)
        return time.perf_counter() - begun

    assert min(cost(3000) for _ in range(2)) < 33 * max(cost(300) for _ in range(4))
