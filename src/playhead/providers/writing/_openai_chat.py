"""The wire format of OpenAI's chat completions, which many other servers speak too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playhead.providers.writing._answers import Fail, Spoken
from playhead.providers.writing._minting import Mint
from playhead.providers.writing._requests import Request
from playhead.providers.writing._turns import Turn
from playhead.providers.writing._turns import make_turn as _make_turn
from playhead.providers.writing._wire_format import encode_json, encode_sse, fail_message

__all__ = [
    "make_headers",
    "make_logprobs",
    "make_turn",
    "stream_type",
    "write_error",
    "write_error_event",
    "write_events",
    "write_plain",
]

_ERROR_TYPES = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def make_headers(request: Request, mint: Mint) -> dict[str, str]:
    return {
        "x-request-id": f"req_{mint.hex(32)}",
        "openai-version": "2020-10-01",
        "openai-organization": "playhead-testing",
        "openai-processing-ms": str(200 + mint.below(900)),
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-remaining-requests": str(9000 + mint.below(1000)),
        "x-ratelimit-reset-requests": "6ms",
        "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    }


def make_turn(answer: Spoken, request: Request, mint: Mint) -> Turn:
    return _make_turn(answer, request, mint, id_prefix="call_", version_suffix="-2024-08-06")


def write_plain(turn: Turn, request: Request, mint: Mint) -> bytes:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    message |= {"refusal": turn.refusal, "annotations": []}
    choice = {
        "index": 0,
        "message": message,
        "logprobs": _logprobs(turn.pieces, turn, request, mint),
        "finish_reason": _finish(turn),
    }
    frame = _frame(turn, mint, kind="chat.completion")
    return encode_json(
        {**frame, "choices": [choice], "usage": _usage(turn), "service_tier": "default", **_fingerprint(mint)}
    )


def write_events(turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
    options = request.fields.get("stream_options") or {}
    with_usage = options.get("include_usage") is True
    padding = padding and options.get("include_obfuscation") is not False
    frame = {
        **_frame(turn, mint, kind="chat.completion.chunk"),
        "service_tier": "default",
        **_fingerprint(mint),
    }

    def chunk(choices: list[Any], *, usage: Any = None) -> bytes:
        data = {**frame, "choices": choices}
        if with_usage:
            data["usage"] = usage
        if padding:
            data["obfuscation"] = mint.letters(1 + mint.below(14))
        return encode_sse(data)

    events = [
        chunk([{"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": None}])
        for delta, logprobs in _deltas(turn, request, mint)
    ]
    events.append(chunk([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": _finish(turn)}]))
    if with_usage:
        events.append(chunk([], usage=_usage(turn)))
    events.append(encode_sse("[DONE]"))
    return events


def _deltas(turn: Turn, request: Request, mint: Mint) -> Iterator[tuple[dict[str, Any], Any]]:
    field = "refusal" if turn.refusal is not None else "content"
    yield {"role": "assistant", "content": "" if turn.text is not None else None, "refusal": None}, None
    for piece in turn.pieces:
        yield {field: piece}, _logprobs([piece], turn, request, mint)
    for index, call in enumerate(turn.calls):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}, None
        for piece in call.pieces:
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None


def write_error(fail: Fail, mint: Mint) -> bytes:
    return encode_json({"error": _error(fail)})


def write_error_event(fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
    return encode_sse({"error": _error(fail)})


def stream_type(request: Request) -> str:
    return "text/event-stream; charset=utf-8"


def make_logprobs(pieces: list[str], mint: Mint, *, alternatives: int) -> list[dict[str, Any]]:
    """Made-up log-probabilities, one for each piece, with so many alternatives for each."""

    def entry(token: str) -> dict[str, Any]:
        return {"token": token, "logprob": -(mint.below(10**6) / 10**6), "bytes": list(token.encode())}

    return [{**entry(piece), "top_logprobs": [entry(piece) for _ in range(alternatives)]} for piece in pieces]


def _logprobs(pieces: list[str], turn: Turn, request: Request, mint: Mint) -> Mapping[str, Any] | None:
    if request.fields.get("logprobs") is not True or not pieces:
        return None
    found = make_logprobs(pieces, mint, alternatives=request.fields.get("top_logprobs") or 0)
    return {"content": None, "refusal": found} if turn.refusal is not None else {"content": found, "refusal": None}


def _frame(turn: Turn, mint: Mint, *, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{mint.letters(29)}", "object": kind, "created": mint.seconds(), "model": turn.model}


def _fingerprint(mint: Mint) -> dict[str, str]:
    return {"system_fingerprint": f"fp_{mint.hex(10)}"}


def _finish(turn: Turn) -> str:
    return "tool_calls" if turn.calls and turn.finish == "stop" else turn.finish


def _usage(turn: Turn) -> dict[str, Any]:
    usage = turn.usage
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_input_tokens, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _error(fail: Fail) -> dict[str, Any]:
    kind, code = _ERROR_TYPES.get(fail.status, ("server_error", None))
    return {"message": fail_message(fail), "type": kind, "param": None, "code": fail.code or code}
