"""RE2: one pass over the text says which patterns may match, without the interpreter's lock."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from playhead.masking._engine import OVERLAP, Pattern, View, Windows, cut_windows

__all__ = ["Re2Engine"]

_MEMORY = 64 << 20
_LONGEST_BEFORE = 6


def _source(pattern: Pattern) -> bytes:
    """The pattern with its flags spelled out. RE2 cannot look back: the match holds what is before the number."""
    if pattern.numeric:
        return rb"(?:^|[^0-9A-Za-z]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(" + pattern.source + b")"
    return b"(?i)" + pattern.source if pattern.folded else pattern.source


class Re2Engine:
    """Searches with `re` where a pattern begins with a literal, which is quicker for one match than RE2."""

    name: Literal["re2", "re"] = "re2"

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        import re2

        options = re2.Options()
        options.max_mem = _MEMORY
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        self._set = re2.Set.SearchSet(options)
        self._whole = [pattern.whole for pattern in patterns]
        self._numeric = [pattern.numeric for pattern in patterns]
        self._in_lower = [pattern.folded and not pattern.heavy for pattern in patterns]
        self._in_set: list[int] = []
        self._always: list[int] = []
        self._compiled: list[Any] = []
        for index, pattern in enumerate(patterns):
            source = _source(pattern)
            try:
                compiled = re2.compile(source, options)
                self._set.Add(source)
                self._in_set.append(index)
            except re2.error:  # a look-around or a back-reference in somebody's own rule
                compiled = re.compile(source)
                self._always.append(index)
            self._compiled.append(compiled if pattern.heavy else re.compile(pattern.source))
        self._set.Compile()

    def scan(self, view: View) -> Windows:
        data = view.data
        length = len(data)
        found: Windows = {index: [(0, length)] for index in self._always}
        for start, end in cut_windows(length):
            for place in self._set.Match(data if end == length and not start else data[start : end + OVERLAP]) or ():
                index = self._in_set[place]
                if self._whole[index]:
                    found[index] = [(0, length)]
                else:
                    found.setdefault(index, []).append((start, end))
        return found

    def search(self, index: int, view: View, start: int, end: int) -> tuple[int, int] | None:
        if self._numeric[index]:
            return self._search_numeric(index, view.data, start, end)
        match = self._compiled[index].search(view.lower if self._in_lower[index] else view.data, start, end)
        return match.span() if match else None

    def _search_numeric(self, index: int, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        position = max(0, start - _LONGEST_BEFORE)
        while match := self._compiled[index].search(data, position, end):
            first, last = match.span(1)
            if first >= start:
                return first, last
            position = first + 1
        return None
