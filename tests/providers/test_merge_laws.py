"""Laws of merging: what is merged plays back equal, whatever came; a mask may change any text afterwards."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from playhead.providers import MergedStream, equal_for_client, merge_stream, parse_events, play_stream
from tests.providers.streams import ENDS, JSON_VALUES, LAW, STREAMS, STYLES, cut_at_random, write_sse

SSE = "text/event-stream; charset=utf-8"
PROVIDERS = pytest.mark.parametrize("provider", STREAMS)


def keep(merged: MergedStream) -> MergedStream:
    """As a recording keeps it: written as JSON and read again."""
    return MergedStream(json.loads(json.dumps(merged.final)), json.loads(json.dumps(merged.shape)), merged.exact)


def merge(provider: str, chunks: list[bytes], *, complete: bool = True) -> MergedStream:
    merged = merge_stream(provider, SSE, chunks, complete=complete)
    assert merged is not None
    return keep(merged)


def event_data(data: bytes) -> list[Any]:
    return [json.loads(event.data) for event in parse_events(data) if event.data and event.data != "[DONE]"]


@PROVIDERS
@LAW
@given(data=st.data())
def test_a_merged_stream_plays_back_equal_in_the_chunks_it_came_in(provider: str, data: st.DataObject) -> None:
    blocks = write_sse(data.draw(STREAMS[provider]), style=data.draw(STYLES), end=data.draw(ENDS))
    merged = merge(provider, blocks)
    played = play_stream(provider, merged.final, merged.shape)
    assert len(played) == len(blocks)
    assert equal_for_client(provider, blocks, played)
    assert [parse_events(chunk) != [] for chunk in played] == [True] * len(blocks)
    if b"obfuscation" not in b"".join(blocks):
        assert played == blocks
        assert merged.exact


@PROVIDERS
@LAW
@given(data=st.data(), seed=st.integers(0, 2**16), pieces=st.integers(1, 12))
def test_chunks_cut_anywhere_are_cut_there_again(provider: str, data: st.DataObject, seed: int, pieces: int) -> None:
    """B23: the parsed events are the same for all cuts, and the limits of the chunks are kept."""
    whole = b"".join(write_sse(data.draw(STREAMS[provider]), style=data.draw(STYLES)))
    chunks = cut_at_random(whole, seed=seed, pieces=pieces)
    merged = merge(provider, chunks)
    played = play_stream(provider, merged.final, merged.shape)
    assert len(played) == len(chunks)
    assert equal_for_client(provider, chunks, played)
    assert merged.final == merge(provider, [whole]).final
    if merged.exact:
        assert played == chunks


@PROVIDERS
@LAW
@given(data=st.data(), seed=st.integers(0, 2**16))
def test_a_stream_that_was_left_early_plays_back_to_the_byte_it_reached(
    provider: str, data: st.DataObject, seed: int
) -> None:
    """B26: what had come of an answer is kept, a half event included."""
    whole = b"".join(write_sse(data.draw(STREAMS[provider]), style=data.draw(STYLES)))
    cut = data.draw(st.integers(1, len(whole)))
    chunks = cut_at_random(whole[:cut], seed=seed, pieces=4)
    merged = merge_stream(provider, SSE, chunks, complete=False)
    assume(merged is not None)
    assert merged is not None
    merged = keep(merged)
    assert merged.shape["complete"] is False
    assert equal_for_client(provider, chunks, play_stream(provider, merged.final, merged.shape))


@LAW
@given(st.lists(st.binary(max_size=40) | st.sampled_from([b"data: ", b"\n\n", b'{"a":', b"}", b"\r"]), max_size=12))
def test_no_bytes_make_it_raise(chunks: list[bytes]) -> None:
    merged = merge_stream("openai.chat", SSE, chunks, complete=True)
    if merged is not None:
        assert equal_for_client("openai.chat", chunks, play_stream("openai.chat", merged.final, merged.shape))


@PROVIDERS
@LAW
@given(values=st.lists(JSON_VALUES, min_size=1, max_size=6), style=STYLES)
def test_any_json_in_the_place_of_any_other_is_merged_all_the_same(
    provider: str, values: list[Any], style: dict[str, Any]
) -> None:
    chunks = write_sse([(None, value) for value in values], style=style)
    merged = merge(provider, chunks)
    assert play_stream(provider, merged.final, merged.shape) == chunks


def mangle(value: Any, replace: Any) -> Any:
    """Every string of a tree replaced: the rudest of masks."""
    if isinstance(value, dict):
        return {key: mangle(child, replace) for key, child in value.items()}
    if isinstance(value, list):
        return [mangle(child, replace) for child in value]
    return replace(value) if isinstance(value, str) else value


@PROVIDERS
@LAW
@given(data=st.data(), by=st.sampled_from(["", "x", "[masked:openai-key:1f3a9c20d4]", "né🎈"]), times=st.integers(0, 2))
def test_texts_of_another_length_are_played_in_as_many_deltas(
    provider: str, data: st.DataObject, by: str, times: int
) -> None:
    """B79: the count of chunks and events stays when a mask has changed the texts."""
    blocks = write_sse(data.draw(STREAMS[provider]), style=data.draw(STYLES))
    merged = merge(provider, blocks)
    final = mangle(merged.final, lambda text: by + text * times)
    played = play_stream(provider, final, merged.shape)
    assert len(played) == len(blocks)
    events, before = parse_events(b"".join(played)), parse_events(b"".join(blocks))
    assert [event.event for event in events] == [event.event for event in before]
    again = merge(provider, played)
    assert len(parse_events(b"".join(play_stream(provider, again.final, again.shape)))) == len(blocks)
