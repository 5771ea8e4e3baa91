"""The format of answers to requests that are not calls to a model: plain text and plain JSON."""

from __future__ import annotations

from playhead.providers.writing._answers import Fail, Spoken, Text
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Request
from playhead.providers.writing._turns import Turn
from playhead.providers.writing._turns import make_turn as _make_turn
from playhead.providers.writing._wire_format import encode_json, encode_sse, fail_message

__all__ = [
    "make_headers",
    "make_turn",
    "stream_type",
    "write_error",
    "write_error_event",
    "write_events",
    "write_plain",
]


def make_headers(request: Request, mint: Mint) -> dict[str, str]:
    return {"x-request-id": mint.hex(32)}


def make_turn(answer: Spoken, request: Request, mint: Mint) -> Turn:
    if not isinstance(answer, Text):
        raise ValueError(f"{type(answer).__name__} is an answer of a model, and this request is not for one")
    return _make_turn(answer, request, mint, id_prefix="call_")


def write_plain(turn: Turn, request: Request, mint: Mint) -> bytes:
    return turn.words.encode()


def write_events(turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
    return [encode_sse(encode_json(piece).decode()) for piece in turn.pieces]


def write_error(fail: Fail, mint: Mint) -> bytes:
    return encode_json({"error": {"status": fail.status, "message": fail_message(fail), "code": fail.code}})


def write_error_event(fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
    return encode_sse({"error": {"status": fail.status, "message": fail_message(fail)}})


def stream_type(request: Request) -> str:
    return "text/event-stream"
