"""Recorded values in a few words: trees of JSON with tags, as a person would write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playhead.eventlog import counted, printable

_SHORT: Final = 60
_DEEP: Final = 40
_AS_THEY_ARE: Final = ("datetime", "date", "time", "decimal", "uuid", "path", "zone", "ip", "float", "int")


def brief(tree: Any, limit: int = _SHORT) -> str:
    """A value on one line, cut to ``limit`` characters, safe to show.

    >>> brief({"q": ["a", 1.5, None], "when": {"$t": "date", "v": "2026-01-02"}})
    '{q: ["a", 1.5, None], when: 2026-01-02}'
    """
    text = ""
    for piece in _pieces(tree, 0):
        text += piece
        if len(text) > limit:
            break
    return printable(text, limit=limit)


def brief_arguments(tree: Any, limit: int = _SHORT) -> str:
    """Arguments as they stand in a call, without parentheses.

    >>> brief_arguments({"order": "A-1", "amount": 3})
    'order="A-1", amount=3'
    """
    if not isinstance(tree, dict) or "$t" in tree:
        return brief(tree, limit)
    return printable(", ".join(f"{name}={brief(value, limit)}" for name, value in tree.items()), limit=limit)


def brief_error(tree: Any, limit: int = _SHORT) -> str:
    """A recorded exception on one line, as a traceback ends.

    >>> brief_error({"$t": "error", "class": "builtins:ValueError", "args": ["no,\\n  not now"]})
    'ValueError: no, not now'
    """
    return printable(" ".join(error_text(tree, limit).split()), limit=limit)


def error_text(tree: Any, limit: int) -> str:
    """A recorded exception as a traceback ends, with its own lines: not yet safe to show.

    ``limit`` is about how many characters of an argument that is no text are written out.
    """
    if not isinstance(tree, dict):
        return brief(tree, limit)
    name = str(tree.get("class", "?")).rpartition(":")[2].rpartition(".")[2]
    args = tree.get("args")
    said = tree.get("message")
    if said is None and isinstance(args, list) and args:
        said = args[0] if len(args) == 1 else args
    text = said if isinstance(said, str) else brief(said, limit) if said is not None else ""
    return f"{name}: {text}" if text else name


def _pieces(tree: Any, depth: int) -> Iterator[str]:
    if depth > _DEEP:
        yield "…"
    elif isinstance(tree, str):
        yield f'"{tree}"'
    elif isinstance(tree, list):
        yield from _many("[", tree, "]", depth)
    elif isinstance(tree, dict):
        if "$t" in tree:
            yield from _tagged(tree, depth)
        else:
            yield "{"
            for at, (key, value) in enumerate(tree.items()):
                yield f"{', ' if at else ''}{key}: "
                yield from _pieces(value, depth + 1)
            yield "}"
    else:
        yield str(tree)


def _many(opening: str, items: list[Any], closing: str, depth: int) -> Iterator[str]:
    yield opening
    for at, item in enumerate(items):
        if at:
            yield ", "
        yield from _pieces(item, depth + 1)
    yield closing


def _tagged(tree: dict[str, Any], depth: int) -> Iterator[str]:
    tag, value = tree.get("$t"), tree.get("v")
    if tag == "error":
        yield brief_error(tree)
    elif tag in ("bytes", "bytearray"):
        yield (
            f'b"{tree["utf8"]}"'
            if "utf8" in tree
            else f"<{counted(len(str(tree.get('base64', ''))) * 3 // 4, 'byte')}>"
        )
    elif tag in _AS_THEY_ARE:
        yield str(value)
    elif tag in ("tuple", "set", "frozenset") and isinstance(value, list):
        yield from _many("(" if tag == "tuple" else "{", value, ")" if tag == "tuple" else "}", depth)
    elif tag == "opaque":
        yield f"<{str(tree.get('class', '?')).rpartition(':')[2]}, not kept>"
    elif tag == "enum":
        yield f"{str(tree.get('class', '?')).rpartition(':')[2]}.{tree.get('name')}"
    else:
        yield str(tree.get("class", tag)).rpartition(":")[2]
        yield "("
        yield from _pieces(value, depth + 1)
        yield ")"
