"""Values on their way through a tool: as they were at the call, kept in the file, given back in the replay."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import enum
import json
import math
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.eventlog import Recording, verify

Program = Callable[[], Any]


def round_trip(program: Program, store: Path) -> tuple[Any, Any, Recording]:
    """What a program gave when it was recorded, what it gives when replayed, and the recording."""
    with playhead.record(store=store) as run:
        first = program()
    recording = playhead.load(run.id, store=store)
    assert recording.path is not None
    assert verify(recording.path).ok
    assert run.incomplete == ()
    with playhead.replay(recording) as replay:
        second = program()
    assert replay.report.unplayed == []
    return first, second, recording


def lines_of(recording: Recording, tmp_path: Path) -> list[str]:
    """The plain lines of a recording."""
    from tests.eventlog.runs import plain_lines

    assert recording.path is not None
    return [line.decode("utf-8") for line in plain_lines(recording.path)]


def test_what_changes_after_the_call_does_not_change_what_was_recorded(tmp_path: Path) -> None:
    @playhead.tool
    def fetch(query: dict[str, Any], tags: list[Any]) -> dict[str, Any]:
        return {"hits": [{"id": 1, "tags": tags.copy()}]}

    def program() -> Any:
        query, tags = {"text": "first", "deep": {"list": [1, 2]}}, ["a", {"b": [1]}]
        result = fetch(query, tags)
        kept = json.loads(json.dumps(result))
        query["text"], query["deep"]["list"] = "changed", []  # type: ignore[index]
        tags.clear()
        result["hits"][0]["id"] = 99
        result["hits"].append("more")
        return kept

    first, second, recording = round_trip(program, tmp_path)
    assert first == second == {"hits": [{"id": 1, "tags": ["a", {"b": [1]}]}]}
    (exchange,) = recording.exchanges
    assert exchange.question.body.arguments == {  # type: ignore[union-attr]
        "query": {"text": "first", "deep": {"list": [1, 2]}},
        "tags": ["a", {"b": [1]}],
    }


def test_items_of_a_generator_are_kept_as_they_were_when_they_came(tmp_path: Path) -> None:
    @playhead.tool
    def grow() -> Any:
        state: list[int] = []
        for number in range(3):
            state.append(number)
            yield state

    def program() -> Any:
        return [list(state) for state in grow()]

    first, second, _ = round_trip(program, tmp_path)
    assert first == second == [[0], [0, 1], [0, 1, 2]]


class RefusedError(Exception):
    def __init__(self, status: int, *, detail: dict[str, Any]) -> None:
        super().__init__(f"HTTPError: {status}")
        self.status = status
        self.detail = detail


def test_exceptions_come_back_as_their_class_with_what_they_carry(tmp_path: Path) -> None:
    @playhead.tool
    def refund(order: int) -> None:
        try:
            {}["missing"]
        except KeyError as error:
            raise RefusedError(403, detail={"order": order, "limits": [1, 2]}) from error

    def program() -> Any:
        try:
            refund(7)
        except RefusedError as error:
            return type(error), str(error), error.status, error.detail, type(error.__cause__), str(error.__cause__)

    first, second, recording = round_trip(program, tmp_path)
    assert first == second
    assert first == (RefusedError, "HTTPError: 403", 403, {"order": 7, "limits": [1, 2]}, KeyError, "'missing'")
    assert recording.exchanges[0].answer is not None
    assert recording.exchanges[0].answer.kind == "tool.failed"


SURROGATES = [
    "ok \ud83e end",
    {"key \ud83e": 1},
    [["deep", "\udcff"]],
    b"caf\xe9.txt".decode("utf-8", "surrogateescape"),
    "x" * 2047 + "\U0001f600"[0] + "y" * 10,
    "\x00 \x1b[31m \u2028 \ufeff",
]


@pytest.mark.parametrize("value", SURROGATES, ids=range(len(SURROGATES)))
def test_text_that_is_no_text_is_kept_exactly_and_harms_nothing_beside_it(value: Any, tmp_path: Path) -> None:
    """B70"""

    @playhead.tool
    def read(what: Any) -> Any:
        return value if what == "bad" else what

    def program() -> Any:
        return [read("good"), read("bad"), read(value), read("good again")]

    first, second, recording = round_trip(program, tmp_path)
    assert first == second == ["good", value, value, "good again"]
    for line in lines_of(recording, tmp_path):
        line.encode("utf-8")
        json.loads(line)


class Colour(enum.Enum):
    RED = "red"


MOMENT = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
AWKWARD = [
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    1e16,
    uuid.UUID(int=7),
    MOMENT,
    datetime.timedelta(days=1, microseconds=3),
    {1, 2, 3},
    frozenset({"a"}),
    b"\x00\xff",
    bytearray(b"abc"),
    decimal.Decimal("1.10"),
    10**5000,
    -(2**63) - 1,
    {(1, 2): "tuple", 3: "int", None: "none", True: "yes"},
    (1, (2, [3])),
    Colour.RED,
    complex(1, -2),
    range(2, 9, 3),
    Path("a/b"),
    {"$t": "not a tag", "$part": "nor a part", "$blob": "x"},
    {"salt": 1, "body": {"erased": 2}},
]


def test_values_that_json_cannot_hold_come_back_as_themselves_and_the_file_is_strict_json(tmp_path: Path) -> None:
    """B71"""

    @playhead.tool
    def give(index: int) -> Any:
        return AWKWARD[index]

    def program() -> Any:
        return ["good", *(give(index) for index in range(len(AWKWARD))), "good"]

    first, second, recording = round_trip(program, tmp_path)
    for before, after in zip(first, second, strict=True):
        assert type(after) is type(before)
        assert repr(after) == repr(before) if not isinstance(before, int) else after == before

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} is not JSON")

    for line in lines_of(recording, tmp_path):
        json.loads(line, parse_constant=refuse)


@dataclass
class Node:
    name: str
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)


class Shy:
    """Whatever looks at it closely is noticed."""

    touched = 0

    def __repr__(self) -> str:
        type(self).touched += 1
        raise RuntimeError("do not look")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        type(self).touched += 1
        raise RuntimeError("loaded from the database")

    def __eq__(self, other: object) -> bool:
        type(self).touched += 1
        raise RuntimeError("compared")

    __hash__ = None  # type: ignore[assignment]


def make_awkward() -> list[Any]:
    parent = Node("parent")
    parent.children.append(Node("child", parent))
    loop: dict[str, Any] = {"name": "loop"}
    loop["self"] = loop
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    return [parent, loop, deep, Shy(), threading.Lock(), open(__file__), lambda: 1, bytearray(50_000_000)]


def test_values_without_end_or_with_side_effects_are_summed_up_and_never_raised_into_the_program(
    tmp_path: Path,
) -> None:
    """B72"""
    values = make_awkward()

    @playhead.tool
    def take(index: int, value: Any) -> str:
        return f"took {index}"

    @playhead.tool
    def give(index: int) -> Any:
        return values[index]

    with playhead.record(store=tmp_path) as run:
        for index, value in enumerate(values):
            assert take(index, value) == f"took {index}"
            assert give(index) is value
    values[5].close()
    assert Shy.touched == 0
    recording = playhead.load(run.id, store=tmp_path)
    assert recording.path is not None
    assert verify(recording.path).ok
    assert len(recording.exchanges) == 2 * len(values)
    assert all(exchange.answer is not None for exchange in recording.exchanges)
    assert recording.path.stat().st_size < 1_000_000
    assert run.outcome == "success"


def test_a_coroutine_a_method_and_a_callable_are_tools_too(tmp_path: Path) -> None:
    calls = []

    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        @playhead.tool
        def stock(self, item: str) -> str:
            calls.append(item)
            return f"{self.name}: {item}"

        @playhead.tool
        @staticmethod
        def close() -> str:
            calls.append("close")
            return "closed"

    @playhead.tool
    async def later(item: str) -> str:
        await asyncio.sleep(0)
        calls.append(item)
        return item.upper()

    class Doubler:
        def __call__(self, number: int) -> int:
            calls.append(number)
            return number * 2

    double = playhead.tool(Doubler(), name="double")

    async def main() -> list[Any]:
        shop = Shop("north")
        return [shop.stock("pear"), shop.close(), await later("plum"), double(4)]

    first, second, _ = round_trip(lambda: asyncio.run(main()), tmp_path)
    assert first == second == ["north: pear", "closed", "PLUM", 8]
    assert len(calls) == 4


def test_long_lists_are_kept_masked_and_referred_to_as_short_ones_are(tmp_path: Path) -> None:
    secret = "sk-proj-" + "Ab1" * 16
    rows = [
        {"id": at, "$part": (at,), "note": "n" * 2000 if at % 300 == 7 else "\n", "tags": ["a"]} for at in range(900)
    ]

    @playhead.tool
    def give() -> Any:
        return [*rows, {"password": secret, "text": f"key {secret}"}]

    @playhead.model
    def ask() -> Any:
        return rows

    def program() -> Any:
        return give()[:-1], ask()

    first, second, recording = round_trip(program, tmp_path)
    assert first == second == (rows, rows)
    answer = recording.exchanges[0].answer
    assert answer is not None
    last = answer.body.value[-1]  # type: ignore[union-attr]
    assert last["password"] == last["text"].removeprefix("key ") != secret
    assert secret not in "".join(lines_of(recording, tmp_path))
