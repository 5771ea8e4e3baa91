"""Two trees are equal where their canonical bytes are: one written rule, which a second program can follow."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.errors import ValueRefusedError
from playhead.events._canonical import canonical, read_json
from playhead.events._snapshot import freeze

VECTORS: list[tuple[Any, bytes]] = [
    ({"n": 1}, b'{"n":1}'),
    ({"n": 1.0}, b'{"n":1}'),
    ({"n": -0.0}, b'{"n":0}'),
    ({"n": 1e-7}, b'{"n":1e-7}'),
    ({"n": 0.00001}, b'{"n":0.00001}'),
    ({"n": -1.5e-6}, b'{"n":-0.0000015}'),
    ({"n": 9007199254740993}, b'{"n":9007199254740993}'),
    ({"n": 9007199254740992.0}, b'{"n":9007199254740992}'),
    ({"n": 2**64 - 1}, b'{"n":18446744073709551615}'),
    ({"n": 2**64}, b'{"n":{"$t":"int","v":"0x10000000000000000"}}'),
    ({"n": 1e20}, b'{"n":{"$t":"int","v":"0x56bc75e2d63100000"}}'),
    (math.nan, b'{"$t":"float","v":"nan"}'),
    (-math.inf, b'{"$t":"float","v":"-inf"}'),
    ("a\ud800", b'{"$t":"str","v":["a",55296]}'),
    ('\x00\x1f\b\t\n\f\r"\\/\x7f\u2028é', '"\\u0000\\u001f\\b\\t\\n\\f\\r\\"\\\\/\x7f\u2028é"'.encode()),
    ({"b": 1, "a": [2, 3]}, b'{"a":[2,3],"b":1}'),
    ({"\U0001f600": 1, "\uffff": 2, "a": 3}, '{"a":3,"\uffff":2,"\U0001f600":1}'.encode()),
    ([True, 1, "1", None, []], b'[true,1,"1",null,[]]'),
]


@pytest.mark.parametrize(("tree", "expected"), VECTORS, ids=lambda vector: ascii(vector)[:30])
def test_the_rule_gives_these_bytes(tree: Any, expected: bytes) -> None:
    """B94"""
    assert canonical(tree) == expected
    assert canonical(freeze(tree)) == expected


def test_object_order_has_no_meaning_list_order_has_and_whole_floats_are_whole() -> None:
    """B10"""
    recorded = {"b": 1, "a": [2, 3]}
    assert canonical({"a": [2, 3], "b": 1}) == canonical(recorded)
    assert canonical({"a": [3, 2], "b": 1}) != canonical(recorded)
    assert canonical({"a": [2.0, 3], "b": 1.0}) == canonical(recorded)
    assert canonical({"b": True, "a": [2, 3]}) != canonical(recorded)
    assert canonical({"b": "1", "a": [2, 3]}) != canonical(recorded)


def test_the_order_of_sets_and_of_dicts_with_other_keys_has_no_meaning() -> None:
    assert canonical({"$t": "set", "v": [1, "b", 2.0]}) == canonical({"$t": "set", "v": [2, 1, "b"]})
    assert canonical(freeze({(1, 2): "a", 3: "b"})) == canonical(freeze({3: "b", (1, 2): "a"}))
    assert canonical(freeze((1, 2))) != canonical(freeze((2, 1)))


json_trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_trees)
def test_canonical_bytes_are_json_and_their_own_canonical_form(tree: Any) -> None:
    assert canonical(json.loads(canonical(tree))) == canonical(tree)


@given(st.integers(-(10**25), 10**25), st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_equal_exactly_where_they_are_equal_in_mathematics(whole: int, real: float) -> None:
    for other in (real, float(whole), whole + 1):
        assert (canonical(whole) == canonical(other)) == (whole == other)


SECOND_READER = """
const canonical = (x) => {
  if (typeof x === 'number') {
    if (!Number.isInteger(x)) return JSON.stringify(x);
    const n = BigInt(x);
    if (n >= -(2n ** 63n) && n < 2n ** 64n) return n.toString();
    return '{"$t":"int","v":"' + (n < 0n ? '-' : '') + '0x' + (n < 0n ? -n : n).toString(16) + '"}';
  }
  if (x === null || typeof x !== 'object') return JSON.stringify(x);
  if (Array.isArray(x)) return '[' + x.map(canonical).join(',') + ']';
  const points = (s) => Array.from(s, (c) => c.codePointAt(0));
  const order = (a, b) => {
    const [p, q] = [points(a), points(b)];
    for (let i = 0; i < Math.min(p.length, q.length); i++) if (p[i] !== q[i]) return p[i] - q[i];
    return p.length - q.length;
  };
  return '{' + Object.keys(x).sort(order).map((k) => JSON.stringify(k) + ':' + canonical(x[k])).join(',') + '}';
};
const trees = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(trees.map(canonical)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_second_program_in_another_language_agrees() -> None:
    """B94"""
    trees: list[Any] = []

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        )
    )
    def collect(tree: Any) -> None:
        trees.append(tree)

    collect()
    trees += [x * 10.0**e for x in (1.5, -2.25, 1 / 3, 7.0) for e in range(-30, 30)]
    done = subprocess.run(
        ["node", "-e", SECOND_READER], input=json.dumps(trees), capture_output=True, text=True, check=True
    )
    for tree, theirs in zip(trees, json.loads(done.stdout), strict=True):
        assert canonical(tree).decode() == theirs


def test_what_is_no_tree_is_refused() -> None:
    for tree in ((1,), {1: 2}, b"x", {"a\ud800": 1}, object()):
        with pytest.raises(ValueRefusedError):
            canonical([tree])


def test_json_text_is_read_exactly() -> None:
    text = '{"n":123456789012345678901234567890,"s":"\\ud83e","z":-0.0,"e":1E2,"o":{"k":1}}'
    value = read_json(text.encode())
    assert value == {"n": 123456789012345678901234567890, "s": "\ud83e", "z": -0.0, "e": 100.0, "o": {"k": 1}}
    assert math.copysign(1, value["z"]) == -1
    assert canonical(freeze(value))
