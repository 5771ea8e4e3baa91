"""The quick look at JSON text never passes what the mask would change, and passes what an agent writes all day."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from playhead.masking import Masker, Rule
from playhead.masking._engine import EngineName
from playhead.masking._masker import _GLANCE
from playhead.masking._names import NAME_STEMS, is_secret_name, may_name_secret
from tests.examples import up_to
from tests.masking.planted import ENGINES, masker
from tests.masking.test_laws import REGISTERED, texts, wrapped

words = st.sampled_from(["", "my", "api", "access", "next", "Private", "client", "x", *NAME_STEMS, "key", "Token"])
names = st.lists(st.tuples(words, st.sampled_from(["", "_", "-", ".", " ", "__"])), min_size=1, max_size=4).map(
    lambda pairs: "".join(word + gap for word, gap in pairs)
)
unescaped = (texts | wrapped).map(
    lambda text: "".join(each for each in text if " " <= each <= "~" and each not in '"\\')
)
leaves = st.none() | st.booleans() | st.integers(0, 2**63) | st.floats(0, 1e9) | unescaped | names
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(st.tuples(names, unescaped).map(list), max_size=2)
        | st.dictionaries(unescaped | names, inner, max_size=3)
        | st.fixed_dictionaries({"name": names, "value": inner})
        | st.fixed_dictionaries({"key": names, "value": inner})
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=up_to(500), deadline=None)
@given(tree=trees)
def test_what_is_passed_is_what_the_mask_leaves_alone(engine: EngineName, tree: Any) -> None:
    mask = masker(engine, REGISTERED)
    for text in (msgspec.json.encode(tree), json.dumps(tree).encode(), json.dumps(tree, indent=1).encode()):
        clean = mask.is_clean_json(text)
        event(f"clean: {clean}")
        if clean:
            assert mask.value([tree])[0] is tree


@settings(deadline=None)
@given(names)
def test_no_secret_name_is_overlooked(name: str) -> None:
    if is_secret_name(name):
        assert may_name_secret(json.dumps({name: 1}).lower().encode())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "body",
    [
        {"name": "look_up", "arguments": {"order": "A-1042", "limit": 10, "near": [52.5, 13.4]}},
        {"value": {"order": "A-1042", "status": "shipped", "days": 3, "next_page": None}},
        {"fn": "time.time", "site": "agent.py:12", "value": 1790000000.25},
    ],
)
def test_everyday_events_are_passed(engine: EngineName, body: Any) -> None:
    assert masker(engine).is_clean_json(msgspec.json.encode(body))


@pytest.mark.parametrize("text", [b'{"a":"\\u0041"}', '{"a":"ä"}'.encode(), b'"%b"' % (b"a" * _GLANCE)])
def test_what_one_look_cannot_tell_is_not_passed(text: bytes) -> None:
    assert not masker().is_clean_json(text)


def test_nothing_is_passed_where_a_rule_is_a_function() -> None:
    mask = Masker(key=b"k", rules=[Rule("all", find=lambda text: [(0, len(text))])])
    assert not mask.is_clean_json(b'{"a":"b"}')
