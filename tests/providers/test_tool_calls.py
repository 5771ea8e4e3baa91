"""Arguments are kept as the model wrote them, with a verdict, and never stop anyone."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.providers import ToolCallSeen, judge_arguments, merge_stream, play_stream, read_tool_calls
from tests.providers.streams import JSON_VALUES, write_sse

LONG = json.dumps({"text": "x" * 200_000})
B28 = [
    ('{"a":1,}', "not_json"),
    ("null", "not_object"),
    ("[1]", "not_object"),
    ("", "empty"),
    ('{"a":1,"a":2}', "duplicate_keys"),
    (LONG, "ok"),
    ('{"deep": ' * 100_000, "not_json"),
    ('{"n": ' + "9" * 6000 + "}", "ok"),
]
PROVIDERS = ("openai.chat", "openai.responses", "anthropic.messages", "gemini.generate", "sse")


def chat_values(arguments: str) -> list[Any]:
    def call(part: dict[str, Any], **more: Any) -> Any:
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **more, "function": part}]}}]}

    half = len(arguments) // 2
    first = call({"name": "f", "arguments": ""}, id="call_1", type="function")
    return [first, call({"arguments": arguments[:half]}), call({"arguments": arguments[half:]})]


def message_values(arguments: str) -> list[Any]:
    block = {"type": "tool_use", "id": "call_1", "name": "f", "input": {}}
    half = len(arguments) // 2
    deltas = [{"type": "input_json_delta", "partial_json": part} for part in ("", arguments[:half], arguments[half:])]
    return [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
    ]


@pytest.mark.parametrize(("arguments", "verdict"), B28, ids=[text[:12] for text, _ in B28])
@pytest.mark.parametrize(("provider", "write"), [("openai.chat", chat_values), ("anthropic.messages", message_values)])
def test_streamed_arguments_are_kept_to_the_character_with_a_verdict(
    provider: str, write: Any, arguments: str, verdict: str
) -> None:
    """B28: broken JSON, JSON of another type, nothing, repeated keys, 200 kB: replay feeds back the same text."""
    chunks = write_sse([(value.get("type"), value) for value in write(arguments)], style={})
    merged = merge_stream(provider, "text/event-stream", chunks, complete=True)
    assert merged is not None
    assert play_stream(provider, merged.final, merged.shape) == chunks
    [seen] = read_tool_calls(provider, merged.final)
    assert (seen.id, seen.name) == ("call_1", "f")
    if provider == "openai.chat" or verdict != "empty":
        assert (seen.arguments, seen.verdict) == (arguments, verdict)


@pytest.mark.parametrize(("arguments", "verdict"), B28, ids=[text[:12] for text, _ in B28])
def test_arguments_of_a_plain_answer_are_judged_alike(arguments: str, verdict: str) -> None:
    """B28."""
    function = {"name": "f", "arguments": arguments}
    answers = {
        "openai.chat": {"choices": [{"message": {"tool_calls": [{"id": "call_1", "function": function}]}}]},
        "openai.responses": {"output": [{"type": "function_call", "call_id": "call_1", **function}]},
    }
    for provider, response in answers.items():
        assert read_tool_calls(provider, response) == [ToolCallSeen("call_1", "f", arguments, verdict)]


def test_calls_of_every_kind_are_seen() -> None:
    chat = {
        "choices": [
            {
                "message": {
                    "tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}],
                    "function_call": {"name": "old", "arguments": "{}"},
                }
            }
        ]
    }
    responses = {
        "output": [
            {"type": "mcp_call", "id": "m", "name": "ask", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "select 1"},
            {"type": "message"},
        ]
    }
    parts = [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"text": ""}]
    generated = {"candidates": [{"content": {"parts": parts}}]}
    assert [call.name for call in read_tool_calls("openai.chat", chat)] == ["sql", "old"]
    assert [call.id for call in read_tool_calls("openai.responses", responses)] == ["m", "c"]
    assert read_tool_calls("gemini.generate", generated) == [ToolCallSeen(None, "f", '{"a": 1}', "ok")]


@given(st.text() | JSON_VALUES.map(json.dumps))
def test_a_verdict_agrees_with_the_parser(text: str) -> None:
    verdict = judge_arguments(text)
    if verdict == "ok":
        assert type(json.loads(text)) is dict
    if verdict == "not_object":
        assert type(json.loads(text)) is not dict


@given(provider=st.sampled_from(PROVIDERS), response=JSON_VALUES, inner=JSON_VALUES)
def test_nothing_makes_it_raise(provider: str, response: Any, inner: Any) -> None:
    """B28: the recorder never raises into the agent."""
    message = {"tool_calls": inner, "function_call": inner}
    read_tool_calls(provider, response)
    read_tool_calls(provider, {"choices": [{"message": message}], "output": inner, "content": inner})
    read_tool_calls(provider, {"candidates": [{"content": {"parts": inner}}]})
