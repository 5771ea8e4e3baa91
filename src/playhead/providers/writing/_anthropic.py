"""The wire format of Anthropic's messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from playhead.providers.writing._answers import Fail, Spoken
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Request
from playhead.providers.writing._turns import Call, Turn
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

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def make_headers(request: Request, mint: Mint) -> dict[str, str]:
    return {
        "request-id": f"req_01{mint.letters(22)}",
        "anthropic-organization-id": "00000000-0000-4000-8000-000000000000",
        "anthropic-ratelimit-requests-limit": "4000",
        "anthropic-ratelimit-requests-remaining": str(3000 + mint.below(1000)),
        "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
        "via": "1.1 google",
    }


def make_turn(answer: Spoken, request: Request, mint: Mint) -> Turn:
    return _make_turn(answer, request, mint, id_prefix="toolu_01", version_suffix="-20250929")


def write_plain(turn: Turn, request: Request, mint: Mint) -> bytes:
    content = [_text_block(turn.words)] if turn.words else []
    content += [_tool_block(call, _input(call)) for call in turn.calls]
    usage = {**_input_usage(turn), "output_tokens": turn.usage.output_tokens, **_TIER}
    return encode_json({**_frame(turn, mint), "content": content, **_stop(turn), "usage": usage})


def write_events(turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
    return [
        encode_sse(_pad(data, mint.below(16) if padding else 0), event=data["type"]) for data in _events(turn, mint)
    ]


def write_error(fail: Fail, mint: Mint) -> bytes:
    return encode_json(_error(fail, mint))


def write_error_event(fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
    return encode_sse(_error(fail, mint), event="error")


def stream_type(request: Request) -> str:
    return "text/event-stream; charset=utf-8"


_TIER = {"service_tier": "standard", "inference_geo": "global"}
_NOT_STOPPED = {"stop_reason": None, "stop_sequence": None, "stop_details": None}


def _events(turn: Turn, mint: Mint) -> Iterator[dict[str, Any]]:
    usage = {**_input_usage(turn), "output_tokens": 1, **_TIER}
    yield {"type": "message_start", "message": {**_frame(turn, mint), "content": [], **_NOT_STOPPED, "usage": usage}}
    index = 0
    if turn.words:
        yield {"type": "content_block_start", "index": index, "content_block": _text_block("")}
        yield {"type": "ping"}
        for piece in turn.pieces:
            yield _delta(index, {"type": "text_delta", "text": piece})
        yield {"type": "content_block_stop", "index": index}
        index += 1
    for call in turn.calls:
        yield {"type": "content_block_start", "index": index, "content_block": _tool_block(call, {})}
        for piece in ["", *call.pieces]:
            yield _delta(index, {"type": "input_json_delta", "partial_json": piece})
        yield {"type": "content_block_stop", "index": index}
        index += 1
    counted = {**_input_usage(turn), "output_tokens": turn.usage.output_tokens}
    counted.pop("cache_creation")
    yield {"type": "message_delta", "delta": _stop(turn), "usage": counted}
    yield {"type": "message_stop"}


def _delta(index: int, delta: dict[str, str]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _pad(data: dict[str, Any], spaces: int) -> str:
    """The event with white space before its last brace, which the real service adds to hide lengths."""
    return encode_json(data).decode("utf-8", "surrogatepass")[:-1] + " " * spaces + "}"


def _frame(turn: Turn, mint: Mint) -> dict[str, Any]:
    return {"model": turn.model, "id": f"msg_01{mint.letters(22)}", "type": "message", "role": "assistant"}


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _tool_block(call: Call, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments, "caller": {"type": "direct"}}


def _input(call: Call) -> Any:
    found = json.loads(call.arguments)
    if not isinstance(found, dict):
        raise ValueError(f"an Anthropic answer that is not streamed cannot hold these arguments: {call.arguments}")
    return found


def _stop(turn: Turn) -> dict[str, Any]:
    if turn.refusal is not None:
        details = {"type": "refusal", "category": None, "explanation": None}
        return {"stop_reason": "refusal", "stop_sequence": None, "stop_details": details}
    reason = {"length": "max_tokens"}.get(turn.finish, "tool_use" if turn.calls else "end_turn")
    return {"stop_reason": reason, "stop_sequence": None, "stop_details": None}


def _input_usage(turn: Turn) -> dict[str, Any]:
    """Anthropic counts what came from the cache, and what was written to it, beside the input and not in it."""
    usage = turn.usage
    return {
        "input_tokens": usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_input_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_tokens,
            "ephemeral_1h_input_tokens": 0,
        },
    }


def _error(fail: Fail, mint: Mint) -> dict[str, Any]:
    kind = fail.code or _ERROR_TYPES.get(fail.status, "api_error")
    return {
        "type": "error",
        "error": {"type": kind, "message": fail_message(fail)},
        "request_id": f"req_01{mint.letters(22)}",
    }
