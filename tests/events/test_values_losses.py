"""What cannot be kept is summed up, marked and counted; nothing of it runs, and nothing is raised."""

from __future__ import annotations

import array
import collections
import dataclasses
import functools
import io
import re
import sys
import threading
import types
import unittest.mock
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from playhead.errors import MissingTypeError
from playhead.events._opaque import Opaque
from playhead.events._snapshot import encode, freeze, snapshot
from playhead.events._values import DEPTH, NODES, SIZE, decode
from tests.events import samples


def freeze_counting(value: Any) -> tuple[Any, Counter[str]]:
    losses: Counter[str] = Counter()
    tree = encode(snapshot(value), losses=losses)
    text = msgspec.json.encode(tree)
    assert len(text) < 200_000, "not a summary"
    return msgspec.json.decode(text), losses


def generator() -> Any:
    yield 1


class Lazy:
    """Like a row of a database whose attributes are loaded when they are looked at."""

    def __getattribute__(self, name: str) -> Any:
        samples.ran.append(name)
        raise ConnectionError("no database")

    def __iter__(self) -> Any:
        samples.ran.append("__iter__")
        raise ConnectionError("no database")

    def __len__(self) -> int:
        samples.ran.append("__len__")
        raise ConnectionError("no database")


STRANGE: dict[str, Callable[[], Any]] = {
    "lock": threading.Lock,
    "file": lambda: io.BytesIO(b"x"),
    "stream": lambda: sys.stderr,
    "generator": generator,
    "object": object,
    "hooked": samples.Hooked,
    "lazy": Lazy,
    "mock": unittest.mock.MagicMock,
    "pattern": lambda: re.compile("(a+)+$"),
    "partial": lambda: functools.partial(print, 1),
    "namespace": lambda: types.SimpleNamespace(a=1),
    "proxy": lambda: types.MappingProxyType({}),
    "view": lambda: memoryview(b"abc"),
    "array": lambda: array.array("d", [1.0]),
    "keys": lambda: {}.keys(),
    "iterator": lambda: iter([]),
    "class": lambda: int,
    "builtin": lambda: len,
    "function": lambda: freeze,
    "module": lambda: msgspec.json,
    "default": lambda: collections.defaultdict(lambda: 1),
    "chain": lambda: collections.ChainMap({}),
}


@pytest.mark.parametrize("name", STRANGE)
def test_an_object_of_unknown_kind_is_named_marked_and_counted_and_none_of_it_runs(name: str) -> None:
    """B72"""
    value = {"bad": STRANGE[name](), "good": [1, (2,)]}
    samples.ran.clear()
    tree, losses = freeze_counting(value)
    assert samples.ran == []
    assert tree["bad"]["$t"] == "opaque"
    assert tree["bad"]["why"] == "unknown"
    assert losses == {"unknown": 1}
    assert decode(tree["good"]) == [1, (2,)]


def test_cycles_of_every_making_are_marked_where_they_close() -> None:
    """B72"""
    loop: list[Any] = [1]
    loop.append(loop)
    table: dict[str, Any] = {}
    table["self"] = {"again": [table]}
    parent = samples.Node("parent")
    parent.children.append(samples.Node("child", parent))
    error = ValueError("x")
    error.__context__ = KeyError("y")
    error.__context__.__context__ = error
    row = samples.Row()
    row.append(row)
    for value in (loop, table, parent, error, row, (loop,)):
        tree, losses = freeze_counting(value)
        assert losses == {"cycle": 1}
        assert b'"why":"cycle"' in msgspec.json.encode(tree)


def test_a_value_held_twice_is_no_cycle() -> None:
    part = [1]
    tree, losses = freeze_counting([part, part, {"again": part}])
    assert tree == [[1], [1], {"again": [1]}]
    assert not losses


def test_deep_nesting_is_cut_at_a_level_and_marked() -> None:
    """B72"""
    for wrap in (lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,), samples.Box):
        value: Any = "bottom"
        for _ in range(3000):
            value = wrap(value)
        _, losses = freeze_counting(value)
        assert losses == {"deep": 1}


def test_nesting_up_to_the_level_comes_back() -> None:
    value: Any = "bottom"
    for _ in range(DEPTH):
        value = [value]
    assert decode(freeze(value)) == value
    assert b"deep" in msgspec.json.encode(freeze([value]))


def test_deep_nesting_is_safe_under_a_recursion_limit_beyond_the_stack() -> None:
    import subprocess

    code = (
        "import sys; sys.setrecursionlimit(10**6)\n"
        "from playhead.events._snapshot import freeze\n"
        "value = []\n"
        "for _ in range(200_000): value = [value]\n"
        "assert 'deep' in str(freeze(value))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize(
    "value",
    [
        "x" * (SIZE + 1),
        b"x" * (200 << 20),
        bytearray(SIZE + 1),
        [None] * (NODES + 1),
        1 << (8 * SIZE),
        array.array("d", bytes(200 << 20)),
    ],
    ids=["text", "bytes", "bytearray", "list", "int", "array"],
)
def test_a_value_too_big_to_keep_is_summed_up_beside_what_is_kept(value: Any) -> None:
    """B72"""
    tree, losses = freeze_counting({"big": value, "small": samples.Box([1])})
    assert tree["big"]["$t"] == "opaque"
    assert losses.total() == 1
    assert decode(tree["small"]) == samples.Box([1])


def test_a_value_that_holds_the_same_parts_over_and_over_does_not_grow_without_end() -> None:
    for leaf in ([], samples.Box(1)):
        value: Any = [leaf] * 10
        for _ in range(8):
            value = [value] * 10
        picture = snapshot(value)
        losses: Counter[str] = Counter()
        encode(picture, losses=losses)
        assert losses["too big"]


def test_what_was_not_kept_is_refused_or_stands_as_a_marked_value() -> None:
    tree, _ = freeze_counting([1, threading.Lock()])
    with pytest.raises(MissingTypeError, match="not kept"):
        decode(tree)
    one, opaque = decode(tree, missing="opaque")
    assert one == 1
    assert isinstance(opaque, Opaque)
    assert (opaque.class_name, opaque.why) == ("_thread:lock", "unknown")
    assert freeze([1, opaque]) == tree


def test_classes_and_functions_are_known_by_name() -> None:
    assert freeze([int, freeze, len]) == [
        {"$t": "opaque", "class": "builtins:type", "why": "unknown", "name": "builtins:int"},
        {
            "$t": "opaque",
            "class": "builtins:function",
            "why": "unknown",
            "name": "playhead.events._snapshot:freeze",
        },
        {
            "$t": "opaque",
            "class": "builtins:builtin_function_or_method",
            "why": "unknown",
            "name": "builtins:len",
        },
    ]


def test_a_class_whose_every_hook_fails_is_marked() -> None:
    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            raise RuntimeError(name)

        def __hash__(cls) -> int:
            raise RuntimeError("hash")

    class Odd(metaclass=Meta):
        pass

    odd = type.__call__(Odd)
    tree, losses = freeze_counting([odd])
    assert losses == {"unknown": 1}
    assert tree[0]["$t"] == "opaque"


def test_looking_at_a_subclass_of_a_container_runs_none_of_its_overrides() -> None:
    loud = samples.Loud()
    dict.__setitem__(loud, "a", 1)
    samples.ran.clear()
    tree = freeze(loud)
    assert samples.ran == []
    found = decode(tree)
    assert samples.ran == []
    assert type(found) is samples.Loud
    assert dict.copy(found) == {"a": 1}


def test_a_dataclass_that_holds_something_strange_keeps_its_other_fields() -> None:
    tree, losses = freeze_counting(samples.Cell(1, threading.Lock()))
    assert losses == {"unknown": 1}
    assert tree["v"]["row"] == 1
    found = decode(tree, missing="opaque")
    assert dataclasses.fields(found)
    assert isinstance(found.value, Opaque)
