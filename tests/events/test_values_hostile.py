"""A recording is untrusted input: decoding ends in a value or a clear error, and runs nothing of what it names."""

from __future__ import annotations

import re
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playhead.errors import MissingTypeError, ValueRefusedError
from playhead.events._canonical import canonical, read_json
from playhead.events._opaque import Opaque
from playhead.events._snapshot import freeze
from playhead.events._values import _TAGS, decode, decode_error
from tests.events import samples
from tests.examples import up_to

HERE = "tests.events.samples"
CLASSES = [f"{HERE}:{name}" for name in vars(samples) if name[0].isupper()]
NAMES = st.sampled_from(
    [
        *CLASSES,
        "os:system",
        "subprocess:Popen",
        "builtins:object",
        "builtins:type",
        "builtins:eval",
        "builtins:dict",
        "builtins:BaseExceptionGroup",
        "builtins:UnicodeDecodeError",
        "antigravity:fly",
        "this:s",
        "playhead.errors:PlayheadError",
        "pydantic_core._pydantic_core:ValidationError",
        f"{HERE}:ran",
        f"{HERE}:Quote.__init__",
        f"{HERE}:__getattr__",
        ":",
        "a:",
        ":b",
        "..:..",
        "no colon",
    ]
)
FIELDS = ["v", "class", "name", "args", "fields", "attributes", "notes", "members", "cause", "context", "also", "unset"]
FIELDS += ["set", "extra", "private", "maxlen", "factory", "utf8", "base64", "tz", "fold", "why", "title", "errors"]
json_atoms = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), NAMES, st.sampled_from(["0x1", "nan"])
)


def trees(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    tagged = st.builds(
        lambda tag, fields, name: {"$t": tag, "class": name, **fields}, st.sampled_from(list(_TAGS)), fields, NAMES
    )
    return st.one_of(
        tagged,
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=4) | st.sampled_from(["$t", "$x", "$$t"]), inner, max_size=4),
    )


hostile = st.recursive(json_atoms, trees, max_leaves=15)


@settings(max_examples=up_to(200))
@given(hostile, st.sampled_from(["raise", "opaque"]))
def test_any_json_ends_in_a_value_or_a_clear_error_and_imports_and_runs_nothing(tree: Any, missing: Any) -> None:
    decode({"$t": "path", "class": "PurePosixPath", "v": "/"})
    modules = set(sys.modules)
    samples.ran.clear()
    said = []
    for act in (decode, decode_error):
        try:
            act(tree, missing=missing)
        except (ValueRefusedError, MissingTypeError) as error:
            said.append(error.next)
    assert all(said)
    unexpected = set(sys.modules) - modules - {"fractions", "numbers", "ipaddress", "zoneinfo"}
    assert not [name for name in unexpected if not name.startswith("zoneinfo.")]
    assert [name for name in samples.ran if name not in ("__hash__", "__eq__")] == []


@settings(max_examples=up_to(60), suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_plain_json_is_its_own_value_or_has_an_unknown_mark(tree: Any) -> None:
    try:
        assert repr(decode(tree)) == repr(tree)
    except ValueRefusedError:
        assert b'"$' in msgspec.json.encode(tree)


@pytest.mark.parametrize(
    "name", ["antigravity:fly", "xml.dom.minidom:Node", "tests.events.nowhere:Quote", "sqlite3.dbapi2:Error"]
)
def test_nothing_that_a_recording_names_is_imported(name: str) -> None:
    """B55"""
    for tag in ("dataclass", "pydantic", "attrs", "struct", "enum", "subclass", "namedtuple", "error"):
        module = name.partition(":")[0]
        here = sys.modules.pop(module, None)
        try:
            with pytest.raises(MissingTypeError) as raised:
                decode({"$t": tag, "class": name, "v": {}, "args": []})
            assert module not in sys.modules
            assert raised.value.facts["module"] == module
            assert module in str(raised.value)
        finally:
            if here is not None:
                sys.modules[module] = here


def test_attribute_hooks_of_modules_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """B90: a module with lazy attributes"""
    import types

    lazy = types.ModuleType("lazy_for_test")
    lazy.__getattr__ = lambda name: samples.ran.append(name)  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "lazy_for_test", lazy)
    samples.ran.clear()
    with pytest.raises(MissingTypeError):
        decode({"$t": "dataclass", "class": "lazy_for_test:Quote", "v": {}})
    assert samples.ran == []


def test_no_hook_of_a_class_runs_when_its_instance_is_made() -> None:
    tree = {"$t": "dataclass", "class": f"{HERE}:HookedData", "v": {"x": 1}}
    samples.ran.clear()
    found = decode(tree)
    assert samples.ran == []
    assert type(found) is samples.HookedData
    assert found.x == 1
    for value in (samples.Checked(1), samples.Base(name="n"), samples.Slim(1), samples.Quote(1)):
        tree = freeze(value)
        samples.ran.clear()
        assert decode(tree) == value
        assert samples.ran == []


def test_a_class_that_is_of_another_kind_now_is_named_with_what_differs() -> None:
    """B55"""
    for tag, name in (
        ("dataclass", "Colour"),
        ("enum", "Quote"),
        ("pydantic", "Slim"),
        ("attrs", "Quote"),
        ("struct", "Quote"),
        ("error", "Quote"),
        ("subclass", "Quote"),
        ("namedtuple", "Row"),
        ("dataclass", "Hooked"),
        ("dataclass", "ran"),
    ):
        with pytest.raises(MissingTypeError, match=r"another kind|no such class"):
            decode({"$t": tag, "class": f"{HERE}:{name}", "v": {}, "args": []})


def test_a_class_whose_fields_changed_since_is_refused_by_name_of_the_field() -> None:
    """B55"""
    for value in (samples.Cell(1), samples.Slim(1), samples.Packed(1), samples.Base(name="n")):
        tree = freeze(value)
        tree["v"]["gone"] = 1
        with pytest.raises(MissingTypeError, match="gone"):
            decode(tree)
        assert isinstance(decode(tree, missing="opaque"), Opaque)
        lost = freeze(value)
        lost["v"].pop(next(iter(lost["v"])))
        with pytest.raises(MissingTypeError):
            decode(lost)
    for member in ({"name": "GREEN", "v": "green"}, {"name": "RED", "v": "crimson"}):
        with pytest.raises(MissingTypeError):
            decode({"$t": "enum", "class": f"{HERE}:Colour", **member})


def test_a_missing_class_becomes_a_marked_value_by_explicit_option_only() -> None:
    """B55"""
    tree = freeze({"quote": samples.Quote(1), "n": 1})
    tree["quote"]["class"] = f"{HERE}:Renamed"
    with pytest.raises(MissingTypeError):
        decode(tree)
    found = decode(tree, missing="opaque")
    assert found["n"] == 1
    assert isinstance(found["quote"], Opaque)
    assert (found["quote"].class_name, found["quote"].why) == (f"{HERE}:Renamed", "missing type")
    assert freeze(found) == tree


def test_a_class_that_acts_when_it_is_dropped_is_not_made() -> None:
    samples.ran.clear()
    with pytest.raises(MissingTypeError, match="dropped"):
        decode({"$t": "dataclass", "class": f"{HERE}:Dropped", "v": {"path": "/etc"}})
    assert samples.ran == []


def nested(depth: int, wrap: Any) -> Any:
    tree: Any = None
    for _ in range(depth):
        tree = wrap(tree)
    return tree


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: [inner],
        lambda inner: {"a": inner},
        lambda inner: {"$t": "tuple", "v": [inner]},
        lambda inner: {"$t": "dict", "v": [[1, inner]]},
        lambda inner: {"$t": "slice", "v": [inner, None, None]},
        lambda inner: {"$t": "datetime", "v": "2026-01-01", "tz": inner},
        lambda inner: {"$t": "dataclass", "class": f"{HERE}:Box", "v": {"item": inner}},
        lambda inner: {"$t": "error", "class": "builtins:ValueError", "args": [], "cause": inner},
    ],
)
def test_nesting_of_a_hundred_thousand_levels_is_refused(wrap: Any) -> None:
    tree = nested(100_000, wrap)
    for act in (decode, lambda tree: decode(tree, missing="opaque"), canonical):
        with pytest.raises(ValueRefusedError):
            act(tree)
    while tree:
        # Taken apart by hand: dropping it whole would be deep as well.
        tree = next(
            (part for part in (tree.values() if type(tree) is dict else tree) if type(part) in (dict, list)), None
        )


@pytest.mark.parametrize(
    "tree",
    [
        {"$t": "int", "v": "9" * 1_000_000},
        {"$t": "int", "v": "0x"},
        {"$t": "int", "v": "0x1_0"},
        {"$t": "float", "v": "1" * 1_000_000},
        {"$t": "decimal", "v": "abc"},
        {"$t": "decimal", "v": "1_0"},
        {"$t": "fraction", "v": ["0x" + "1" * 1_000_000, "0x" + "3" * 999_999]},
        {"$t": "fraction", "v": ["0x1", "0x0"]},
        {"$t": "timedelta", "v": [10**12, 0, 0]},
        {"$t": "timezone", "v": [99, 0, 0]},
        {"$t": "zone", "v": "../../etc/passwd"},
        {"$t": "zone", "v": "/etc/passwd"},
        {"$t": "zone", "v": "No/Such"},
        {"$t": "datetime", "v": "now"},
        {"$t": "bytes", "base64": "!"},
        {"$t": "bytes", "v": 1},
        {"$t": "str", "v": [0x41]},
        {"$t": "str", "v": "abc"},
        {"$t": "path", "class": "Path.cwd", "v": "/"},
        {"$t": "ip", "class": "IPv4Address", "v": "1.1.1.1.1"},
        {"$t": "ip", "class": "ip_address", "v": "1.1.1.1"},
        {"$t": "uuid", "v": "x" * 36},
        {"$t": "range", "v": [0, 1, 0]},
        {"$t": "slice", "v": [1]},
        {"$t": "set", "v": [[]]},
        {"$t": "set", "v": [1, 1]},
        {"$t": "set", "v": {}},
        {"$t": "tuple"},
        {"$t": "dict", "v": [[1, 2, 3]]},
        {"$t": "dict", "v": [["a", 2], ["a", 3]]},
        {"$t": "dict", "v": [[{"$t": "tuple", "v": [[]]}, 3]]},
        {"$t": "subclass", "class": "collections:deque", "v": [1], "maxlen": 0},
        {"$t": "subclass", "class": "collections:defaultdict", "v": {}, "factory": "eval"},
        {"$t": "error", "class": "builtins:ExceptionGroup", "args": ["m"], "members": []},
        {"$t": "error", "class": "builtins:ExceptionGroup", "args": ["m"], "members": [1]},
        {"$t": "error", "class": "builtins:ValueError", "args": [], "cause": 3},
        {"$t": "error", "class": "builtins:ValueError", "args": {}},
        {"$t": "opaque", "class": "a:b", "why": "because"},
        {"$t": "pattern", "v": "(a+)+$"},
        {"$t": "no such tag"},
        {"$t": ["list"]},
        {"$t": None},
        {"$x": 1},
        {1: 2},
        (1, 2),
        {1},
        {"$t": "dataclass", "class": 5},
        {"$t": "dataclass", "class": "x" * 5000 + ":y"},
    ],
    ids=lambda tree: str(tree)[:40],
)
def test_each_malformed_tree_is_refused(tree: Any) -> None:
    with pytest.raises(ValueRefusedError) as raised:
        decode([tree])
    assert len(str(raised.value)) < 1000


def test_numbers_made_to_collide_are_refused_before_they_fill_a_table() -> None:
    crafted = [{"$t": "int", "v": hex(n * (2**61 - 1))} for n in range(100_000)]
    for tree in ({"$t": "set", "v": crafted}, {"$t": "dict", "v": [[key, None] for key in crafted]}):
        with pytest.raises(ValueRefusedError):
            decode(tree)


def test_a_message_shows_names_without_control_characters_and_no_values() -> None:
    with pytest.raises(ValueRefusedError) as raised:
        decode({"$t": "\x1b[2Jsecret", "v": "sk-secret"})
    assert "\x1b" not in str(raised.value)
    assert "sk-secret" not in str(raised.value)
    with pytest.raises(MissingTypeError) as missed:
        decode({"$t": "dataclass", "class": "a\x1b]0;x\x07:B\n", "v": {"password": "sk-secret"}})
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", str(missed.value))
    assert "sk-secret" not in str(missed.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"k":1,"k":2}',
        '{"a":[{"k":1,"k":1}]}',
        "NaN",
        "[Infinity]",
        "1e999",
        "{",
        "",
        b"\xff",
        "9" * 5000,
        "[" * 100_000,
    ],
    ids=lambda text: str(text)[:20],
)
def test_json_text_that_readers_disagree_on_is_refused(text: Any) -> None:
    """B94"""
    with pytest.raises(ValueRefusedError):
        read_json(text)
