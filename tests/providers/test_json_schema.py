"""JSON Schemas of tools and answers: what follows them, what does not, and what a hostile one can do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.providers import answer_schema, find_faults, tool_schemas

TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)

CLOSED = {"properties": {"a": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "good", "bad", "told"),
    [
        ({"type": "integer"}, 3.0, "3", "/ is string, not integer"),
        ({"type": ["string", "null"]}, None, 3, "/ is integer, not string or null"),
        ({"type": "STRING", "nullable": True}, None, 3, "/ is integer, not string"),
        ({"enum": ["a", 1]}, 1, True, '/ is true, not one of "a", 1'),
        ({"const": {"a": [1]}}, {"a": [1.0]}, {"a": [2]}, '/ is {"a":[2]}, not {"a":[1]}'),
        ({"minimum": 1}, 1, 0, "/ is 0, less than 1"),
        ({"exclusiveMinimum": 1}, 2, 1, "/ is 1, not more than 1"),
        ({"minimum": 1, "exclusiveMinimum": True}, 2, 1, "/ is 1, not more than 1"),
        ({"maximum": 1}, 1, 2, "/ is 2, more than 1"),
        ({"exclusiveMaximum": 1}, 0, 1, "/ is 1, not less than 1"),
        ({"multipleOf": 0.1}, 0.3, 0.25, "/ is 0.25, no multiple of 0.1"),
        ({"minLength": 2}, "ab", "a", "/ has 1 characters, fewer than 2"),
        ({"maxLength": "2"}, "ab", "abc", "/ has 3 characters, more than 2"),
        ({"pattern": "^[A-Z]-[0-9]+$"}, "A-1", "1-A", '/ is "1-A", which ^[A-Z]-[0-9]+$ does not match'),
        ({"items": {"type": "integer"}}, [1], [1, "b"], "/1 is string, not integer"),
        ({"prefixItems": [True], "items": False}, [1], [1, 2], "/1 is not allowed"),
        ({"uniqueItems": True}, [1, True], [1, 1.0], "/ has equal items"),
        ({"contains": {"const": 1}}, [0, 1], [0], "/ has 0 of the items that it has to contain"),
        ({"required": ["a"]}, {"a": None}, {}, "/ lacks 'a'"),
        ({"properties": {"a/b": {"type": "null"}}}, {}, {"a/b": 1}, "/a~1b is integer, not null"),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"a": 1},
            {"b": 1},
            "/b is not one of its properties",
        ),
        ({"patternProperties": {"^x": {"type": "null"}}}, {"y": 1}, {"x": 1}, "/x is integer, not null"),
        ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}, "/ has 'a' and lacks 'b'"),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, "a", 1, "/ follows none of the alternatives"),
        ({"anyOf": [{"type": "null"}, {"required": ["a"]}]}, {"a": 1}, {}, "/ follows none of the alternatives"),
        ({"oneOf": [{"minimum": 1}, {"maximum": 3}]}, 0, 2, "/ follows 2 of the alternatives, not one"),
        ({"not": {"type": "null"}}, 1, None, "/ is what it must not be"),
        ({"if": {"const": 1}, "then": False, "else": {"type": "string"}}, "a", 2, "/ is integer, not string"),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "null"}}}, None, 1, "/ is integer, not null"),
    ],
)
def test_what_follows_a_schema_and_what_does_not(schema: Any, good: Any, bad: Any, told: str) -> None:
    assert find_faults(schema, good) == []
    assert str(find_faults(schema, bad)[0]) == told


@given(TREES, TREES)
def test_whatever_stands_in_the_place_of_a_schema_nothing_is_raised(schema: Any, value: Any) -> None:
    find_faults(schema, value)
    for word in ("type", "enum", "required", "properties", "items", "anyOf", "$ref", "pattern", "minimum", "not"):
        find_faults({word: schema}, value)


@given(TREES)
def test_an_empty_schema_allows_everything_and_false_nothing(value: Any) -> None:
    assert find_faults({}, value) == find_faults(True, value) == []
    assert len(find_faults(False, value)) == 1


def test_a_schema_that_refers_to_itself_in_a_ring_comes_to_an_end() -> None:
    ring = {"$ref": "#"}
    doubling = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}, {"$ref": "#"}], "allOf": [{"$ref": "#"}]}
    assert find_faults(ring, 1) == find_faults(doubling, 1) == []


def test_a_reference_that_leads_nowhere_and_a_pattern_of_another_dialect_are_no_faults() -> None:
    assert find_faults({"$ref": "https://example.org/schema"}, 1) == []
    assert find_faults({"$ref": "#/$defs/none"}, 1) == []
    assert find_faults({"pattern": "(?<=a)b"}, "c") in ([], find_faults({"pattern": "b$"}, "c"))


def test_a_pattern_built_to_take_for_ever_does_not() -> None:
    pytest.importorskip("re2")
    assert find_faults({"pattern": "^(a+)+$"}, "a" * 100_000 + "b")


SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
IN_JSON_SCHEMA = {"parametersJsonSchema": SCHEMA}


@pytest.mark.parametrize(
    ("provider", "request_"),
    [
        ("openai.chat", {"tools": [{"type": "function", "function": {"name": "search", "parameters": SCHEMA}}]}),
        ("openai.chat", {"functions": [{"name": "search", "parameters": SCHEMA}]}),
        ("openai.responses", {"tools": [{"type": "function", "name": "search", "parameters": SCHEMA}, {"type": "x"}]}),
        ("anthropic.messages", {"tools": [{"name": "search", "input_schema": SCHEMA}, {"name": "plain"}]}),
        (
            "gemini.generate",
            {"tools": [{"functionDeclarations": [{"name": "search", "parameters": SCHEMA}]}, {"x": 1}]},
        ),
        (
            "gemini.generate",
            {"tools": [{"functionDeclarations": [{"name": "search", "parametersJsonSchema": SCHEMA}]}]},
        ),
    ],
)
def test_the_schemas_of_tools_are_read_from_each_wire_format(provider: str, request_: Any) -> None:
    assert tool_schemas(provider, request_) == {"search": SCHEMA}


@pytest.mark.parametrize("odd", [None, [], {"tools": 3}, {"tools": [3, None, {"function": 3}]}])
@pytest.mark.parametrize("provider", ["openai.chat", "gemini.generate", "unknown"])
def test_a_request_without_readable_tools_has_no_schemas(provider: str, odd: Any) -> None:
    assert tool_schemas(provider, odd) == {}
    assert answer_schema(odd) is None


@pytest.mark.parametrize(
    "request_",
    [
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}},
        {"text": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {"generationConfig": {"responseJsonSchema": SCHEMA}},
        {"generationConfig": {"responseSchema": SCHEMA}},
    ],
)
def test_the_schema_of_an_answer_is_read_from_each_wire_format(request_: Any) -> None:
    assert answer_schema(request_) == SCHEMA
