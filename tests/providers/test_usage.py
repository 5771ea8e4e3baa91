"""Tokens are counted once and mean the same for every provider; what is not said is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from playhead.providers import INPUT_INCLUDES_CACHED, Usage, merge_stream, read_usage
from tests.providers.streams import JSON_VALUES, write_sse

CHAT = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
TABLE: list[tuple[str, dict[str, Any], bool]] = [
    ("openai.chat", {"usage": CHAT | {"prompt_tokens_details": {"cached_tokens": 900}}}, True),
    (
        "openai.responses",
        {"usage": {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 900}, "output_tokens": 10}},
        True,
    ),
    (
        "anthropic.messages",
        {
            "usage": {
                "input_tokens": 100,
                "cache_read_input_tokens": 900,
                "cache_creation_input_tokens": 0,
                "output_tokens": 10,
            }
        },
        False,
    ),
    (
        "gemini.generate",
        {"usageMetadata": {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 10}},
        True,
    ),
]


@pytest.mark.parametrize(("provider", "response", "included"), TABLE, ids=[row[0] for row in TABLE])
def test_the_cached_part_is_counted_once(provider: str, response: Any, included: bool) -> None:
    """B63: 100 fresh, 900 cached, 10 out, whether or not the input count on the wire includes the cached part."""
    assert INPUT_INCLUDES_CACHED[provider] is included
    usage = read_usage(provider, response)
    assert usage is not None
    assert (usage.fresh_input_tokens, usage.cached_input_tokens, usage.output_tokens) == (100, 900, 10)
    assert usage.input_tokens == 1000


def test_cache_writes_are_split_by_time_to_live_where_the_provider_splits_them() -> None:
    """B65: 400 for five minutes and 600 for an hour; without the split the parts are unknown, not zero."""
    split = {"ephemeral_5m_input_tokens": 400, "ephemeral_1h_input_tokens": 600}
    base = {"input_tokens": 7, "cache_creation_input_tokens": 1000, "output_tokens": 1}
    told = read_usage("anthropic.messages", {"usage": base | {"cache_creation": split}})
    untold = read_usage("anthropic.messages", {"usage": base})
    assert told is not None
    assert untold is not None
    assert (told.cache_write_tokens, told.cache_write_5m_tokens, told.cache_write_1h_tokens) == (1000, 400, 600)
    assert (untold.cache_write_tokens, untold.cache_write_5m_tokens, untold.cache_write_1h_tokens) == (1000, None, None)
    assert told.input_tokens == untold.input_tokens == 1007
    assert told.fresh_input_tokens == 7


def test_cumulative_counts_of_a_stream_are_counted_once() -> None:
    """B63: a ``message_delta`` says totals, and every Gemini chunk says the total so far."""
    start = {"id": "m", "content": [], "usage": {"input_tokens": 50, "output_tokens": 1, "cache_read_input_tokens": 8}}
    messages = [
        {"type": "message_start", "message": start},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 20}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 30}},
    ]
    counts = [{"promptTokenCount": 9, "candidatesTokenCount": n, "totalTokenCount": 9 + n} for n in (2, 5, 7)]
    generated = [{"candidates": [], "usageMetadata": count} for count in counts]
    assert merged_usage("anthropic.messages", messages) == Usage(
        input_tokens=58, cached_input_tokens=8, output_tokens=30, total_tokens=88
    )
    assert merged_usage("gemini.generate", generated) == Usage(input_tokens=9, output_tokens=7, total_tokens=16)
    assert read_usage("gemini.generate", generated) == Usage(input_tokens=9, output_tokens=7, total_tokens=16)


def merged_usage(provider: str, values: list[Any]) -> Usage | None:
    chunks = write_sse([(value.get("type"), value) for value in values], style={})
    merged = merge_stream(provider, "text/event-stream", chunks, complete=True)
    assert merged is not None
    return read_usage(provider, merged.final)


def test_reasoning_is_part_of_the_output_wherever_the_wire_counts_it() -> None:
    inside = {"prompt_tokens": 5, "completion_tokens": 30, "total_tokens": 35}
    beside = {"prompt_tokens": 5, "completion_tokens": 10, "total_tokens": 35}
    details = {"completion_tokens_details": {"reasoning_tokens": 20}}
    thoughts = {"promptTokenCount": 5, "candidatesTokenCount": 10, "thoughtsTokenCount": 20, "totalTokenCount": 35}
    for provider, response in (
        ("openai.chat", {"usage": inside | details}),
        ("openai.chat", {"usage": beside | details}),
        ("gemini.generate", {"usageMetadata": thoughts}),
    ):
        usage = read_usage(provider, response)
        assert usage is not None
        assert (usage.output_tokens, usage.reasoning_tokens, usage.total_tokens) == (30, 20, 35)


def test_a_prompt_of_tools_is_input_and_a_withheld_count_follows_from_the_total() -> None:
    usage = read_usage(
        "gemini.generate",
        {"usageMetadata": {"promptTokenCount": 10, "toolUsePromptTokenCount": 4, "totalTokenCount": 20}},
    )
    assert usage == Usage(input_tokens=14, output_tokens=6, total_tokens=20)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_cache_hit_tokens": 3, "prompt_cache_miss_tokens": 2},
        {"cached_tokens": 3},
        {"prompt_tokens_details": {"cached_tokens": 3}},
    ],
)
def test_the_dialects_of_compatible_servers_are_read(usage: dict[str, Any]) -> None:
    body = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6} | usage
    expected = Usage(input_tokens=5, cached_input_tokens=3, output_tokens=1, total_tokens=6)
    for response in ({"usage": body}, {"x_groq": {"usage": body}}, {"choices": [{"usage": body}]}):
        assert read_usage("openai.chat", response) == expected


@pytest.mark.parametrize("provider", [*INPUT_INCLUDES_CACHED, "sse"])
def test_what_is_not_said_is_none(provider: str) -> None:
    assert read_usage(provider, {}) is None
    assert read_usage(provider, {"usage": {}, "usageMetadata": {}}) is None
    assert read_usage(provider, {"usage": {"prompt_tokens": "5", "input_tokens": -1, "output_tokens": True}}) is None


@given(response=JSON_VALUES, counts=JSON_VALUES)
def test_nothing_makes_it_raise(response: Any, counts: Any) -> None:
    for provider in INPUT_INCLUDES_CACHED:
        read_usage(provider, response)
        read_usage(provider, {"usage": counts, "usageMetadata": counts, "x_groq": counts, "choices": counts})
