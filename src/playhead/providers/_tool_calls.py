"""The tool calls a model asked for, with their arguments as they came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from playhead.providers._draft import look_up

__all__ = ["ToolCallSeen", "Verdict", "judge_arguments", "read_tool_calls"]

Verdict = Literal["ok", "not_json", "not_object", "duplicate_keys", "empty"]


class ToolCallSeen(msgspec.Struct, frozen=True):
    """A tool call. ``arguments`` is the model's text, to the character; ``verdict`` says what it is as JSON.

    Where the wire holds the arguments parsed (Anthropic, Gemini) they are written as JSON; the free text of a custom
    tool is always ``ok``.
    """

    id: str | None
    name: str
    arguments: str
    verdict: Verdict


def read_tool_calls(provider: str, response: Any) -> list[ToolCallSeen]:
    """The tool calls of a final response, in its order. Never raises, whatever the model wrote."""
    match provider:
        case "openai.chat":
            return list(_read_chat(response))
        case "openai.responses":
            return list(_read_responses(response))
        case "anthropic.messages":
            return list(_read_messages(response))
        case "gemini.generate":
            return list(_read_generate(response))
    return []


def _items(tree: Any, *path: str | int) -> Iterator[dict[str, Any]]:
    found = look_up(tree, path)
    if type(found) is list:
        yield from (item for item in found if type(item) is dict)


def _read_chat(response: Any) -> Iterator[ToolCallSeen]:
    for choice in _items(response, "choices"):
        for call in _items(choice, "message", "tool_calls"):
            if type(custom := call.get("custom")) is dict:
                yield _seen(call.get("id"), custom.get("name"), custom.get("input"), free=True)
            elif type(function := call.get("function")) is dict:
                yield _seen(call.get("id"), function.get("name"), function.get("arguments"))
        if type(function := look_up(choice, ("message", "function_call"))) is dict:
            yield _seen(None, function.get("name"), function.get("arguments"))


def _read_responses(response: Any) -> Iterator[ToolCallSeen]:
    for item in _items(response, "output"):
        match item.get("type"):
            case "function_call":
                yield _seen(item.get("call_id") or item.get("id"), item.get("name"), item.get("arguments"))
            case "mcp_call":
                yield _seen(item.get("id"), item.get("name"), item.get("arguments"))
            case "custom_tool_call":
                yield _seen(item.get("call_id") or item.get("id"), item.get("name"), item.get("input"), free=True)


def _read_messages(response: Any) -> Iterator[ToolCallSeen]:
    for block in _items(response, "content"):
        if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            yield _seen(block.get("id"), block.get("name"), block.get("input"))


def _read_generate(response: Any) -> Iterator[ToolCallSeen]:
    for candidate in _items(response, "candidates"):
        for part in _items(candidate, "content", "parts"):
            if type(call := part.get("functionCall")) is dict:
                yield _seen(call.get("id"), call.get("name"), call.get("args", {}))


def _seen(ident: Any, name: Any, arguments: Any, *, free: bool = False) -> ToolCallSeen:
    text = arguments if type(arguments) is str else "" if arguments is None else json.dumps(arguments)
    return ToolCallSeen(
        id=ident if type(ident) is str else None,
        name=name if type(name) is str else "",
        arguments=text,
        verdict="ok" if free else judge_arguments(text),
    )


class _Repeated(Exception):  # noqa: N818  (a verdict on its way out of the parser)
    pass


def _check_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Repeated
    return value


def judge_arguments(text: str) -> Verdict:
    """What the arguments of a call are as JSON. Numbers of any size and any nesting are no reason to raise."""
    if not text.strip():
        return "empty"
    try:
        value = json.loads(text, object_pairs_hook=_check_pairs, parse_int=str)
    except _Repeated:
        return "duplicate_keys"
    except (ValueError, RecursionError):
        return "not_json"
    return "ok" if type(value) is dict else "not_object"
