"""The parts of a request that replay compares: the conversation, the last thing the user said, the tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from playhead.providers._draft import look_up

__all__ = ["RequestParts", "final_user_turn", "list_request_parts", "tool_names"]


class RequestParts(TypedDict):
    """The top-level keys of a request that hold each part."""

    conversation: tuple[str, ...]
    system: tuple[str, ...]
    tools: tuple[str, ...]


_PARTS: Final[dict[str, RequestParts]] = {
    "openai.chat": {"conversation": ("messages",), "system": (), "tools": ("tools", "functions")},
    "openai.responses": {"conversation": ("input",), "system": ("instructions",), "tools": ("tools",)},
    "anthropic.messages": {"conversation": ("messages",), "system": ("system",), "tools": ("tools",)},
    "gemini.generate": {
        "conversation": ("contents",),
        "system": ("systemInstruction", "system_instruction"),
        "tools": ("tools",),
    },
}
_NONE: Final[RequestParts] = {"conversation": (), "system": (), "tools": ()}
_RESULTS: Final = ("tool_result", "mcp_tool_result", "web_search_tool_result")


def list_request_parts(provider: str) -> RequestParts:
    """Which keys of a provider's request hold what; nothing for a provider we do not know."""
    return _PARTS.get(provider, _NONE)


def final_user_turn(provider: str, request: Mapping[str, Any]) -> Any:
    """The content of the last message a person wrote, None where there is none.

    Results of tools travel in the user's name with some providers; they are not a turn of the user's.
    """
    keys = list_request_parts(provider)["conversation"]
    turns = next((request[key] for key in keys if key in request), None)
    if type(turns) is str:
        return turns
    for turn in reversed(turns if isinstance(turns, list | tuple) else ()):
        if type(turn) is str:
            return turn
        if isinstance(turn, Mapping) and turn.get("role", "user" if "parts" in turn else None) == "user":
            content = turn.get("parts" if provider == "gemini.generate" else "content")
            if not _is_results_only(content):
                return content
    return None


def _is_results_only(content: Any) -> bool:
    if not isinstance(content, list | tuple) or not content:
        return False
    return all(
        isinstance(part, Mapping)
        and (part.get("type") in _RESULTS or "functionResponse" in part or "function_response" in part)
        for part in content
    )


def tool_names(provider: str, request: Mapping[str, Any]) -> list[str]:
    """The names of the tools that a request offers, in its order; a built-in tool goes by its type."""
    names: list[str] = []
    for key in list_request_parts(provider)["tools"]:
        tools = request.get(key)
        for tool in tools if isinstance(tools, list | tuple) else ():
            if isinstance(tool, Mapping):
                names += _gemini_names(tool) if provider == "gemini.generate" else _names(tool)
    return names


def _names(tool: Mapping[str, Any]) -> list[str]:
    for path in (("function", "name"), ("custom", "name"), ("name",)):
        name = look_up(dict(tool), path)
        if type(name) is str:
            return [name]
    kind, label = tool.get("type"), tool.get("server_label")
    if type(kind) is not str:
        return []
    return [f"{kind}:{label}" if type(label) is str else kind]


def _gemini_names(tool: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    for key, value in tool.items():
        if key in ("functionDeclarations", "function_declarations"):
            declared = value if isinstance(value, list | tuple) else ()
            names += [one["name"] for one in declared if isinstance(one, Mapping) and type(one.get("name")) is str]
        else:
            names.append(key)
    return names
