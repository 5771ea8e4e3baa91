"""Closing a JSON text that was cut off, so that what had arrived of it can be read."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["close_json"]

_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*+(?:
        (?P<mark>[{}\[\],:])
      | (?P<string>"(?>[^"\\]++|\\.)*+")
      | (?P<scalar>(?>[-+0-9.eE]++|true|false|null)(?=[ \t\r\n,}\]]))
    )""",
    re.VERBOSE | re.DOTALL,
)
_OPEN_STRING: Final = re.compile(r'[ \t\r\n]*+"(?>[^"\\]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_HALF_PAIR: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_CLOSERS: Final = {"{": "}", "[": "]"}


def close_json(text: str) -> tuple[str, int, str] | None:
    """``(closed, drop, extra)``, such that ``closed`` is JSON and ``closed[:-drop] + extra == text``.

    ``drop`` counts the closing characters that were added, ``extra`` is a half key, number or escape that no
    closing can save. None where nothing of the text can be read.

    >>> close_json('{"a":["b')
    ('{"a":["b"]}', 3, '')
    >>> close_json('{"a":1,"b')
    ('{"a":1}', 1, ',"b')
    """
    stack: list[str] = []
    at, safe = 0, -1
    closers = ""
    may_be_key = False
    while found := _TOKEN.match(text, at):
        at = found.end()
        mark = found["mark"]
        if mark in (",", ":"):
            may_be_key = mark == "," and bool(stack) and stack[-1] == "{"
            continue
        if mark in ("{", "["):
            stack.append(mark)
            may_be_key = mark == "{"
        elif mark is not None:
            if not stack or _CLOSERS[stack.pop()] != mark:
                return None
            may_be_key = False
        elif may_be_key:
            continue
        safe, closers = at, _close(stack)
        if not stack:
            break
    if stack and not may_be_key and (found := _OPEN_STRING.match(text, at)):
        half = _HALF_PAIR.search(found.group())
        safe, closers = found.end() - (len(half.group()) if half else 0), '"' + _close(stack)
    if safe < 0:
        return None
    return text[:safe] + closers, len(closers), text[safe:]


def _close(stack: list[str]) -> str:
    return "".join(_CLOSERS[mark] for mark in reversed(stack))
