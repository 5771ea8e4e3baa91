"""What a merged stream looks like, what is left raw, and what a recording made to hurt runs into."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.errors import CorruptRecordingError, HostileRecordingError, PlayheadError
from playhead.providers import MergedStream, equal_for_client, merge_stream, parse_events, play_stream
from tests.providers.streams import LAW, STREAMS, STYLES, write_sse

SSE = "text/event-stream"
COMPACT = {"separators": (",", ":"), "ensure_ascii": False}
FRAME = {"id": "chatcmpl-C1KMEUDb1vVwsROQ", "object": "chat.completion.chunk", "created": 1754432618, "model": "gpt-4o"}


def chat(*deltas: dict[str, Any], finish: str | None = "stop") -> list[Any]:
    values = [FRAME | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*values, FRAME | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def merge(values: list[Any], *, provider: str = "openai.chat", complete: bool = True) -> MergedStream:
    chunks = write_sse([(None, value) for value in values], style=COMPACT)
    merged = merge_stream(provider, SSE, chunks, complete=complete)
    assert merged is not None
    assert play_stream(provider, merged.final, merged.shape) == chunks
    return merged


def message_of(values: list[Any]) -> Any:
    return merge(values).final["choices"][0]["message"]


def test_the_final_json_is_what_the_provider_answers_without_streaming() -> None:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}
    values = chat(
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a":'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
        finish="tool_calls",
    )
    values.append(FRAME | {"choices": [], "usage": {"total_tokens": 9}})
    merged = merge([*values, "[DONE]"])
    function = {"name": "f", "arguments": '{"a":1}'}
    assert merged.final == {
        **FRAME,
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"total_tokens": 9},
    }
    assert merged.exact


def test_the_dialects_of_reasoning_become_one_text_each() -> None:
    reasoning = {"type": "reasoning.text", "format": "x-v1", "index": 0}
    assert message_of(
        chat(
            {"role": "assistant", "reasoning": "Let", "reasoning_details": [reasoning | {"text": "Let"}]},
            {"role": "assistant", "reasoning": " me", "reasoning_details": [reasoning | {"text": " me"}]},
            {"role": "assistant", "content": "ok", "reasoning_content": "deep"},
        )
    ) == {
        "role": "assistant",
        "content": "ok",
        "reasoning": "Let me",
        "reasoning_details": [reasoning | {"text": "Let me"}],
        "reasoning_content": "deep",
    }
    assert message_of(
        chat(
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Le"}]}]},
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]}]},
            {"content": "42"},
            {"content": "!"},
        )
    ) == {
        "content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Let"}]},
            {"type": "text", "text": "42!"},
        ]
    }


def test_parallel_calls_that_are_all_numbered_zero_stay_apart() -> None:
    calls = [{"index": 0, "id": f"call_{n}", "function": {"name": "f", "arguments": "{}"}} for n in (1, 2)]
    message = message_of(chat(*({"tool_calls": [call]} for call in calls)))
    assert [call["id"] for call in message["tool_calls"]] == ["call_1", "call_2"]


def test_choices_are_in_the_order_of_their_index() -> None:
    values = [FRAME | {"choices": [{"index": index, "delta": {"content": str(index)}}]} for index in (2, 0, 1, 2)]
    final = merge(values).final
    assert [choice["message"]["content"] for choice in final["choices"]] == ["0", "1", "22"]


def test_a_response_that_does_not_repeat_its_text_has_it_put_in() -> None:
    item = {"type": "message", "id": "m", "content": []}
    part = {"type": "output_text", "text": "", "annotations": []}
    place = {"item_id": "m", "output_index": 0, "content_index": 0}
    values = [
        {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **place, "part": part},
        {"type": "response.output_text.delta", **place, "delta": "Hel"},
        {"type": "response.output_text.delta", **place, "delta": "lo"},
    ]
    for ending in ([], [{"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}]):
        final = merge(values + ending, provider="openai.responses").final
        assert final["output"] == [item | {"content": [part | {"text": "Hello"}]}]


def test_a_gemini_stream_that_is_a_json_array_is_merged() -> None:
    values = [
        {"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}}], "modelVersion": "g"}
        for text in ("Hel", "lo 🎈")
    ]
    body = ("[" + "\n,\r\n".join(json.dumps(value, indent=2, ensure_ascii=False) for value in values) + "\n]").encode()
    chunks = [body[:50], body[50:61], body[61:]]
    merged = merge_stream("gemini.generate", "application/json; charset=UTF-8", chunks, complete=True)
    assert merged is not None
    assert merged.final["candidates"][0]["content"]["parts"] == [{"text": "Hello 🎈"}]
    assert merged.exact
    assert play_stream("gemini.generate", merged.final, merged.shape) == chunks
    for cut in range(1, len(body)):
        left = merge_stream("gemini.generate", "application/json", [body[:cut]], complete=False)
        assert left is None or play_stream("gemini.generate", left.final, left.shape) == [body[:cut]]


def test_lines_of_json_are_merged() -> None:
    chunks = [json.dumps({"model": "m", "response": text, "done": False}).encode() + b"\n" for text in ("a", "b")]
    merged = merge_stream("sse", "application/x-ndjson", chunks, complete=True)
    assert merged is not None
    assert merged.final == {"events": [{"model": "m", "response": "ab", "done": False}]}
    assert play_stream("sse", merged.final, merged.shape) == chunks


def test_a_stream_of_plain_text_is_one_text() -> None:
    chunks = [b"id: 1\ndata: Hel\n\n", b"id: 2\ndata: lo\n\n", b": ping\n\n", b"id: 3\ndata: [DONE]\n\n"]
    merged = merge_stream("sse", SSE, chunks, complete=True)
    assert merged is not None
    assert merged.final == {"events": ["Hello", "[DONE]"]}
    assert play_stream("sse", merged.final, merged.shape) == chunks


@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a":1,"a":2}\n\n',
        b'data: {"a":NaN}\n\n',
        b'data: {"a":1e400}\n\n',
        b'data: {"a":"\xff"}\n\n',
        b'data: {"a":"\\ud83d"}\n\n',
        b'data: {"a":"\\ud83d"}\n\ndata: {"a":"\\ude00"}\n\n',
        b'data: {"a":1\nevent: x\ndata: }\n\n',
        b": only a comment\n\n",
        b"",
    ],
)
def test_what_a_merged_form_would_change_stays_raw(data: bytes) -> None:
    assert merge_stream("openai.chat", SSE, [data], complete=True) is None


@pytest.mark.parametrize("kind", ["application/vnd.amazon.eventstream", "application/json", "text/html", ""])
def test_what_is_not_a_stream_of_events_stays_raw(kind: str) -> None:
    assert merge_stream("openai.chat", kind, [b'data: {"choices":[]}\n\n'], complete=True) is None


def test_padding_is_dropped_and_nothing_else_is() -> None:
    values = [value | {"obfuscation": "x" * n} for n, value in enumerate(chat({"content": "a"}, {"content": "b"}))]
    chunks = write_sse([(None, value) for value in values], style=COMPACT)
    merged = merge_stream("openai.chat", SSE, chunks, complete=True)
    assert merged is not None
    played = play_stream("openai.chat", merged.final, merged.shape)
    assert not merged.exact
    assert b"obfuscation" not in b"".join(played)
    assert [json.loads(event.data or "") for event in parse_events(b"".join(played))] == [
        {key: part for key, part in value.items() if key != "obfuscation"} for value in values
    ]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (b'data: {"a":1}\n\n', b'data: {"a":1.0}\n\n'),
        (b'data: {"a":1,"b":2}\n\n', b'data: {"b":2,"a":1}\n\n'),
        (b'data: {"a":1,"a":2}\n\n', b'data: {"a":2}\n\n'),
        (b'data: {"a":true}\n\n', b'data: {"a":1}\n\n'),
        (b'data: [["a",1]]\n\n', b'data: {"a":1}\n\n'),
        (b"event: a\ndata: 1\n\n", b"event: b\ndata: 1\n\n"),
        (b"id: 1\ndata: 1\n\n", b"data: 1\n\n"),
        (b": x\n\ndata: 1\n\n", b"data: 1\n\n"),
        (b"data: 1\n\ndata: 2", b"data: 1\n\ndata: 3"),
        (b"data: 1\n\n", b"data: 1\n\ndata: 1\n\n"),
        (b'data: {"obfuscation":"x"}\n\n', b'data: {"padding":"x"}\n\n'),
    ],
)
def test_the_comparison_sees_what_a_client_could_see(one: bytes, two: bytes) -> None:
    assert not equal_for_client("openai.chat", [one], [two])
    assert equal_for_client("openai.chat", [one], [one[:3], one[3:]])


def test_the_comparison_looks_past_the_writing_of_json_and_the_declared_padding() -> None:
    one = b'data: {"a":"\\u00e9", "obfuscation":"x"}\r\n\r\n'
    two = 'data: {"a":"é"}\n\n'.encode()
    assert equal_for_client("openai.responses", [one], [two])
    assert not equal_for_client("anthropic.messages", [one], [two])


SECRET = "FAKE-hero-77-of-the-east"


@pytest.mark.parametrize("cut", [None, 7, 30])
@pytest.mark.parametrize("provider", STREAMS)
def test_a_secret_spread_over_deltas_is_one_string_and_the_shape_has_nothing_of_it(
    provider: str, cut: int | None
) -> None:
    """B79: also where the stream was cut in the event that brought the secret's end."""
    pieces = ["key is FA", "KE-hero-77", "-of-the-", "east ok"]
    chunks = write_sse([(value.get("type"), value) for value in spread(provider, pieces)], style=COMPACT)
    whole = b"".join(chunks)
    if cut is not None:
        whole = whole[: whole.index(b"east ok") + cut - 7]
    merged = merge_stream(provider, SSE, [whole], complete=cut is None)
    assert merged is not None
    text = json.dumps(merged.final)
    assert text.count("FAKE-hero-77-of-the-") == 1
    shape = json.dumps(merged.shape)
    assert [SECRET[at : at + 4] for at in range(len(SECRET) - 3) if SECRET[at : at + 4] in shape] == []
    masked = json.loads(text.replace("FAKE-hero-77-of-the-", "[masked:x:1f3a9c20d4]"))
    played = b"".join(play_stream(provider, masked, merged.shape))
    assert len(parse_events(played)) == len(parse_events(whole))
    again = merge_stream(provider, SSE, [played], complete=cut is None)
    assert again is not None
    assert "key is [masked:x:1f3a9c20d4]" in json.dumps(again.final)


def spread(provider: str, pieces: list[str]) -> list[Any]:
    match provider:
        case "openai.chat":
            return chat(*({"content": piece} for piece in pieces))
        case "gemini.generate":
            return [{"candidates": [{"content": {"parts": [{"text": piece}]}}]} for piece in pieces]
        case "sse":
            return [{"type": "token", "text": piece} for piece in pieces]
        case "anthropic.messages":
            block = {"type": "text", "text": ""}
            return [
                {"type": "message_start", "message": {"id": "m", "content": []}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                *(
                    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                    for piece in pieces
                ),
            ]
    return [
        {"type": "response.created", "response": {"id": "r", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "arguments": ""}},
        *({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": piece} for piece in pieces),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", ["", "", ""]), ("ab", ["", "a", "b"]), ("x" * 9, ["xxx"] * 3), ("efabcd", ["ef", "ab", "cd"])],
)
def test_a_text_of_another_length_is_cut_in_proportion_and_the_last_delta_takes_the_rest(
    text: str, expected: list[str]
) -> None:
    merged = merge(chat({"content": "ab"}, {"content": "cd"}, {"content": "ef"}))
    merged.final["choices"][0]["message"]["content"] = text
    events = parse_events(b"".join(play_stream("openai.chat", merged.final, merged.shape)))
    deltas = [json.loads(event.data or "")["choices"][0]["delta"].get("content") for event in events]
    assert deltas == [*expected, None]


def test_the_parsed_input_of_a_tool_is_written_again_after_a_change() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", '{"city": "Pa', 'ris"}')]
    values = [
        {"type": "message_start", "message": {"id": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
    ]
    merged = merge(values, provider="anthropic.messages")
    assert merged.final["content"][0]["input"] == {"city": "Paris"}
    merged.final["content"][0]["input"] = {"city": "Llanfairpwllgwyngyll"}
    events = parse_events(b"".join(play_stream("anthropic.messages", merged.final, merged.shape)))
    pieces = [json.loads(event.data or "")["delta"]["partial_json"] for event in events[2:]]
    assert len(pieces) == 3
    assert json.loads("".join(pieces)) == {"city": "Llanfairpwllgwyngyll"}


def test_a_final_json_that_lost_its_parts_still_plays_its_events() -> None:
    merged = merge(chat({"content": "ab"}, {"content": "cd"}))
    for final in ({}, [], None, 5, {"choices": [{"message": {"content": ["x"]}}]}):
        assert len(parse_events(b"".join(play_stream("openai.chat", final, merged.shape)))) == 3


def test_a_shape_costs_a_few_bytes_an_event() -> None:
    chance = random.Random(7)
    pieces = ["x" * chance.randint(1, 9) for _ in range(1000)]
    merged = merge(chat(*({"content": piece} for piece in pieces)))
    assert len(json.dumps(merged.shape, separators=(",", ":"))) < 4 * len(pieces)


def bomb(**changes: Any) -> Any:
    return merge(chat({"content": "ab"}, {"content": "cd"})).shape | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"order": ["runs", 0, 10**12]},
        {"order": ["runs", *[0, 4_000_000] * 9]},
        {"refs": [["raw", {"a": {"$": 1}}], ["raw", {"a": {"$": 0}}]], "forms": [{"before": "", "data": {"$": 0}}]},
        {"v": 2},
        {"v": "x"},
        {"order": ["each", 99]},
        {"chunks": None},
        {"chunks": [["each", -5], ["each", -5]]},
        {"forms": {}},
        {"refs": []},
        {"slots": [["text", "", ["choices"]] * 2]},
        {"tail": [1]},
        {"tail": [0, "", [999]]},
    ],
)
def test_a_shape_made_to_hurt_is_refused(changes: dict[str, Any]) -> None:
    merged = merge(chat({"content": "ab"}, {"content": "cd"}))
    try:
        played = play_stream("openai.chat", merged.final, merged.shape | changes)
    except (CorruptRecordingError, HostileRecordingError):
        return
    assert sum(map(len, played)) < 10_000


def test_references_that_double_at_each_level_are_refused() -> None:
    doubling = [["raw", {"a": {"$": n + 1}, "b": {"$": n + 1}}] for n in range(60)] + [["copy", []]]
    shape = {
        "v": 1,
        "forms": [{"before": "", "after": "", "style": "c", "data": {"$": 0}}],
        "order": ["each", 0],
        "refs": doubling,
        "slots": [],
        "chunks": [["each", 1], ["each", 0]],
    }
    with pytest.raises(HostileRecordingError):
        play_stream("sse", {"x": "y" * 1000}, shape)


@LAW
@given(data=st.data())
def test_a_damaged_shape_raises_nothing_but_errors_of_ours(data: st.DataObject) -> None:
    provider = data.draw(st.sampled_from(sorted(STREAMS)))
    chunks = write_sse(data.draw(STREAMS[provider]), style=data.draw(STYLES))
    merged = merge_stream(provider, SSE, chunks, complete=True)
    assert merged is not None
    shape = json.loads(json.dumps(merged.shape))
    node = shape
    while True:
        children = list(node) if isinstance(node, dict) else range(len(node))
        if not children:
            return
        key = data.draw(st.sampled_from(children))
        if not isinstance(node[key], dict | list) or not node[key] or data.draw(st.booleans()):
            break
        node = node[key]
    node[key] = data.draw(st.sampled_from([None, 0, -1, 10**9, "x", "$", [], {}, [1], {"$": 0}, {"$": 99}, True, 0.5]))
    try:
        play_stream(provider, merged.final, shape)
    except PlayheadError:
        pass
