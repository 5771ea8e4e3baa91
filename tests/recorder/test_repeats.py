"""What a request repeats of the one before it is left unread, and the recording is the same as if it had been read."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.masking import Masker
from playhead.recorder._parts import NotPlainJsonError, PartKeeper
from playhead.recorder._repeats import Abridged, Repeats, find_values
from tests.examples import up_to

MASKER = Masker(key=b"k")
NO_CUT = {"separators": (",", ":")}

items = st.one_of(
    st.sampled_from([{"role": "user", "content": "a" * 400}, "b" * 700, ["c"] * 200, {"x": [{}, []]}]),
    st.integers(0, 10**3),
    st.floats(0, 1),
    st.text(alphabet='ab"\\],[}{ \né', max_size=8),
    st.none(),
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(items, min_size=1, max_size=3)),
        st.tuples(st.just("drop"), st.integers(1, 3)),
        st.tuples(st.just("edit"), st.tuples(st.integers(0, 12), items)),
        st.tuples(st.just("other"), items),
    ),
    max_size=6,
)
styles = st.sampled_from([{}, NO_CUT, {"ensure_ascii": False}, {"indent": 1}])


def _conversation(first: list[Any], steps: Any, orders: bool) -> list[dict[str, Any]]:
    messages, extra, requests = list(first), None, []
    for what, how in [("add", []), *steps]:
        if what == "add":
            messages = [*messages, *how]
        elif what == "drop":
            messages = messages[:-how]
        elif what == "edit":
            place, item = how
            messages = [item if at == place else old for at, old in enumerate(messages)]
        else:
            extra = how
        tools = [{"name": "t", "text": "d" * 300}] * 2
        body = {"model": "m", "messages": messages, "tools": tools, "extra": extra}
        requests.append(dict(reversed(body.items())) if orders else body)
    return requests


def _keeper() -> tuple[PartKeeper, list[bytes]]:
    kept: list[bytes] = []

    def keep(content: bytes) -> str:
        kept.append(content)
        return f"{len(kept):032x}"

    return PartKeeper(MASKER, keep), kept


@settings(max_examples=up_to(400), deadline=None)
@given(first=st.lists(items, max_size=12), steps=changes, style=styles, orders=st.booleans())
def test_requests_are_written_as_if_they_had_been_read_whole(
    first: list[Any], steps: Any, style: dict[str, Any], orders: bool
) -> None:
    (quick, quick_parts), (plain, plain_parts) = _keeper(), _keeper()
    for seq, body in enumerate(_conversation(first, steps, orders)):
        raw = json.dumps(body, **style).encode()
        abridged = quick.abridge("main", raw)
        assert json.loads(abridged.text).keys() == body.keys()
        assert quick.request("main", abridged) == plain.request("main", Abridged(raw, raw))
        quick.requested(seq)
        plain.requested(seq)
    assert quick_parts == plain_parts


def test_a_conversation_that_goes_on_is_read_from_where_it_is_new() -> None:
    keeper, _ = _keeper()
    messages = [{"role": "user", "content": f"{at} " + "x" * 100} for at in range(300)]
    for seq in range(290, 300):
        abridged = keeper.abridge("main", json.dumps({"model": "m", "messages": messages[:seq]}).encode())
        assert (len(abridged.text) < 500) is (seq > 290)
        keeper.request("main", abridged)
        keeper.requested(seq)


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.integers(0, 99) | st.lists(st.integers(0, 9), max_size=2)), styles)
def test_places_are_where_the_values_are(body: dict[str, Any], style: dict[str, Any]) -> None:
    text = json.dumps(body, **style).encode()
    top = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    for key, at in (find_values(text, top) or {}).items():
        assert text.startswith(bytes(top[key]), at)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "ab", "abc", "x", "y"]), st.integers(0, 10**6)), min_size=2), styles)
def test_a_repeated_key_is_never_overlooked(pairs: list[tuple[str, int]], style: dict[str, Any]) -> None:
    comma, colon = style.get("separators", (", ", ": "))
    text = "{" + comma.join(f'"{key}"{colon}{value}' for key, value in pairs) + "}"
    top = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    if len(top) != len(pairs):
        assert find_values(text.encode(), top) is None
        with pytest.raises(NotPlainJsonError):
            _keeper()[0].request("main", Repeats().abridge("main", text.encode()))


def test_later_requests_do_not_refer_to_one_that_was_refused() -> None:
    keeper, _ = _keeper()
    messages = ["m" * 200, "n" * 200]
    with pytest.raises(NotPlainJsonError):
        raw = b'{"messages":%b}' % json.dumps([*messages, 0]).replace("0]", '{"a":1,"a":2}]').encode()
        keeper.request("main", keeper.abridge("main", raw))
    keeper.requested(1)
    written = keeper.request("main", keeper.abridge("main", json.dumps({"messages": messages}).encode()))
    assert b"$list" not in bytes(written)
