"""Streams for the tests: made up by Hypothesis, in each of the formats, and cut as a network may cut them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

LAW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
"""For laws over whole streams: they are large, and a machine may be busy."""

TEXTS = st.text(max_size=12)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | st.just("$"), inner, max_size=3),
    max_leaves=8,
)
STYLES = st.sampled_from(
    [
        {"separators": (",", ":"), "ensure_ascii": False},
        {"separators": (",", ":")},
        {"ensure_ascii": False},
        {"separators": (",", ": "), "ensure_ascii": False},
    ]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
Event = tuple[str | None, Any]


def write_sse(events: Sequence[Event], *, style: dict[str, Any], end: str = "\n") -> list[bytes]:
    """Each event's bytes. An event is its name and its JSON; a plain string value beginning with ":" is a comment."""
    blocks = []
    for name, value in events:
        if name == ":":
            blocks.append(f": {value}{end}{end}".encode())
            continue
        head = f"event: {name}{end}" if name else ""
        text = value if value == "[DONE]" else json.dumps(value, **style)
        blocks.append(f"{head}data: {text}{end}{end}".encode())
    return blocks


def cut_at_random(data: bytes, *, seed: int, pieces: int) -> list[bytes]:
    """``data`` in up to ``pieces`` chunks, cut anywhere."""
    chance = random.Random(seed)
    borders = [0, *sorted(chance.randrange(len(data) + 1) for _ in range(pieces - 1)), len(data)]
    return [data[one:two] for one, two in pairwise(borders)]


@st.composite
def chat_events(draw: st.DrawFn) -> list[Event]:
    """Chat completion chunks: choices interleaved, content, reasoning, refusal, tool calls, log-probabilities."""
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices = draw(st.integers(1, 3))
    pad = draw(st.booleans())
    first = {"delta": {"role": "assistant", "content": ""}, "finish_reason": None}
    events: list[Event] = [(None, frame | {"choices": [{"index": n} | first]}) for n in range(choices)]
    for _ in range(draw(st.integers(0, 8))):
        choice = draw(st.integers(0, choices - 1))
        delta, logprobs = draw(_chat_delta()), None
        if draw(st.booleans()):
            top = draw(st.lists(st.fixed_dictionaries({"token": TEXTS, "logprob": st.floats(-9, 0)}), max_size=2))
            logprobs = {"content": [{"token": draw(TEXTS), "logprob": -0.25, "bytes": [1, 2], "top_logprobs": top}]}
        body = {"index": choice, "delta": delta, "logprobs": logprobs, "finish_reason": None}
        events.append((None, frame | {"choices": [body]} | ({"obfuscation": draw(TEXTS)} if pad else {})))
        if draw(st.integers(0, 5)) == 0:
            events.append((":", "keep-alive"))
    ending = draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter", None, "error"]))
    if ending == "error":
        events.append((None, {"error": {"message": "overloaded", "code": 502}}))
        return events
    if ending:
        events += [(None, frame | {"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]})]
        usage = {"prompt_tokens": 9, "completion_tokens": draw(st.integers(0, 99)), "total_tokens": 12}
        events += [(None, frame | {"choices": [], "usage": usage}), (None, "[DONE]")]
    return events


def _chat_delta() -> st.SearchStrategy[dict[str, Any]]:
    call = st.fixed_dictionaries(
        {"index": st.integers(0, 2), "function": st.fixed_dictionaries({"arguments": TEXTS}, optional={"name": TEXTS})},
        optional={"id": st.sampled_from(["call_1", "call_2"]), "type": st.just("function")},
    )
    part = st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS})
    return st.fixed_dictionaries(
        {},
        optional={
            "content": TEXTS | st.none() | st.lists(part, max_size=2),
            "reasoning_content": TEXTS | st.none(),
            "refusal": TEXTS | st.none(),
            "tool_calls": st.lists(call, max_size=2),
            "novelty": JSON_VALUES,
        },
    )


@st.composite
def messages_events(draw: st.DrawFn) -> list[Event]:
    """Anthropic messages: blocks of text, thinking and tool use, citations, pings, an error, cumulative usage."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "stop_reason": None}
    message["usage"] = usage
    values: list[Any] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["text", "thinking", "tool_use"]))
        values += draw(_messages_block(index, kind))
        if draw(st.integers(0, 3)) == 0:
            values.append({"type": "ping"})
    if draw(st.integers(0, 4)) == 0:
        values.append({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    else:
        done = {"stop_reason": draw(st.sampled_from(["end_turn", "tool_use", "refusal"])), "stop_sequence": None}
        values += [{"type": "message_delta", "delta": done, "usage": {"output_tokens": draw(st.integers(0, 99))}}]
        values += [{"type": "message_stop"}]
    return [(value["type"], value) for value in values]


@st.composite
def _messages_block(draw: st.DrawFn, index: int, kind: str) -> list[Any]:
    start: dict[str, Any] = {"type": kind}
    start |= {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}.get(
        kind, {"id": f"toolu_{index}", "name": "search", "input": {}}
    )
    values: list[Any] = [{"type": "content_block_start", "index": index, "content_block": start}]
    pieces = draw(st.lists(TEXTS, max_size=5))
    if kind == "tool_use" and draw(st.booleans()):
        text = json.dumps(draw(st.dictionaries(TEXTS, JSON_VALUES, max_size=3)))
        pieces = ["", text[: len(text) // 2], text[len(text) // 2 :]]
    names = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}
    delta, field = names.get(kind, ("input_json_delta", "partial_json"))
    place = {"type": "content_block_delta", "index": index}
    values += [{**place, "delta": {"type": delta, field: piece}} for piece in pieces]
    if kind == "thinking":
        signed = {"type": "signature_delta", "signature": draw(TEXTS)}
        values.append({**place, "delta": signed})
    if kind == "text" and draw(st.booleans()):
        cited = {"type": "citations_delta", "citation": {"type": "char_location", "cited_text": draw(TEXTS)}}
        values.append({**place, "delta": cited})
    return [*values, {"type": "content_block_stop", "index": index}]


@st.composite
def generate_events(draw: st.DrawFn) -> list[Event]:
    """Gemini responses: thoughts, texts, calls and blobs in parts, usage that grows."""
    part = (
        st.fixed_dictionaries({"text": TEXTS}, optional={"thought": st.just(True)})
        | st.fixed_dictionaries({"text": TEXTS, "thoughtSignature": TEXTS})
        | st.fixed_dictionaries({"functionCall": st.fixed_dictionaries({"name": TEXTS, "args": JSON_VALUES})})
        | st.fixed_dictionaries({"inlineData": st.just({"mimeType": "image/png", "data": "iVBORw0KGgo="})})
    )
    values: list[Any] = []
    for number in range(draw(st.integers(1, 6))):
        candidate: dict[str, Any] = {"content": {"parts": draw(st.lists(part, max_size=3)), "role": "model"}}
        candidate |= draw(st.sampled_from([{}, {"index": 0}, {"finishReason": "STOP"}]))
        usage = {"promptTokenCount": 9, "candidatesTokenCount": number, "totalTokenCount": 9 + number}
        values.append({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "responseId": "r"})
    return [(None, value) for value in values]


@st.composite
def responses_events(draw: st.DrawFn) -> list[Event]:
    """OpenAI responses: a message, a call or a thought at each place, with or without the response at the end."""
    base = {"id": "resp_1", "object": "response", "status": "in_progress", "model": "m", "output": [], "usage": None}
    values: list[Any] = [{"type": "response.created", "response": base}]
    output: list[Any] = []
    for index in range(draw(st.integers(0, 3))):
        events, item = draw(_responses_item(index))
        values += events
        output.append(item)
    ending = draw(st.sampled_from(["completed", "incomplete", "failed", "cut", "emptied", "error"]))
    if ending in ("completed", "incomplete", "failed"):
        done = base | {"status": ending, "output": output, "usage": {"input_tokens": 3, "output_tokens": 4}}
        values.append({"type": f"response.{ending}", "response": done})
    elif ending == "emptied":
        values.append({"type": "response.completed", "response": base | {"status": "completed"}})
    elif ending == "error":
        values.append({"type": "error", "code": "server_error", "message": "no", "param": None})
    for number, value in enumerate(values):
        value["sequence_number"] = number
        if value["type"].endswith(".delta"):
            value["obfuscation"] = draw(TEXTS)
    return [(value["type"], value) for value in values]


@st.composite
def _responses_item(draw: st.DrawFn, index: int) -> tuple[list[Any], Any]:
    pieces = draw(st.lists(TEXTS, max_size=5))
    whole, place = "".join(pieces), {"item_id": f"it_{index}", "output_index": index}
    if draw(st.booleans()):
        added = {"id": f"it_{index}", "type": "function_call", "name": "f", "call_id": "call_1", "arguments": ""}
        kind, spot, item = "response.function_call_arguments", {}, added | {"arguments": whole}
    else:
        added = {"id": f"it_{index}", "type": "message", "role": "assistant", "content": []}
        said = whole if draw(st.integers(0, 4)) else "something else"
        kind, spot = "response.output_text", {"content_index": 0}
        item = added | {"content": [{"type": "output_text", "text": said, "annotations": []}]}
    head = {"output_index": index}
    values: list[Any] = [{"type": "response.output_item.added", **head, "item": added}]
    if spot:
        part = {"type": "output_text", "text": "", "annotations": []}
        values.append({"type": "response.content_part.added", **place, **spot, "part": part})
    values += [{"type": f"{kind}.delta", **place, **spot, "delta": piece} for piece in pieces]
    if draw(st.integers(0, 2)) == 0:
        values.append({"type": "response.novelty.delta", **place, "delta": draw(TEXTS)})
    values += [{"type": f"{kind}.done", **place, **spot, "text": whole}]
    return [*values, {"type": "response.output_item.done", **head, "item": item}], item


STREAMS = {
    "openai.chat": chat_events(),
    "openai.responses": responses_events(),
    "anthropic.messages": messages_events(),
    "gemini.generate": generate_events(),
    "sse": st.lists(st.tuples(st.none() | st.sampled_from(["a", "b"]), JSON_VALUES), min_size=1, max_size=8),
}
