"""What goes wrong with providers and tools, by name: what each of them sends then."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import msgspec

from playhead.editing._edits import FaultName
from playhead.editing._wire import Speaker
from playhead.errors import UsageError
from playhead.events import encode as encode_value
from playhead.events import snapshot_error
from playhead.providers import read_json, read_tool_calls, tool_names
from playhead.providers.writing import Refusal, Reply, Text, ToolCall, ToolCalls

_RATE_LIMITED: Final = {
    "openai.chat": ("Rate limit reached for requests. Please try again in 20s.", "rate_limit_exceeded"),
    "openai.responses": ("Rate limit reached for requests. Please try again in 20s.", "rate_limit_exceeded"),
    "anthropic.messages": ("This request would exceed your organization's rate limit.", None),
    "gemini.generate": ("You exceeded your current quota. Please retry in 20s.", None),
}
_OVERLOADED: Final = {
    "openai.chat": (503, "The engine is currently overloaded, please try again later."),
    "openai.responses": (503, "The engine is currently overloaded, please try again later."),
    "anthropic.messages": (529, "Overloaded"),
    "gemini.generate": (503, "The model is overloaded. Please try again later."),
}
_EXPIRED: Final = {
    "openai.chat": (401, "Your authentication token has expired. Please try signing in again.", "token_expired"),
    "openai.responses": (401, "Your authentication token has expired. Please try signing in again.", "token_expired"),
    "anthropic.messages": (401, "OAuth token has expired. Please obtain a new token.", None),
    "gemini.generate": (400, "API key expired. Please renew the API key.", None),
}
_RETRY_AFTER: Final = "20"
_REFUSED: Final = "I'm sorry, but I can't help with that."
_CUT_SHARE: Final = 2


def write_fault(name: FaultName, speaker: Speaker) -> tuple[str, Any]:
    """The kind of event and its body for an HTTP exchange in which this goes wrong."""
    if name == "timeout":
        return speaker.broken(encode_value(snapshot_error(TimeoutError("timed out"))))
    reply = _WRITERS[name](speaker)
    more = [("retry-after", _RETRY_AFTER)] if name == "rate_limited" else []
    return speaker.body(reply, more=more)


def _provider(speaker: Speaker) -> str:
    return speaker.model.provider if speaker.model is not None else "http"


def _rate_limited(speaker: Speaker) -> Reply:
    message, code = _RATE_LIMITED.get(_provider(speaker), ("Too many requests.", None))
    if _provider(speaker) == "gemini.generate":
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{_RETRY_AFTER}s"}]
        return _gemini_error(speaker, 429, message, "RESOURCE_EXHAUSTED", details)
    return speaker.error(429, message=message, code=code)


def _overloaded(speaker: Speaker) -> Reply:
    status, message = _OVERLOADED.get(_provider(speaker), (503, "Service unavailable."))
    return speaker.error(status, message=message)


def _auth_expired(speaker: Speaker) -> Reply:
    status, message, code = _EXPIRED.get(_provider(speaker), (401, "The token has expired.", None))
    if _provider(speaker) == "gemini.generate":
        domain = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **domain}]
        return _gemini_error(speaker, status, message, "INVALID_ARGUMENT", details)
    return speaker.error(status, message=message, code=code)


def _gemini_error(speaker: Speaker, status: int, message: str, word: str, details: list[Any]) -> Reply:
    error = {"code": status, "message": message, "status": word, "details": details}
    return speaker.raw(status, json.dumps({"error": error}, indent=2).encode(), "application/json; charset=UTF-8")


def _malformed_json(speaker: Speaker) -> Reply:
    """What came breaks off in the middle of its JSON, as behind a proxy that cuts, and says that it is whole."""
    pieces = speaker.pieces
    recorded = speaker.recorded
    if recorded is None or (recorded.status or 0) >= 400 or not pieces:
        pieces = speaker.write(Text("{}")).pieces if speaker.model is not None else [b'{"items": [{"id": 1}, {"id"']
    streamed = speaker.model is not None and speaker.model.stream
    if not streamed:
        whole = b"".join(pieces)
        return speaker.raw(200, whole[: max(1, len(whole) // _CUT_SHARE)], speaker.header("content-type") or _JSON)
    events = b"".join(pieces)
    mark = b"\r\n\r\n" if b"\r\n\r\n" in events else b"\n\n"
    blocks = events.split(mark)
    if len(blocks) < _CUT_SHARE:  # a stream that is one list of JSON
        return speaker.raw(200, events[: max(1, len(events) // _CUT_SHARE)], _JSON, streamed=True)
    kept = blocks[: max(1, (len(blocks) - 1) // _CUT_SHARE)]
    last = kept[-1]
    cut = last[: (len(last) + last.find(b"data: ")) // _CUT_SHARE]
    kind = speaker.header("content-type") or "text/event-stream"
    return speaker.raw(200, mark.join([*kept[:-1], cut, b""]), kind, streamed=True)


_JSON = "application/json"


def _truncated_arguments(speaker: Speaker) -> Reply:
    """The model reaches its limit of tokens in the middle of a tool call's arguments."""
    name, arguments = _call(speaker)
    provider, stream = _provider(speaker), speaker.model is not None and speaker.model.stream
    if provider == "gemini.generate":
        text = f"Malformed function call: {name}({json.dumps(arguments)[:-_CUT_SHARE]}"
        return _gemini_answer(speaker, {"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": text})
    if provider == "anthropic.messages" and not stream:
        # On this wire arguments are an object: it holds what was whole when the limit was reached.
        whole: Any = dict(list(arguments.items())[:-1])
    else:
        text = json.dumps(arguments, separators=(",", ":"))
        whole = text[: max(1, len(text) * 2 // 3)]
    return speaker.write(ToolCalls([ToolCall(name, whole)], finish="length"))


def _refusal(speaker: Speaker) -> Reply:
    if _provider(speaker) == "gemini.generate":
        return _gemini_answer(speaker, None)
    return speaker.write(Refusal(_REFUSED))


def _gemini_answer(speaker: Speaker, end: dict[str, Any] | None) -> Reply:
    """An answer of Gemini's without any content; without an ``end`` the prompt was blocked."""
    empty = speaker.write(Text(""))
    text = b"".join(empty.pieces)
    stream = speaker.model is not None and speaker.model.stream
    sse = stream and "event-stream" in empty.headers["content-type"]
    frame = json.loads(text.strip().removeprefix(b"data: ") if sse else text)
    frame = frame[0] if isinstance(frame, list) else frame
    if end is None:
        frame.pop("candidates", None)
        frame["promptFeedback"] = {"blockReason": "SAFETY"}
    else:
        frame["candidates"] = [{"content": {}, **end, "index": 0}]
    said = msgspec.json.encode(frame)
    body = b"data: %b\r\n\r\n" % said if sse else b"[%b]" % said if stream else said
    return speaker.raw(200, body, empty.headers["content-type"], streamed=stream)


def _unknown_tool(speaker: Speaker) -> Reply:
    """The model asks for a tool that it was not offered."""
    name, arguments = _call(speaker)
    offered = set(tool_names(_provider(speaker), speaker.asked.request or {}))
    while name in offered:
        name += "_v2"
    return speaker.write(ToolCalls([ToolCall(name, arguments)]))


def _call(speaker: Speaker) -> tuple[str, dict[str, Any]]:
    """A tool call of the recorded answer, or one such as the request would allow."""
    provider: Any = _provider(speaker)
    said = read_json(speaker.recorded.content) if speaker.recorded is not None else None
    for call in read_tool_calls(provider, said) if said is not None else ():
        arguments = _object(call.arguments)
        if arguments:
            return call.name or "search", arguments
    offered = tool_names(provider, speaker.asked.request or {})
    return (offered or ["search"])[0], {"query": "what was asked for", "limit": 10}


def _object(arguments: Any) -> dict[str, Any]:
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _empty_answer(speaker: Speaker) -> Reply:
    if speaker.model is None:
        return speaker.raw(200, b"", speaker.header("content-type") or "text/plain; charset=utf-8")
    return speaker.write(Text(""))


_WRITERS: Final[dict[str, Callable[[Speaker], Reply]]] = {
    "auth_expired": _auth_expired,
    "empty_answer": _empty_answer,
    "malformed_json": _malformed_json,
    "overloaded": _overloaded,
    "rate_limited": _rate_limited,
    "refusal": _refusal,
    "truncated_arguments": _truncated_arguments,
    "unknown_tool": _unknown_tool,
}
_OF_MODELS: Final = ("refusal", "truncated_arguments", "unknown_tool")
_TOOL_ERRORS: Final[dict[str, BaseException]] = {
    "auth_expired": PermissionError("the credentials have expired"),
    "overloaded": ConnectionError("the service is overloaded"),
    "rate_limited": ConnectionError("too many requests"),
    "timeout": TimeoutError("timed out"),
}


def check_fault(name: FaultName, *, model: bool, what: str) -> None:
    """Raise `UsageError` where ``what`` cannot go wrong in this way."""
    if name in _OF_MODELS and not model:
        raise UsageError(f"{name} is a fault of a model, and {what} is none", next="playhead edit --help")


def tool_fault(name: FaultName, value: Any) -> tuple[Any, Any]:
    """What a tool gives, or else the tree of what it raises, where this goes wrong; ``value`` is what it gave."""
    if name in _TOOL_ERRORS:
        return None, encode_value(snapshot_error(_TOOL_ERRORS[name]))
    if name == "empty_answer":
        return type(value)() if isinstance(value, str | list | dict) and "$t" not in value else None, None
    text = value if isinstance(value, str) else json.dumps(value)
    return text[: max(1, len(text) // _CUT_SHARE)] if text.startswith(("{", "[")) else '{"items": [{"id', None
