"""A snapshot is the value as it was, whatever happens to the value afterwards."""

from __future__ import annotations

import copy
import sys
import threading
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.events._snapshot import encode, encode_pieces, freeze, snapshot
from playhead.events._values import decode
from tests.events import samples


def kept(picture: Any) -> Any:
    return decode(encode(picture))


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        ["a", 1],
        {"args": ["a"], "kwargs": {"b": 2}},
        {"rows": [{"x": [1]} for _ in range(50)]},
        [{"x": [at]} for at in range(1000)],
        bytearray(b"abc"),
        {"s": {1, 2}, "b": bytearray(b"x")},
        samples.Row([1, [2]]),
        samples.Table(a=[1]),
        samples.Box([1]),
        samples.Slim([1]),
        samples.Base(name="n", items=[1], more=[2]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_happens_to_a_value_afterwards_does_not_show_in_its_snapshot(value: Any) -> None:
    before = copy.deepcopy(value)
    picture = snapshot(value)
    change(value)
    assert value != before
    assert kept(picture) == before


def change(value: Any) -> None:
    """Change the innermost thing that can be changed, in place."""
    if isinstance(value, (samples.Box, samples.Slim, samples.Base)):
        change(next(getattr(value, name) for name in ("item", "x", "items") if hasattr(value, name)))
    elif isinstance(value, dict):
        held = next(iter(value.values()))
        change(held) if isinstance(held, (dict, list, set)) else value.update(changed=True)
    elif isinstance(value, list):
        change(value[-1]) if isinstance(value[-1], (dict, list)) else value.append("changed")
    elif isinstance(value, set):
        value.add("changed")
    else:
        value.extend(b"changed")


def test_large_text_and_bytes_are_kept_by_reference() -> None:
    for value in ("x" * 1_000_000, b"x" * 1_000_000):
        assert snapshot(value).held is value
        assert snapshot({"body": value}).held["body"] is value
        assert snapshot({"args": [value], "kwargs": {}}).held["args"][0] is value


def test_encoding_twice_gives_the_same_tree_and_leaves_the_snapshot_alone() -> None:
    picture = snapshot({"text": "\ud800", "number": 2**70, "nested": {"$x": [float("nan")]}})
    first = encode(picture)
    assert encode(picture) == first
    assert kept(picture)["text"] == "\ud800"


@given(
    st.recursive(
        st.none() | st.integers() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.sets(st.integers()) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=80,
    )
)
def test_the_tiers_agree(value: Any) -> None:
    """A value tells nothing of how it was copied: beside something strange it gives the tree it gives alone."""
    assert freeze([value, threading.Lock()])[0] == freeze(value)


def test_a_value_that_other_threads_change_meanwhile_does_not_disturb_the_program() -> None:
    shared: dict[Any, Any] = {i: [i] for i in range(2000)}
    done = threading.Event()

    def churn() -> None:
        n = 0
        while not done.is_set():
            shared[n % 5000] = [n]
            shared.pop((n * 7) % 5000, None)
            n += 1

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for extra in ([], [samples.Cell(1)]):
            for _ in range(8):
                found = decode(freeze([shared, *extra]), missing="opaque")
                assert isinstance(found, list)
    finally:
        done.set()
        thread.join()
        sys.setswitchinterval(interval)


def test_no_snapshot_fails_however_little_of_the_stack_is_left() -> None:
    limit = sys.getrecursionlimit()
    found = []

    def dive(depth: int) -> None:
        if depth:
            dive(depth - 1)
        else:
            found.append(freeze({"a": [[samples.Box(1)]]}))

    for left in range(60, 14, -3):
        sys.setrecursionlimit(400)
        try:
            frame, used = sys._getframe(), 0
            while frame is not None:
                used, frame = used + 1, frame.f_back  # type: ignore[assignment]
            dive(400 - used - left)
        except RecursionError:
            break
        finally:
            sys.setrecursionlimit(limit)
    assert len(found) >= 8
    assert freeze({"a": [[samples.Box(1)]]}) == found[0]


@settings(deadline=None)
@given(st.integers(255, 1100), st.lists(st.sampled_from([1, "a", None, {"$x": [1]}, [(), b"b"], {1, 2}]), min_size=1))
def test_the_pieces_of_a_long_list_are_its_tree(length: int, items: list[Any]) -> None:
    value = [items[at % len(items)] for at in range(length)]
    picture = snapshot(value)
    assert kept(picture) == value
    assert (picture.form == "pieces") is (length > 256)
    if picture.form == "pieces":
        assert [item for piece in encode_pieces(picture) for item in piece] == encode(picture)


def test_a_long_list_that_contains_itself_or_more_than_can_be_copied_is_marked() -> None:
    value: list[Any] = [0] * 1000
    value[500] = value
    assert encode(snapshot(value))[500]["why"] == "cycle"
    same = [["x" * 30_000]] * 1000
    assert kept(snapshot(same)) == same
