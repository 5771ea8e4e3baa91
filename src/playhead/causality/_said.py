"""What events say: the texts of answers, and what the turns of a request hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from playhead.events import ClockRead, ModelRequested, ModelResponded, RandomDrawn
from playhead.providers import list_request_parts, read_json

_DEEP: Final = 60
_CALL_IDS: Final = ("tool_call_id", "tool_use_id", "call_id")
_SPOKEN: Final = frozenset(
    {"choices", "message", "content", "output", "candidates", "parts", "text", "refusal", "output_text", "summary"}
)
_encode = msgspec.json.Encoder(order="sorted").encode


class Result(msgspec.Struct, frozen=True):
    """The result of a tool call as a request holds it: the provider's id of the call, the tool, and the content."""

    call_id: str | None
    tool: str | None
    content: Any


class Turn(msgspec.Struct, frozen=True, eq=False):
    """What one turn of a conversation holds. ``is_spoken`` is false for what the program says in every request."""

    results: tuple[Result, ...]
    texts: tuple[str, ...]
    is_spoken: bool


class Turns:
    """Reads the turns of requests: each once, however many requests repeat it, and equal ones as the same object."""

    def __init__(self) -> None:
        self._by_identity: dict[int, tuple[Any, Turn]] = {}
        self._by_content: dict[bytes, Turn] = {}

    def of(self, body: ModelRequested) -> list[Turn]:
        """The turns of a request."""
        request = body.request
        parts = list_request_parts(body.provider)
        if body.form != "json" or not isinstance(request, dict) or not parts["conversation"]:
            return [self._turn(request, "user")]
        found = [self._turn(request[key], "system") for key in parts["system"] if key in request]
        for key in parts["conversation"]:
            said = request.get(key)
            for item in said if isinstance(said, list) else () if said is None else (said,):
                found.append(self._turn(item, str(item.get("role")) if isinstance(item, dict) else "user"))
        return found

    def _turn(self, tree: Any, role: str) -> Turn:
        known = self._by_identity.get(id(tree))
        if known is not None:
            return known[1]
        content = hashlib.sha256(f"{role} {fingerprint(tree)}".encode("utf-8", "surrogatepass")).digest()
        turn = self._by_content.get(content)
        if turn is None:
            results = tuple(_results(tree, 0))
            held = frozenset(id(result.content) for result in results)
            texts = tuple(strings(tree, without=held))
            turn = self._by_content[content] = Turn(results, texts, role not in ("system", "developer"))
        self._by_identity[id(tree)] = (tree, turn)
        return turn


def _results(tree: Any, depth: int) -> Iterator[Result]:
    if depth > _DEEP:
        return
    if isinstance(tree, list):
        for item in tree:
            yield from _results(item, depth + 1)
    elif isinstance(tree, dict):
        answer = tree.get("functionResponse") or tree.get("function_response")
        if isinstance(answer, dict):
            yield Result(_text(answer.get("id")), _text(answer.get("name")), answer.get("response"))
            return
        ident = next((tree[key] for key in _CALL_IDS if isinstance(tree.get(key), str)), None)
        if ident is not None and not str(tree.get("type", "")).endswith("_call"):
            yield Result(ident, _text(tree.get("name")), tree.get("content", tree.get("output")))
            return
        for item in tree.values():
            yield from _results(item, depth + 1)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def strings(tree: Any, *, without: frozenset[int] = frozenset(), depth: int = 0) -> Iterator[str]:
    """Every string among the values of a tree, but for what is inside the objects ``without``, by identity."""
    if depth > _DEEP or (without and id(tree) in without):
        return
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from strings(item, without=without, depth=depth + 1)
    elif isinstance(tree, dict):
        for key, item in tree.items():
            if key not in ("$t", "class"):
                yield from strings(item, without=without, depth=depth + 1)


def answered(body: Any) -> Any:
    """What an answer, or a read, gave: a tree, or the texts that a model said; ``None`` where nothing was given."""
    if isinstance(body, ClockRead | RandomDrawn):
        return plain(body.value)
    if getattr(body, "error", None) is not None:
        return list(strings(body.error))
    if isinstance(body, ModelResponded):
        said = read_json(body.content) if isinstance(body.content, dict) else body.content
        return list(_spoken(said, 0)) if isinstance(said, dict) else plain(said if said is not None else body.items)
    content = getattr(body, "content", None)
    if isinstance(content, dict) and "form" in content:
        said = read_json(content)
        return plain(said if said is not None else content.get("text"))
    value = getattr(body, "value", None)
    return plain(value if value is not None else getattr(body, "items", None))


def _spoken(tree: Any, depth: int) -> Iterator[str]:
    """The texts of a model's answer, without ids, names and arguments."""
    if depth > _DEEP:
        return
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for item in tree:
            yield from _spoken(item, depth + 1)
    elif isinstance(tree, dict):
        for key, item in tree.items():
            if key in _SPOKEN:
                yield from _spoken(item, depth + 1)


def plain(tree: Any, depth: int = 0) -> Any:
    """A tree without the tags of its values: what a program would write as JSON."""
    if depth > _DEEP:
        return None
    if isinstance(tree, list):
        return [plain(item, depth + 1) for item in tree]
    if isinstance(tree, dict):
        if "$t" in tree:
            return plain(tree.get("v"), depth + 1)
        return {key: plain(item, depth + 1) for key, item in tree.items()}
    return tree


def forms(value: Any) -> set[str]:
    """The texts in which a program may have written a plain value: itself, or JSON as it is usually written."""
    if value is None:
        return set()
    if isinstance(value, str):
        return {value}
    found = {str(value)}
    try:
        found |= {json.dumps(value, ensure_ascii=ascii) for ascii in (True, False)}
        found |= {json.dumps(value, ensure_ascii=ascii, separators=(",", ":")) for ascii in (True, False)}
        found |= {json.dumps(value, ensure_ascii=ascii, indent=2) for ascii in (True, False)}
    except (ValueError, TypeError, RecursionError):
        pass
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two plain values say the same, be either of them written as JSON."""
    return fingerprint(one) == fingerprint(other)


def fingerprint(value: Any) -> str:
    """A text that is the same for values that say the same; a text that is JSON stands for what it says."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return f"text {value}"
    try:
        return _encode(value).decode() if not isinstance(value, str) else f"text {value}"
    except (ValueError, TypeError, RecursionError, UnicodeError):
        return repr(value)
