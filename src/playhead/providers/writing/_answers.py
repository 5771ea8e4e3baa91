"""What a scripted model server can be told to answer.

An answer says what the model says, never in which format: the server writes it in the format of the request
it replies to, and as a stream when the request asks for one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

__all__ = ["Answer", "Drop", "Fail", "Raw", "Refusal", "Text", "ToolCall", "ToolCalls", "Usage"]

Finish = Literal["stop", "length", "content_filter"]


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens, as a person counts them: the input includes what came from a cache, the output what was thought."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer can say about how it travels.

    ``delay`` and ``chunk_delay`` are seconds before the head and before each event of a stream. ``drop_after=n``
    closes the connection after n events (a plain body counts as one: 0 cuts between head and body, 1 in the
    middle of the body); with ``rst`` it is reset instead of closed, with ``hang`` it goes silent. ``hang`` alone
    never sends a byte; a silent connection is let go when the server closes. ``error_event_after=n`` ends a
    stream with an error event after n events, inside its 200. ``headers`` are added, or replace those of the
    same name.
    """

    delay: float = 0.0
    chunk_delay: float = 0.0
    drop_after: int | None = None
    rst: bool = False
    hang: bool = False
    error_event_after: int | None = None
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


class Spoken(Answer, frozen=True, kw_only=True):
    """An answer in which the model says something.

    ``stream_pieces`` says how the text is cut in a stream: a number of code points, or the pieces themselves
    (for `Text` and `Refusal`); by default as a tokenizer might. ``model_version`` is the version the answer
    names. Without ``usage`` the tokens are counted roughly from the texts.
    """

    usage: Usage | None = None
    stream_pieces: int | Sequence[str] | None = None
    model_version: str | None = None


class Text(Spoken, frozen=True):
    """The model says ``text``; ``finish`` is why it stopped."""

    text: str
    finish: Finish = "stop"


class Refusal(Spoken, frozen=True):
    """The model declines, with these words."""

    text: str


class ToolCall(msgspec.Struct, frozen=True):
    """One call the model wants made. ``arguments`` as a string is sent as it stands, sound JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str
    id: str | None = None

    @property
    def arguments_text(self) -> str:
        """The arguments as the JSON text that goes over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


class ToolCalls(Spoken, frozen=True):
    """The model asks for tools, perhaps with some words before. With ``finish="length"`` the last of them broke off."""

    calls: Sequence[ToolCall]
    text: str | None = None
    finish: Finish = "stop"


class Fail(Answer, frozen=True):
    """An HTTP error with a body in the provider's own format.

    ``code`` is the provider's word for it, such as ``rate_limit_exceeded``; the usual one for the status by default.
    """

    status: int
    message: str | None = None
    code: str | None = None


class Drop(Answer, frozen=True):
    """The connection goes away without a byte of an answer."""


class Raw(Answer, frozen=True):
    """Exactly these bytes. ``chunks`` are sent as HTTP chunks, ``delays`` are the seconds before each of them."""

    status: int = 200
    body: bytes | str | None = None
    chunks: Sequence[bytes] | None = None
    delays: Sequence[float] = ()
