"""Decoded values: strings are masked where they stand, all else is untouched, what is clean is the same object."""

from __future__ import annotations

import enum
from collections import OrderedDict
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.errors import ValueRefusedError
from playhead.masking import is_placeholder
from playhead.masking._engine import EngineName
from playhead.masking._names import is_secret_name
from tests.masking.planted import ENGINES, SECRETS, masker

SECRET = "FAKE-heron-77"
plain_text = st.text(st.characters(exclude_characters="0123456789@+(%\\=:."), max_size=12).filter(
    lambda s: not is_secret_name(s)
)
atoms = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | plain_text
trees = st.recursive(
    atoms, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_text, inner, max_size=4), max_leaves=20
)


@given(trees)
def test_a_clean_tree_comes_back_as_the_same_object(tree: Any) -> None:
    assert masker().value(tree) is tree


@pytest.mark.parametrize("engine", ENGINES)
@given(tree=trees, secret=SECRETS["anthropic"], data=st.data())
def test_one_planted_secret_changes_its_own_string_and_nothing_else(
    engine: EngineName, tree: Any, secret: str, data: st.DataObject
) -> None:
    mark = object()
    spots: list[Any] = [mark]
    planted = _plant(tree, spots, data.draw(st.integers(0, 30)), f"<{secret}>")
    before = repr(planted)
    masked = masker(engine).value(planted)
    assert repr(planted) == before
    assert repr(masked) == before.replace(secret, masker().text(secret))
    assert masker(engine).value(masked) is masked
    _assert_shared(planted, masked, secret)


def _plant(tree: Any, spots: list[Any], place: int, leaf: str) -> Any:
    """``tree`` with ``leaf`` put at its ``place``-th spot, or beside it if it has fewer."""
    count = 0

    def copy(node: Any) -> Any:
        nonlocal count
        count += 1
        if count == place + 1:
            return leaf
        if isinstance(node, list):
            return [copy(one) for one in node]
        return {key: copy(value) for key, value in node.items()} if isinstance(node, dict) else node

    planted = copy(tree)
    return planted if count > place else [planted, leaf]


def _assert_shared(old: Any, new: Any, secret: str) -> None:
    """Subtrees without the secret are the old objects."""
    if secret not in repr(old):
        assert new is old
    elif isinstance(old, (list, dict)):
        assert type(old) is type(new)
        pairs = zip(old, new, strict=True) if isinstance(old, list) else zip(old.values(), new.values(), strict=True)
        for one, other in pairs:
            _assert_shared(one, other, secret)


class Colour(enum.StrEnum):
    RED = "FAKE-heron-77 red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    note: str


def test_types_of_everything_else_stay() -> None:
    mask = masker(secrets=(SECRET,))
    tree = {
        "t": (1, SECRET),
        "p": Point(1, SECRET),
        "b": SECRET.encode(),
        "a": bytearray(SECRET.encode()),
        "o": object,
        5: 1.5,
    }
    masked = mask.value(tree)
    assert masked["t"] == (1, mask.text(SECRET))
    assert masked["p"] == Point(1, mask.text(SECRET))
    assert type(masked["p"]) is Point
    assert masked["b"] == mask.text(SECRET).encode()
    assert masked["a"] == bytearray(masked["b"])
    assert type(masked["a"]) is bytearray
    assert masked["o"] is object
    assert masked[5] == 1.5
    assert mask.value({"c": Colour.BLUE})["c"] is Colour.BLUE
    assert SECRET not in mask.value({"c": Colour.RED})["c"]
    assert mask.value(OrderedDict(a=SECRET)) == {"a": mask.text(SECRET)}
    assert mask.value(SECRET) == mask.text(SECRET)
    assert mask.value(SECRET.encode()) == mask.text(SECRET).encode()
    assert mask.value(7) == 7


def test_numbers_under_secret_names_are_never_changed() -> None:
    tree = {"max_tokens": 100, "usage": {"prompt_tokens": 5}, "token": 7, "password": None, "secret": True, "pin": 4.5,
            "next_page_token": "abc", "tokens": ["a", "b"], "page_token": "2", "eos_token": "</s>",
            "access-control-allow-credentials": "true"}  # fmt: skip
    assert masker().value(tree) is tree


def test_a_secret_name_covers_all_strings_below_it() -> None:
    tree = {
        "Authorization": ["Bearer abc", 5, {"deep": "Basic eA=="}],
        "credentials": {"type": "service_account", "project": "p-1", "private_key": "k", "n": [1, ["x", None]]},
        "headers": [["Host", "h"], ["X-Api-Key", "abc"], ("cookie", "a=b; c=d")],
        "params": [{"name": "password", "value": "abc"}, {"name": "user", "value": "ana"}],
    }
    masked = masker().value(tree)
    assert masked["Authorization"][0].startswith("Bearer [masked:secret:")
    assert masked["Authorization"][1] == 5
    assert masked["Authorization"][2]["deep"].startswith("Basic [masked:secret:")
    assert all(is_placeholder(masked["credentials"][key]) for key in ("type", "project", "private_key"))
    assert masked["credentials"]["n"][0] == 1
    assert is_placeholder(masked["credentials"]["n"][1][0])
    assert masked["headers"][0] is tree["headers"][0]
    assert is_placeholder(masked["headers"][1][1])
    assert masked["headers"][2][1].count("[masked:secret:") == 2
    assert is_placeholder(masked["params"][0]["value"])
    assert masked["params"][1] is tree["params"][1]
    assert masker().value(masked) is masked


def test_a_schema_of_a_secret_parameter_stays_readable() -> None:
    password = {"type": "string", "description": "the password", "minLength": 8}
    token = {"anyOf": [{"type": "string"}]}
    schema = {"type": "object", "required": ["password"], "properties": {"password": password, "token": token}}
    assert masker().value(schema) is schema
    with_default = {"password": {"type": "string", "default": "hunter2", "description": "words"}}
    masked = masker().value(with_default)
    assert is_placeholder(masked["password"]["default"])
    assert masked["password"]["description"] == "words"


def test_keys_that_become_equal_stay_apart() -> None:
    mask = masker(secrets=("a+b/cdef",))
    masked = mask.value({"a+b/cdef": 1, "a%2Bb%2Fcdef": 2, "other": 3})
    assert sorted(masked.values()) == [1, 2, 3]
    assert not any("cdef" in key for key in masked)


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,)])
@pytest.mark.parametrize("leaf", ["clean", f"x {SECRET}"])
def test_thousands_of_levels_do_not_overflow(wrap: Any, leaf: str) -> None:
    tree: Any = leaf
    for _ in range(50_000):
        tree = wrap(tree)
    masked = masker(secrets=(SECRET,)).value(tree)
    assert (masked is tree) == (leaf == "clean")
    while not isinstance(masked, str):
        masked = next(iter(masked.values() if isinstance(masked, dict) else masked))
    assert SECRET not in masked


def test_deep_json_in_a_string_does_not_overflow() -> None:
    text = "[" * 100_000 + f'"{SECRET}"' + "]" * 100_000
    assert SECRET not in masker(secrets=(SECRET,)).text(text)
    text = '{"password":' * 20_000 + '"hunter2"' + "}" * 20_000
    assert "hunter2" not in masker().text(text)


def test_a_value_that_contains_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playhead.masking._trees._MOST_CONTAINERS", 1000)
    ring: list[Any] = []
    ring.append(ring)
    with pytest.raises(ValueRefusedError):
        masker().value(ring)


def test_headers_keep_their_order_case_and_number() -> None:
    headers = [
        ("Accept", "x"),
        ("set-cookie", "a=1; Path=/"),
        ("X-Request-Id", "req_abc"),
        ("SET-COOKIE", "b=2"),
        ("accept", "x"),
    ]
    masked = masker().headers(headers)
    assert [name for name, _ in masked] == [name for name, _ in headers]
    assert [masked[0], masked[2], masked[4]] == [headers[0], headers[2], headers[4]]
    assert masked[1][1].startswith("a=[masked:secret:")
    assert masked[1][1].endswith("; Path=/")
    assert masker().headers(masked) == masked


def test_a_url_loses_its_secrets_and_keeps_the_rest() -> None:
    url = "https://u:FAKEpw@h:8443/a/b%20c?api_key=%40k1&q=caf%C3%A9&key=abc&sig=a%2Fb&mail=who%40example.org&page=2#access_token=zzz"
    masked = masker().url(url)
    for secret in ("FAKEpw", "%40k1", "=abc", "a%2Fb", "who%40example", "zzz"):
        assert secret not in masked
    assert masked.startswith("https://u:masked.url-password.")
    assert "@h:8443/a/b%20c?api_key=" in masked
    assert "&q=caf%C3%A9&" in masked
    assert "&page=2#access_token=" in masked
    assert masker().url(masked) == masked
    plain = "https://api.openai.com/v1/chat/completions?limit=20&after=msg_abc"
    assert masker().url(plain) is plain


def test_bytes_that_are_no_text_lose_keys_and_registered_secrets() -> None:
    mask = masker(secrets=("pässwörd-1",))
    key = "sk-ant-api03-" + "aB3_" * 10
    data = b"\xff\xfe\x00" + key.encode() + b"\x00\xff" + "pässwörd-1".encode() + b"\x80 ana.bela@example.org \xff"
    masked = mask.data(data)
    assert b"aB3_" not in masked
    assert "pässwörd-1".encode() not in masked
    assert b"ana.bela" not in masked
    assert masked[:3] == data[:3]
    assert mask.data(masked) == masked
    clean = bytes(range(256)) * 50
    assert mask.data(clean) is clean
    assert mask.data(b"plain") == b"plain"
