"""The wire format of Gemini's generateContent and streamGenerateContent."""

from __future__ import annotations

import json
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

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def make_headers(request: Request, mint: Mint) -> dict[str, str]:
    return {
        "vary": "Origin, X-Origin, Referer",
        "server-timing": f"gfet4t7; dur={200 + mint.below(900)}",
        "x-content-type-options": "nosniff",
        "alt-svc": 'h3=":443"; ma=2592000,h3-29=":443"; ma=2592000',
    }


def make_turn(answer: Spoken, request: Request, mint: Mint) -> Turn:
    return _make_turn(answer, request, mint, id_prefix="")


def write_plain(turn: Turn, request: Request, mint: Mint) -> bytes:
    parts = [{"text": turn.text}] if turn.text else []
    parts += [_call_part(call, mint) for call in turn.calls]
    candidate = {**_content(parts), **_end(turn), **_logprobs(turn, request, mint)}
    return encode_json({"candidates": [candidate], **_frame(turn, mint, produced=turn.usage.output_tokens)})


def write_events(turn: Turn, request: Request, mint: Mint, *, padding: bool) -> list[bytes]:
    texts = turn.pieces if turn.text else []
    parts = [{"text": piece} for piece in texts] + [_call_part(call, mint) for call in turn.calls]
    frame = _frame(turn, mint, produced=0)
    answers = []
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        produced = turn.usage.output_tokens if last else min(number, turn.usage.output_tokens)
        usage = {"usageMetadata": _usage(turn, produced=produced)}
        candidate = {**_content([part]), **(_end(turn) if last else {"index": 0})}
        answers.append({"candidates": [candidate], **frame | usage})
    if not answers:
        usage = {"usageMetadata": _usage(turn, produced=turn.usage.output_tokens)}
        answers.append({"candidates": [{**_content([]), **_end(turn)}], **frame | usage})
    if _is_sse(request):
        return [encode_sse(answer, end="\r\n") for answer in answers]
    marks = ["["] + [",\r\n"] * (len(answers) - 1)
    listed = [mark.encode() + encode_json(answer) for mark, answer in zip(marks, answers, strict=True)]
    return [*listed, b"]"]


def write_error(fail: Fail, mint: Mint) -> bytes:
    return json.dumps(_error(fail), indent=2).encode()


def write_error_event(fail: Fail, request: Request, mint: Mint, *, number: int) -> bytes:
    if _is_sse(request):
        return encode_sse(_error(fail), end="\r\n")
    return (b",\r\n" if number else b"[") + encode_json(_error(fail)) + b"]"


def stream_type(request: Request) -> str:
    return "text/event-stream" if _is_sse(request) else "application/json; charset=UTF-8"


def _is_sse(request: Request) -> bool:
    """Without ``alt=sse`` a stream is one JSON array that arrives piece by piece."""
    return request.query.get("alt") == ["sse"]


def _content(parts: list[Any]) -> dict[str, Any]:
    return {"content": {"parts": parts, "role": "model"}} if parts else {}


def _end(turn: Turn) -> dict[str, Any]:
    if turn.refusal is not None:
        return {"finishReason": "SAFETY", "index": 0, "finishMessage": turn.refusal}
    if turn.calls:
        return {"finishReason": "STOP", "index": 0, "finishMessage": "Model generated function call(s)."}
    return {"finishReason": _FINISH[turn.finish], "index": 0}


def _call_part(call: Call, mint: Mint) -> dict[str, Any]:
    arguments = json.loads(call.arguments)
    if not isinstance(arguments, dict):
        raise ValueError(f"a Gemini answer cannot hold these arguments: {call.arguments}")
    function = {"name": call.name, "args": arguments, "id": call.id}
    return {"functionCall": function, "thoughtSignature": mint.base64(48)}


def _frame(turn: Turn, mint: Mint, *, produced: int) -> dict[str, Any]:
    return {
        "usageMetadata": _usage(turn, produced=produced),
        "modelVersion": turn.model,
        "responseId": mint.letters(22),
    }


def _usage(turn: Turn, *, produced: int) -> dict[str, Any]:
    """Gemini counts what was thought beside the candidates and not in them; the cached part is in the prompt."""
    usage = turn.usage
    counted: dict[str, Any] = {
        "promptTokenCount": usage.input_tokens,
        "candidatesTokenCount": max(0, produced - usage.reasoning_tokens),
        "totalTokenCount": usage.input_tokens + max(produced, usage.reasoning_tokens),
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input_tokens}],
    }
    if usage.cached_input_tokens:
        counted["cachedContentTokenCount"] = usage.cached_input_tokens
        counted["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cached_input_tokens}]
    if usage.reasoning_tokens:
        counted["thoughtsTokenCount"] = usage.reasoning_tokens
    return counted


def _logprobs(turn: Turn, request: Request, mint: Mint) -> dict[str, Any]:
    config = request.fields.get("generationConfig") or {}
    if config.get("responseLogprobs") is not True or not turn.text:
        return {}
    found = [-(mint.below(10**6) / 10**6) for _ in turn.pieces]
    chosen = [{"token": piece, "logProbability": value} for piece, value in zip(turn.pieces, found, strict=True)]
    return {"avgLogprobs": sum(found) / len(found), "logprobsResult": {"chosenCandidates": chosen}}


def _error(fail: Fail) -> dict[str, Any]:
    status = fail.code or _STATUSES.get(fail.status, "UNKNOWN")
    return {"error": {"code": fail.status, "message": fail_message(fail), "status": status}}
