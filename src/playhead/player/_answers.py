"""From a recorded answer to the outcome that the program is given."""

from __future__ import annotations

import msgspec

from playhead.boundary import HttpHead, Outcome, Raised, Returned, Streamed
from playhead.errors import ValueRefusedError
from playhead.events import (
    BoundaryAnswered,
    BoundaryFailed,
    Event,
    ModelFailed,
    ModelResponded,
    ToolFailed,
    ToolReturned,
    decode,
    decode_error,
)
from playhead.providers import decode_content


def outcome_of(answer: Event) -> Outcome:
    """What the program is given for this answer, built afresh each time.

    Raises `MissingTypeError` where a value's class is not imported, `ValueRefusedError` where it is damaged.
    """
    body = answer.body
    match body:
        case ToolReturned(items=None) if type(body) is ToolReturned:
            return Returned(decode(body.value))
        case ModelResponded() | BoundaryAnswered() if body.status is not None:
            return _http(body)
        case (
            ModelFailed(error=error, items=None)
            | ToolFailed(error=error, items=None)
            | BoundaryFailed(error=error, items=None)
        ) if error is not None:
            return Raised(decode_error(error))
        case ToolReturned(items=list()) | BoundaryAnswered(items=list()) | ModelResponded(items=list()):
            return _items(body)
        case ToolReturned() | BoundaryAnswered():
            return Returned(decode(body.value))
        case ModelResponded():
            return Returned(decode(body.content))
        case _:
            raise ValueRefusedError(f"event {answer.seq} ({answer.kind}) is not an answer")


def _items(body: ToolReturned | BoundaryAnswered | ModelResponded) -> Streamed:
    error, value = getattr(body, "error", None), getattr(body, "value", None)
    return Streamed(
        None,
        [decode(item) for item in body.items or ()],
        _nanos(body.gaps),
        body.end,
        decode_error(error) if error is not None else None,
        decode(value) if value is not None else None,
        _turns(body.piece_turns),
    )


def _http(body: ModelResponded | BoundaryAnswered) -> Streamed:
    pieces = decode_content(body.content) if body.content is not None else []
    error = getattr(body, "error", None)
    head = HttpHead(
        status=body.status or 0,
        headers=_with_length(body.headers, sum(map(len, pieces)), whole=body.end == "complete"),
        version=body.protocol.get("version", "HTTP/1.1"),
        reason=body.protocol.get("reason", ""),
    )
    cut = decode_error(error) if error is not None else None
    found = Streamed(head, pieces, _nanos(body.gaps), body.end, cut, turns=_turns(body.piece_turns))
    if not body.head_after:
        return found
    after, *turns = body.head_after
    return msgspec.structs.replace(found, head_ns=after * 1000, head_turns=turns)


def _with_length(headers: list[tuple[str, str]], length: int, *, whole: bool) -> tuple[tuple[str, str], ...]:
    """The headers with the length that the body has now: a masked body may be longer than it was."""
    return tuple(
        (name, str(length) if whole and length and name.lower() == "content-length" else value)
        for name, value in headers
    )


def _nanos(gaps: list[int]) -> list[int]:
    return [gap * 1000 for gap in gaps]


def _turns(counted: list[list[int]]) -> list[list[int]]:
    return [turns for number, *turns in counted for _ in range(number)]
