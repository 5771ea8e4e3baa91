"""An answer made ready for any wire format: texts cut in pieces, calls with ids, tokens counted."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from playhead.providers.writing._answers import Finish, Refusal, Spoken, Text, ToolCalls, Usage
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Request

__all__ = ["Call", "Turn", "cut", "make_turn"]

_TOKEN = re.compile(r"\s*\w{1,8}|\s*[^\w\s]{1,3}|\s+")


class Call(msgspec.Struct, frozen=True):
    """A tool call with its id and the pieces its arguments arrive in."""

    id: str
    name: str
    arguments: str
    pieces: list[str]


class Turn(msgspec.Struct, frozen=True):
    """What the model says in one answer."""

    text: str | None
    refusal: str | None
    pieces: list[str]
    calls: list[Call]
    finish: Finish
    usage: Usage
    model: str

    @property
    def words(self) -> str:
        """What is said, be it text or refusal."""
        return self.text or self.refusal or ""


def make_turn(answer: Spoken, request: Request, mint: Mint, *, id_prefix: str, version_suffix: str = "") -> Turn:
    """``answer`` with everything filled in that it left open."""
    text = answer.text if isinstance(answer, Text | ToolCalls) else None
    refusal = answer.text if isinstance(answer, Refusal) else None
    pieces = cut(text or refusal or "", answer.stream_pieces)
    calls = [
        Call(
            call.id if call.id is not None else id_prefix + mint.letters(24),
            call.name,
            call.arguments_text,
            cut(call.arguments_text, answer.stream_pieces if isinstance(answer.stream_pieces, int) else None),
        )
        for call in (answer.calls if isinstance(answer, ToolCalls) else ())
    ]
    counted = Usage(
        input_tokens=max(1, len(request.body) // 4),
        output_tokens=max(1, len(pieces) + sum(len(call.pieces) for call in calls)),
    )
    finish = answer.finish if isinstance(answer, Text | ToolCalls) else "stop"
    model = answer.model_version or _version(request.model or "unnamed", version_suffix)
    return Turn(text, refusal, pieces, calls, finish, answer.usage or counted, model)


def cut(text: str, pieces: int | Sequence[str] | None) -> list[str]:
    """``text`` in the pieces a stream brings it in; joined they are ``text`` again."""
    if isinstance(pieces, int):
        return [text[start : start + pieces] for start in range(0, len(text), pieces)]
    if pieces is not None:
        if "".join(pieces) != text:
            raise ValueError("stream_pieces, joined, are not the text of the answer")
        return list(pieces)
    return _TOKEN.findall(text)


def _version(model: str, suffix: str) -> str:
    """A model's name as answers give it: an alias comes back as a dated version."""
    return model if re.search(r"\d{4}-?\d{2}-?\d{2}$", model) else model + suffix
