"""Values come back through JSON as they were: same type, same content, in the same order."""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import ipaddress
import json
import math
import pathlib
import struct
import uuid
import zoneinfo
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.events._canonical import canonical
from playhead.events._snapshot import freeze
from playhead.events._values import decode
from tests.events import samples


def through_json(tree: Any) -> Any:
    text = msgspec.json.encode(tree)
    # A second reader agrees, and there is no NaN token.
    assert json.loads(text, parse_constant=pytest.fail) == msgspec.json.decode(text)
    return msgspec.json.decode(text)


def back(value: Any) -> Any:
    return decode(through_json(freeze(value)))


def same(one: Any, other: Any) -> bool:
    """Equal, of the same types, in the same order; NaN is itself and -0.0 is not 0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", other) or (math.isnan(one) and math.isnan(other))
    if isinstance(one, decimal.Decimal):
        return str(one) == str(other)
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            same(a, b) and same(one[a], other[b]) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, (list, tuple, collections.deque)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (datetime.datetime, datetime.time)):
        return one == other and one.fold == other.fold and same(one.tzinfo, other.tzinfo)
    if isinstance(one, slice):
        return same([one.start, one.stop, one.step], [other.start, other.stop, other.step])
    if isinstance(one, (samples.Cell, samples.Quote, samples.Slim, samples.Packed)):
        return all(same(getattr(one, name), getattr(other, name)) for name in type(one).__match_args__)
    return bool(one == other)


any_text = st.text(st.characters(exclude_categories=[]))
zones = st.none() | st.sampled_from(
    [
        datetime.UTC,
        zoneinfo.ZoneInfo("Europe/Paris"),
        datetime.timezone(datetime.timedelta(minutes=-90)),
        datetime.timezone(datetime.timedelta(hours=1), "CET"),
    ]
)
atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**300, -(16**90)]),
    st.floats(),
    any_text,
    st.binary(),
    st.binary().map(bytearray),
    st.complex_numbers(allow_nan=False),
    st.datetimes(timezones=zones, allow_imaginary=True),
    st.dates(),
    st.times(timezones=zones),
    st.timedeltas(),
    st.decimals(),
    st.fractions(),
    st.uuids(),
    st.ip_addresses(),
    st.sampled_from(list(samples.Colour)),
    st.sampled_from([samples.Access(n) for n in range(8)]),
    st.sampled_from([samples.Level.LOW, samples.Word.YES, samples.Loose(17), ..., NotImplemented]),
    any_text.filter(lambda text: "\0" not in text).map(pathlib.PurePosixPath),
    st.builds(range, st.integers(), st.integers(), st.integers(min_value=1)),
)
keys = st.one_of(any_text, st.sampled_from(["$t", "$$t", "$", "v", ""]), st.integers(), st.none(), st.binary())
hashables = st.one_of(st.integers(), any_text, st.binary(), st.tuples(st.integers(), any_text))


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner),
        st.lists(inner).map(tuple),
        st.dictionaries(keys, inner),
        st.sets(hashables),
        st.frozensets(hashables),
        st.lists(inner).map(samples.Row),
        st.dictionaries(any_text, inner).map(samples.Table),
        st.builds(samples.Point, st.integers(), inner),
        st.builds(samples.Cell, st.integers(), inner),
        st.builds(samples.Quote, inner),
        st.builds(samples.Slim, st.integers(), inner),
        st.builds(samples.Packed, st.integers(), inner),
        st.builds(slice, inner, inner),
    )


@given(st.recursive(atoms, containers, max_leaves=12))
def test_every_value_comes_back_the_same(value: Any) -> None:
    assert same(back(value), value)


@given(st.recursive(atoms, containers, max_leaves=6))
def test_what_came_back_gives_the_same_tree(value: Any) -> None:
    tree = through_json(freeze(value))
    assert canonical(through_json(freeze(decode(tree)))) == canonical(tree)


@pytest.mark.parametrize(
    "value",
    [
        samples.Text("a"),
        samples.Slotted("b"),
        samples.Number(2**70),
        samples.Real("nan"),
        samples.Ordered(b=1, a=2),
        collections.OrderedDict(b=1, a=2),
        collections.Counter("hello"),
        collections.defaultdict(list, a=[1]),
        collections.defaultdict(None, a=1),
        collections.deque([1, (2,)], 5),
        collections.deque(),
        samples.Box[int](3),
        samples.WrappedInt(inner=3),
        samples.Root([1, 2]),
        samples.Hashed("x"),
        samples.Checked(3),
        samples.Base(name="n", items=[1], extra={"deep": (1,)}),
        samples.Base.model_construct(items=[3]),
        pathlib.Path("/tmp/x"),
        pathlib.PureWindowsPath("c:\\x"),
        ipaddress.ip_network("10.0.0.0/8"),
        ipaddress.ip_interface("::1/64"),
        decimal.Decimal("sNaN12"),
        decimal.Decimal("-0E+400"),
        fractions.Fraction(10**40, 7),
        zoneinfo.ZoneInfo("America/New_York"),
        datetime.timezone.min,
        uuid.UUID(int=0),
        slice(None),
        {1.5: "a", (1, 2): "b", None: "c", b"k": "d", samples.Word.YES: "e", samples.Text("t"): "f"},
        {"$ref": "#/$defs/x", "$$": 1, "$t": "opaque"},
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_kind_comes_back_the_same(value: Any) -> None:
    found = back(value)
    assert type(found) is type(value)
    assert repr(found) == repr(value) or found == value


def test_attributes_of_instances_of_every_kind_come_back() -> None:
    text = samples.Text("a")
    text.source = ("web", 3)
    quote = samples.Quote(decimal.Decimal(4), kind="future")
    assert quote.half == 2
    model = samples.Base(name="n")
    model._private = {"token": (1, 2)}
    ordered = samples.Ordered(a=1, b=2)
    ordered.move_to_end("a")
    assert back(text).source == ("web", 3)
    assert vars(back(quote)) == vars(quote)
    assert back(model)._private == {"token": (1, 2)}
    assert back(model).model_fields_set == {"name"}
    assert list(back(ordered)) == ["b", "a"]
    assert samples.Point(1, [2])._replace(x=2) == back(samples.Point(2, [2]))


def test_a_field_that_was_never_set_is_not_set_when_it_comes_back() -> None:
    cell = object.__new__(samples.Cell)
    object.__setattr__(cell, "row", 3)
    found = back(cell)
    assert found.row == 3
    assert not hasattr(found, "value")


def test_a_cached_hash_is_computed_again_since_the_next_process_hashes_otherwise() -> None:
    hashed = samples.Hashed("x")
    assert hash(hashed)
    tree = freeze(hashed)
    assert str(hash(hashed)) not in msgspec.json.encode(tree).decode()
    assert hash(decode(tree)) == hash(hashed)


def test_a_recorded_quote_with_decimal_datetime_and_set_comes_back_by_type() -> None:
    """B55"""
    quote = samples.Quote(decimal.Decimal("1.10"), datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), {"x"})
    found = back({"quote": quote, "raw": b"\xff", "pair": (1, 2)})
    assert found == {"quote": quote, "raw": b"\xff", "pair": (1, 2)}
    assert str(found["quote"].price) == "1.10"


def test_what_json_cannot_hold_is_tagged_and_its_neighbours_are_untouched() -> None:
    """B71"""
    bad = {
        "values": [math.nan, math.inf, uuid.UUID(int=1), datetime.datetime(2026, 1, 1), {1}, b"\xff"],
        "number": 10**4999,
        "price": decimal.Decimal("1.10"),
        "table": {(1, 2): "x"},
    }
    batch = [freeze({"good": 1}), freeze(bad), freeze({"good": 2})]
    text = msgspec.json.encode(batch)
    assert b"NaN" not in text
    found = [decode(tree) for tree in msgspec.json.decode(text)]
    assert found[0] == {"good": 1}
    assert same(found[1], bad)
    assert found[2] == {"good": 2}


def test_a_lone_surrogate_is_recoverable_wherever_it_stands() -> None:
    """B70"""
    value = {
        "text": "ok \ud83e end",
        "key \udc80": 1,
        "nested": [["\ud800\udc00", "cut \ud83d"]],
        "file": pathlib.PurePosixPath(b"/tmp/\xff".decode("utf-8", "surrogateescape")),
        "good": "\U0001f600",
    }
    found = back(value)
    assert same(found, value)
    assert list(found) == list(value)
    assert freeze({"text": "ok \ud83e end"}) == {"text": {"$t": "str", "v": ["ok ", 0xD83E, " end"]}}


def test_bytes_that_are_text_can_be_read_in_the_recording() -> None:
    assert freeze(b"GET / \xc3\xa9") == {"$t": "bytes", "utf8": "GET / é"}
    assert freeze(b"\xff\0") == {"$t": "bytes", "base64": "/wA="}


def test_plain_json_stands_for_itself() -> None:
    value = {"b": [1, -0.0, 1.0, True, None, "é"], "a": {"": {}}}
    assert freeze(value) == value
    assert msgspec.json.encode(freeze(value)) == msgspec.json.encode(value)


@settings(max_examples=30)
@given(st.recursive(atoms, containers, max_leaves=6))
def test_each_decoding_makes_fresh_objects(value: Any) -> None:
    tree = through_json(freeze({"held": [value]}))
    one, other = decode(tree), decode(tree)
    one["held"].append("changed")
    assert same(other, {"held": [value]})
    assert same(decode(tree), {"held": [value]})


def test_a_tree_masked_in_its_texts_still_decodes() -> None:
    """A mask changes texts inside trees; those of free text have to stay decodable."""
    tree = freeze([b"key sk-1", "x\ud800 sk-1", samples.Text("sk-1"), samples.Quote("sk-1"), {"$t": "sk-1"}])
    masked = msgspec.json.decode(msgspec.json.encode(tree).replace(b"sk-1", b"[masked]"))
    assert decode(masked) == [
        b"key [masked]",
        "x\ud800 [masked]",
        samples.Text("[masked]"),
        samples.Quote("[masked]"),
        {"$t": "[masked]"},
    ]
