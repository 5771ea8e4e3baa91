"""Requests and answers of models as a conversation, whichever wire format they are in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playhead.providers._content import read_json
from playhead.providers._requests import list_request_parts, tool_names
from playhead.providers._tool_calls import read_tool_calls

__all__ = ["read_answer", "read_conversation", "read_parameters", "read_text"]

_TEXTS: Final = ("text", "refusal", "thinking", "output_text", "input_text", "summary_text")
_ANSWERS: Final = ("choices", "output", "content", "candidates")


def read_conversation(provider: str, request: Any) -> list[tuple[str, str]]:
    """Who said what in a request, in order: pairs of role and text. Never raises for odd requests."""
    if not isinstance(request, dict):
        return [("request", read_text(request))]
    parts = list_request_parts(provider)
    said: list[tuple[str, str]] = []
    for key in parts["system"]:
        if key in request:
            said.append(("system", read_text(request[key])))
    for key in parts["conversation"]:
        turns = request.get(key)
        if isinstance(turns, str):
            said.append(("user", turns))
        for turn in turns if isinstance(turns, list) else ():
            said.append((_role(turn), read_text(turn)))
    return said


def read_parameters(provider: str, request: Any) -> dict[str, Any]:
    """What else a request says: temperature and the like, and the names of the tools."""
    if not isinstance(request, dict):
        return {}
    parts = list_request_parts(provider)
    spoken = {*parts["conversation"], *parts["system"], *parts["tools"]}
    rest = {key: value for key, value in request.items() if key not in spoken}
    names = tool_names(provider, request)
    return {**rest, "tools": names} if names else rest


def read_answer(provider: str, content: Any) -> tuple[str, list[str]]:
    """What a model's answer says: its text, and the tool calls that it asks for."""
    said = read_json(content) if isinstance(content, dict) else content
    calls = [f"{call.name}({call.arguments})" for call in read_tool_calls(provider, said)]
    if not isinstance(said, dict):
        plain = content.get("text") if isinstance(content, dict) else None
        return read_text(plain if plain is not None else said), calls
    found = next((said[key] for key in _ANSWERS if key in said), None)
    return (read_text(found, calls=False) if found is not None else read_text(said)), calls


def read_text(content: Any, *, calls: bool = True) -> str:
    """The text in the content of a message, whatever its form; what is not text is named."""
    return "\n".join(piece for piece in _texts(content, 0, calls=calls) if piece)


def _texts(content: Any, depth: int, *, calls: bool) -> Iterator[str]:
    if content is None or depth > 40:
        return
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for item in content:
            yield from _texts(item, depth + 1, calls=calls)
    elif isinstance(content, dict):
        yield from _block(content, depth, calls=calls)
    else:
        yield str(content)


def _block(block: dict[str, Any], depth: int, *, calls: bool) -> Iterator[str]:
    kind = block.get("type")
    call = block.get("functionCall") or block.get("function_call")
    if kind in ("tool_use", "function_call", "custom_tool_call") or isinstance(call, dict):
        if calls:
            call = call if isinstance(call, dict) else block
            yield f"→ {call.get('name')}({_plain(call.get('arguments', call.get('args', call.get('input'))))})"
        return
    found = False
    for key in (*_TEXTS, "message", "content", "parts", "output", "summary"):
        if key in block:
            found = True
            yield from _texts(block[key], depth + 1, calls=calls)
    result = block.get("functionResponse") or block.get("function_response")
    if isinstance(result, dict):
        yield _plain(result.get("response"))
    elif not found and kind is not None:
        yield f"[{kind}]"
    for asked in block.get("tool_calls") or () if calls else ():
        function = asked.get("function", asked) if isinstance(asked, dict) else {}
        yield f"→ {function.get('name')}({_plain(function.get('arguments', function.get('input')))})"


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    import json

    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _role(turn: Any) -> str:
    if not isinstance(turn, dict):
        return "user"
    role = str(turn.get("role") or turn.get("type") or "user")
    call = turn.get("tool_call_id") or turn.get("call_id")
    return f"{role} {call}" if call else role
