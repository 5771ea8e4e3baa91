"""Streams kept merged: one final JSON and a small shape instead of the chunks, with the proof that nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, Final

import msgspec

from playhead.errors import CorruptRecordingError, HostileRecordingError
from playhead.providers._anthropic import fold_messages
from playhead.providers._any_stream import fold_any
from playhead.providers._blocks import ABSENT, Block, Tail, render, split_stream
from playhead.providers._chunks import cut_chunks, measure_chunks
from playhead.providers._draft import Draft
from playhead.providers._gemini import fold_generate
from playhead.providers._json_text import Unmergeable
from playhead.providers._openai_chat import fold_chat
from playhead.providers._openai_responses import fold_responses
from playhead.providers._shape import ShapeTooLarge, decode_shape, encode_shape
from playhead.providers._sse import SseParser

__all__ = ["MergedStream", "equal_for_client", "merge_stream", "play_stream"]

_FOLDS: Final[dict[str, Callable[[list[Any], Draft], None]]] = {
    "openai.chat": fold_chat,
    "openai.responses": fold_responses,
    "anthropic.messages": fold_messages,
    "gemini.generate": fold_generate,
}
_NOISE: Final = {"openai.chat": "obfuscation", "openai.responses": "obfuscation"}
"""A key of random padding, worthless by its provider's own word."""

_STREAM_TYPES: Final = ("text/event-stream", "application/x-ndjson", "application/jsonl", "application/stream+json")


class MergedStream(msgspec.Struct, frozen=True):
    """A stream as what it came to.

    ``final`` is the JSON that the provider would have answered without streaming, as far as the stream tells it; each
    text that grew stands in it once and whole. ``shape`` holds what is needed to play the events again, and of those
    texts nothing but lengths. ``exact`` says that the chunks played are the very bytes that came; where it is False
    they differ in the way JSON is written or in padding, and in nothing that a client could see.
    """

    final: Any
    shape: Any
    exact: bool


def merge_stream(provider: str, content_type: str, chunks: Sequence[bytes], *, complete: bool) -> MergedStream | None:
    """Merge the chunks of a response body, or None where they have to be kept as they came.

    ``provider`` is that of the call, or anything else (``"sse"``) for a stream of an unknown format. ``complete`` is
    False where the stream was left or dropped before its end; what had arrived is merged all the same, a half event
    included, and ``shape["complete"]`` keeps the fact. Never raises: what cannot be proved equal is None.
    """
    base = content_type.partition(";")[0].strip().lower()
    if base not in _STREAM_TYPES and not (base == "application/json" and provider == "gemini.generate"):
        return None
    try:
        blocks, tail = split_stream(b"".join(chunks))
        if not any(block.value is not ABSENT for block in blocks):
            return None
        _drop_noise(provider, blocks, tail)
        merged = None
        if provider in _FOLDS:
            merged = _merge(_FOLDS[provider], provider, chunks, blocks, tail, complete=complete)
        return merged or _merge(fold_any, provider, chunks, blocks, tail, complete=complete)
    except (Unmergeable, RecursionError):
        return None


def _drop_noise(provider: str, blocks: list[Block], tail: Tail | None) -> None:
    noise = _NOISE.get(provider)
    for block in blocks[:-1] if tail is not None else blocks:
        if noise and type(block.value) is dict and noise in block.value:
            del block.value[noise]
            block.text = None


def _merge(
    fold: Callable[[list[Any], Draft], None],
    provider: str,
    chunks: Sequence[bytes],
    blocks: list[Block],
    tail: Tail | None,
    *,
    complete: bool,
) -> MergedStream | None:
    draft = Draft(len(blocks))
    try:
        fold([None if block.value is ABSENT else block.value for block in blocks], draft)
        shape = encode_shape(blocks, tail, draft)
    except (Unmergeable, TypeError, ValueError, LookupError, AttributeError):
        # A server may send anything in the place of anything; the stream is then one of a format we do not know.
        return None
    shape["chunks"] = measure_chunks(chunks, list(accumulate(block.size for block in blocks)))
    shape["complete"] = complete
    if not _can_be_kept(draft.final) or not _can_be_kept(shape):
        return None
    played = play_stream(provider, draft.final, shape)
    # A block has its text where writing its value again was seen to give it; else it is its value that has to come out.
    expected = [(render(block) if block.text is None else block.text).encode() for block in blocks]
    if tail is not None:
        expected[-1] += tail.rest
    if b"".join(played) != b"".join(expected):
        return None
    return MergedStream(final=draft.final, shape=shape, exact=played == list(chunks))


def _can_be_kept(value: Any) -> bool:
    """Half a surrogate pair does not survive being written: two halves side by side become one character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def play_stream(provider: str, final: Any, shape: Any) -> list[bytes]:
    """The chunks of a merged stream again: the same events, with the same deltas, cut in the same places.

    ``final`` may have been masked or edited since: the number of deltas stays, each keeps its share of a text whose
    length has changed and the last takes what is left; what is no longer there is played as null or nothing.
    Raises CorruptRecordingError where ``shape`` is not one, HostileRecordingError where it unfolds without measure.
    """
    try:
        blocks, tail = decode_shape(final, shape)
        texts = [render(block) for block in blocks]
        if tail is not None:
            texts[-1] = texts[-1][: len(texts[-1]) - tail.drop] + tail.extra
        # Half a surrogate pair (an edit can bring one) is written as the escape that JSON has for it.
        parts = [text.encode("utf-8", "backslashreplace") for text in texts]
        if tail is not None:
            parts[-1] += tail.rest
        return cut_chunks(b"".join(parts), list(accumulate(map(len, parts))), shape["chunks"])
    except (ShapeTooLarge, RecursionError) as error:
        raise HostileRecordingError("A recorded stream unfolds into more than any stream is.") from error
    except (ValueError, LookupError, TypeError, AttributeError, StopIteration) as error:
        raise CorruptRecordingError("The shape of a recorded stream cannot be read.") from error


def equal_for_client(provider: str, original: Sequence[bytes], played: Sequence[bytes]) -> bool:
    """Whether two streams are the same to a client: events, names, ids, comments and data, in order.

    Data that is JSON is compared as JSON (order and repetition of keys, 1 and 1.0 told apart), without the padding
    that its provider declares to be noise. A half event at the end has to be equal byte for byte.
    """
    one, two = b"".join(original), b"".join(played)
    return one == two or _see(provider, one) == _see(provider, two)


def _see(provider: str, data: bytes) -> Any:
    noise = _NOISE.get(provider)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{"):
        try:
            blocks, tail = split_stream(data)
        except Unmergeable:
            return data
        closed = (tail.drop, tail.extra, tail.rest) if tail else None
        return [(block.before, _see_data(render(block)[len(block.before) :], noise)) for block in blocks], closed
    parser = SseParser()
    events = [msgspec.structs.replace(event, data=_see_data(event.data, noise)) for event in parser.feed(data)]
    return events, parser.tail


def _see_data(data: str | None, noise: str | None) -> str | None:
    """JSON data in one way of writing, with every pair of every object in its place."""
    if data is None:
        return None
    try:
        value = json.loads(data, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return data
    if noise is not None and type(value) is _Pairs:
        value = _Pairs([pair for pair in value.pairs if pair[0] != noise])
    return json.dumps(value, default=lambda value: {"pairs": value.pairs})


class _Pairs:
    """An object with every pair it was written with."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs
