"""Tokens as the wire counts them, read into one meaning.

What providers mean by "input" and "output" differs, and adding what is already included is the usual mistake:

====================  ==========================  ============================  ==================================
provider              input count on the wire     output count on the wire      stream
====================  ==========================  ============================  ==================================
openai.chat           includes cached             includes reasoning (not xAI)  once, in the last chunk
openai.responses      includes cached             includes reasoning            once, in the last event
anthropic.messages    excludes cached, written    includes thinking             cumulative, the last one counts
gemini.generate       includes cached, not tools  excludes thoughts             cumulative, the last one counts
====================  ==========================  ============================  ==================================
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from playhead.providers._draft import look_up

__all__ = ["INPUT_INCLUDES_CACHED", "Usage", "read_usage"]

INPUT_INCLUDES_CACHED: Final = {
    "openai.chat": True,
    "openai.responses": True,
    "anthropic.messages": False,
    "gemini.generate": True,
}
"""Whether the input count on the wire has the cached part in it. In ``Usage.input_tokens`` it always has."""


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one exchange. What the provider did not say is None, never 0.

    ``input_tokens`` is all of the input: fresh, read from a cache, written to a cache. ``output_tokens`` is all of the
    output, reasoning included. ``cache_write_tokens`` is all that was written to a cache; the two beside it are its
    parts by time to live where the provider tells them apart.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_5m_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None

    @property
    def fresh_input_tokens(self) -> int | None:
        """Input that was neither read from a cache nor written to one; None where the input is unknown."""
        if self.input_tokens is None:
            return None
        return max(0, self.input_tokens - (self.cached_input_tokens or 0) - (self.cache_write_tokens or 0))


def read_usage(provider: str, response: Any) -> Usage | None:
    """The usage of a final response, merged or not; None where it has none. Never raises.

    A list is taken for the chunks of a stream, the last of which counts.
    """
    if type(response) is list:
        found = (read_usage(provider, chunk) for chunk in reversed(response) if type(chunk) is dict)
        return next((usage for usage in found if usage is not None), None)
    if type(response) is not dict:
        return None
    usage = None
    match provider:
        case "openai.chat":
            usage = _read_chat(response)
        case "openai.responses":
            usage = _read_responses(response)
        case "anthropic.messages":
            usage = _read_messages(response)
        case "gemini.generate":
            usage = _read_generate(response)
    return None if usage is None or usage == Usage() else usage


def _count(tree: Any, *path: str) -> int | None:
    value = look_up(tree, path)
    return value if type(value) is int and value >= 0 else None


def _add(*counts: int | None) -> int | None:
    """The sum of what is known, None where nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _first(*counts: int | None) -> int | None:
    return next((count for count in counts if count is not None), None)


def _read_chat(response: dict[str, Any]) -> Usage | None:
    places = (("usage",), ("x_groq", "usage"), ("choices", 0, "usage"))
    usage = next((found for place in places if type(found := look_up(response, place)) is dict), None)
    if usage is None:
        return None
    asked, answered = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    total = _count(usage, "total_tokens")
    reasoning = _count(usage, "completion_tokens_details", "reasoning_tokens")
    cached = _first(
        _count(usage, "prompt_tokens_details", "cached_tokens"),
        _count(usage, "prompt_cache_hit_tokens"),
        _count(usage, "cached_tokens"),
    )
    if total is not None and asked is not None and answered is not None:
        beside = total - asked - answered
        if beside > 0 and (reasoning == beside or (reasoning is None and cached != beside)):
            answered += beside  # reasoning counted beside the completion (xAI, Gemini's endpoint): the total tells
    return Usage(
        input_tokens=asked,
        cached_input_tokens=cached,
        cache_write_tokens=_count(usage, "prompt_tokens_details", "cache_write_tokens"),
        output_tokens=answered,
        reasoning_tokens=reasoning,
        total_tokens=total,
    )


def _read_responses(response: dict[str, Any]) -> Usage | None:
    usage = response.get("usage")
    if type(usage) is not dict:
        return None
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        cached_input_tokens=_count(usage, "input_tokens_details", "cached_tokens"),
        cache_write_tokens=_count(usage, "input_tokens_details", "cache_write_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        reasoning_tokens=_count(usage, "output_tokens_details", "reasoning_tokens"),
        total_tokens=_count(usage, "total_tokens"),
    )


def _read_messages(response: dict[str, Any]) -> Usage | None:
    usage = response.get("usage")
    if type(usage) is not dict:
        return None
    fresh, read = _count(usage, "input_tokens"), _count(usage, "cache_read_input_tokens")
    short = _count(usage, "cache_creation", "ephemeral_5m_input_tokens")
    long = _count(usage, "cache_creation", "ephemeral_1h_input_tokens")
    written = _first(_count(usage, "cache_creation_input_tokens"), _add(short, long))
    if written is not None and short is not None and long is not None and short + long != written:
        short = long = None  # the split is of another part of the stream than the total
    asked = None if fresh is None else _add(fresh, read, written)
    answered = _count(usage, "output_tokens")
    return Usage(
        input_tokens=asked,
        cached_input_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=short,
        cache_write_1h_tokens=long,
        output_tokens=answered,
        reasoning_tokens=_count(usage, "output_tokens_details", "thinking_tokens"),
        total_tokens=None if asked is None or answered is None else asked + answered,
    )


def _read_generate(response: dict[str, Any]) -> Usage | None:
    usage = response.get("usageMetadata")
    if type(usage) is not dict:
        return None
    prompt, tools = _count(usage, "promptTokenCount"), _count(usage, "toolUsePromptTokenCount")
    thoughts, total = _count(usage, "thoughtsTokenCount"), _count(usage, "totalTokenCount")
    asked = None if prompt is None else _add(prompt, tools)
    answered = _add(_count(usage, "candidatesTokenCount"), thoughts)
    if _count(usage, "candidatesTokenCount") is None and asked is not None and total is not None and total > asked:
        answered = total - asked  # a count that is not sent may be zero or withheld; the total tells
    return Usage(
        input_tokens=asked,
        cached_input_tokens=_count(usage, "cachedContentTokenCount"),
        output_tokens=answered,
        reasoning_tokens=thoughts,
        total_tokens=total,
    )
