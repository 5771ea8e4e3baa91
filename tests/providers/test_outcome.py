"""Errors inside a 200, refusals, and answers that were cut: none of them passes for an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.providers import (
    ModelOutcome,
    equal_for_client,
    merge_stream,
    play_stream,
    read_model_version,
    read_outcome,
    read_usage,
)
from tests.providers.streams import JSON_VALUES, write_sse

PROVIDERS = ("openai.chat", "openai.responses", "anthropic.messages", "gemini.generate", "sse")
START = {"type": "message_start", "message": {"id": "m", "model": "c-1", "content": [], "usage": {"input_tokens": 3}}}
BLOCK = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "The three"}}
ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
SAID = {"content": "a"}


def outcome_of(provider: str, response: Any) -> ModelOutcome:
    return read_outcome(provider, 200, response, complete=True)


@pytest.mark.parametrize(
    ("events", "complete", "kind"),
    [
        ([START, BLOCK, DELTA, ERROR], True, "error"),
        ([START, BLOCK, DELTA, ERROR], False, "error"),
        ([START, BLOCK, DELTA], True, "truncated"),
        ([START, BLOCK, DELTA], False, "truncated"),
    ],
)
def test_a_stream_that_breaks_after_200_is_an_error_or_truncated_and_keeps_its_part(
    events: list[Any], complete: bool, kind: str
) -> None:
    """B26: the partial text is kept, the usage is what was said so far, the played stream breaks at the same point."""
    chunks = write_sse([(event["type"], event) for event in events], style={})
    merged = merge_stream("anthropic.messages", "text/event-stream", chunks, complete=complete)
    assert merged is not None
    outcome = read_outcome("anthropic.messages", 200, merged.final, complete=complete)
    assert outcome.kind == kind
    if kind == "error":
        assert outcome.detail == "overloaded_error: Overloaded"
    assert merged.final["content"][0]["text"] == "The three"
    usage = read_usage("anthropic.messages", merged.final)
    assert usage is not None
    assert usage.output_tokens is None
    assert equal_for_client("anthropic.messages", chunks, play_stream("anthropic.messages", merged.final, merged.shape))


@pytest.mark.parametrize(
    ("provider", "events"),
    [
        ("openai.chat", [{"choices": [{"index": 0, "delta": {"content": "a"}}]}, {"error": {"message": "no"}}]),
        ("openai.responses", [{"type": "response.created", "response": {"status": "in_progress"}}, {"type": "error"}]),
        ("openai.responses", [{"type": "response.failed", "response": {"status": "failed", "error": {"code": "x"}}}]),
        ("gemini.generate", [{"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, {"error": {"code": 503}}]),
    ],
)
def test_an_error_event_of_any_provider_is_an_error(provider: str, events: list[Any]) -> None:
    """B26."""
    chunks = write_sse([(event.get("type"), event) for event in events], style={})
    merged = merge_stream(provider, "text/event-stream", chunks, complete=True)
    assert merged is not None
    assert outcome_of(provider, merged.final).kind == "error"


@pytest.mark.parametrize(
    ("provider", "response", "detail"),
    [
        (
            "openai.chat",
            {"choices": [{"message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"}]},
            "I can't.",
        ),
        (
            "openai.chat",
            {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]},
            "content_filter",
        ),
        (
            "anthropic.messages",
            {"content": [{"type": "text", "text": "I can't."}], "stop_reason": "refusal"},
            "I can't.",
        ),
        ("anthropic.messages", {"content": [], "stop_reason": "refusal"}, "refusal"),
        (
            "openai.responses",
            {"status": "completed", "output": [{"content": [{"type": "refusal", "refusal": "I can't."}]}]},
            "I can't.",
        ),
        ("gemini.generate", {"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ("gemini.generate", {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "PROHIBITED_CONTENT"),
    ],
)
def test_a_refusal_is_a_refusal_with_its_words(provider: str, response: Any, detail: str) -> None:
    """B30: ten equal refusals give ten equal outcomes."""
    assert {outcome_of(provider, response) for _ in range(10)} == {ModelOutcome("refusal", detail)}


def test_a_refusal_that_was_streamed_is_one_text() -> None:
    """B30: the tokens it cost are counted, too."""
    frame = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
    values: list[Any] = [frame | {"choices": [{"index": 0, "delta": {"refusal": piece}}]} for piece in ("I can", "'t.")]
    values.append(frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    values.append(frame | {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}})
    chunks = write_sse([(None, value) for value in values], style={})
    merged = merge_stream("openai.chat", "text/event-stream", chunks, complete=True)
    assert merged is not None
    assert outcome_of("openai.chat", merged.final) == ModelOutcome("refusal", "I can't.")
    usage = read_usage("openai.chat", merged.final)
    assert usage is not None
    assert usage.total_tokens == 7
    assert play_stream("openai.chat", merged.final, merged.shape) == chunks


@pytest.mark.parametrize(
    ("provider", "response", "kind"),
    [
        ("openai.chat", {"choices": [{"message": SAID, "finish_reason": "length"}]}, "length"),
        ("openai.chat", {"choices": [{"message": SAID, "finish_reason": "content_filter"}]}, "content_filter"),
        ("openai.chat", {"choices": [{"message": SAID, "finish_reason": None}]}, "truncated"),
        ("openai.chat", {"choices": [{"message": SAID, "finish_reason": "stop"}]}, "ok"),
        ("openai.responses", {"status": "completed", "output": []}, "ok"),
        ("openai.responses", {"status": "queued", "background": True}, "ok"),
        ("openai.responses", {"status": "in_progress"}, "truncated"),
        ("openai.responses", {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        ("anthropic.messages", {"content": [], "stop_reason": "max_tokens"}, "length"),
        ("anthropic.messages", {"content": [], "stop_reason": "tool_use"}, "ok"),
        ("gemini.generate", {"candidates": [{"finishReason": "MAX_TOKENS"}]}, "length"),
        ("gemini.generate", {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, "error"),
        ("gemini.generate", [{"candidates": [{}]}, {"candidates": [{"finishReason": "STOP"}]}], "ok"),
        ("sse", {"events": []}, "ok"),
    ],
)
def test_the_reason_an_answer_ended_is_read(provider: str, response: Any, kind: str) -> None:
    assert outcome_of(provider, response).kind == kind
    assert read_outcome(provider, 429, response, complete=True).kind == "error"


def test_the_version_is_the_one_the_answer_names() -> None:
    assert read_model_version("openai.chat", {"model": "gpt-4o-2024-08-06"}) == "gpt-4o-2024-08-06"
    assert read_model_version("gemini.generate", {"modelVersion": "gemini-2.5-pro"}) == "gemini-2.5-pro"
    assert read_model_version("gemini.generate", [{}, {"modelVersion": "g"}]) == "g"
    assert read_model_version("anthropic.messages", {}) is None


@given(provider=st.sampled_from(PROVIDERS), response=JSON_VALUES, inner=JSON_VALUES)
def test_nothing_makes_it_raise(provider: str, response: Any, inner: Any) -> None:
    for value in (response, {"choices": [inner], "output": [inner], "content": [inner], "candidates": [inner]}):
        read_outcome(provider, 200, value, complete=True)
        read_model_version(provider, value)
