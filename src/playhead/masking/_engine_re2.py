"""RE2: one pass over the text says which patterns may match, without the interpreter's lock.

A thread that waits for that lock while the interpreter ends is ended there, and to end it inside RE2 takes the whole
process down (``terminate called without an active exception``). So nobody goes in once the process is ending, and
its end waits for those who are inside; what is masked after that is masked by the engine that keeps the lock.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, Literal

from playhead import _system
from playhead.masking._engine import OVERLAP, Pattern, View, Windows, cut_windows
from playhead.masking._engine_re import ReEngine
from playhead.masking._patterns import compiled_later, regex

__all__ = ["Re2Engine"]

_WAIT_S = 0.001
_WAITS = 1000

_inside: list[None] = []
"""As many items as there are threads inside RE2; to append and to pop needs no lock."""
_ending = False


def _enter() -> bool:
    """Go in, unless the process is ending; pop from `_inside` after it. In this order: see `_leave`."""
    _inside.append(None)
    if _ending:
        _inside.pop()
        return False
    return True


@atexit.register
def _leave() -> None:
    """Let nobody in any more, and wait for those who are inside: a moment, since texts are scanned in windows."""
    global _ending
    _ending = True
    for _ in range(_WAITS):
        if not _inside:
            return
        _system.sleep(_WAIT_S)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_inside.clear)  # the threads that were inside are the parent's

_MEMORY = 64 << 20
_LONGEST_BEFORE = 6
_SMALL = 4096


def _source(pattern: Pattern) -> bytes:
    """The pattern with its flags spelled out. RE2 cannot look back: the match holds what is before the number."""
    if pattern.numeric:
        return rb"(?:^|[^0-9A-Za-z]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})(" + pattern.source + b")"
    return b"(?i)" + pattern.source if pattern.folded else pattern.source


def _is_small(pattern: Pattern) -> bool:
    """Whether RE2 surely has room for it: not if it is somebody's own, nor if there are many registered secrets."""
    return pattern.sign is not None and len(pattern.source) < _SMALL


class Re2Engine:
    """Searches with `re` where a pattern begins with a literal, which is quicker for one match than RE2."""

    name: Literal["re2", "re"] = "re2"

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        import re2

        self._patterns = patterns

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
                compiled = partial(re2.compile, source, options)
                self._compiled.append(compiled_later(compiled) if _is_small(pattern) else compiled())
                self._set.Add(source)
                self._in_set.append(index)
            except re2.error:  # a look-around or a back-reference in somebody's own rule
                self._compiled[index:] = [re.compile(source)]
                self._always.append(index)
            if not pattern.heavy:
                self._compiled[index] = regex(pattern.source)
        self._set.Compile()

    @cached_property
    def _after(self) -> ReEngine:
        """The engine for what is masked while the process ends."""
        return ReEngine(self._patterns)

    def scan(self, view: View) -> Windows:
        if not _enter():
            return self._after.scan(view)
        try:
            return self._scan(view)
        finally:
            _inside.pop()

    def may_match(self, window: bytes) -> bool:
        """Whether any pattern may match in ASCII bytes of a window's length at most."""
        if self._always or not _enter():
            return True
        try:
            return bool(self._set.Match(window))
        finally:
            _inside.pop()

    def search(self, index: int, view: View, start: int, end: int) -> tuple[int, int] | None:
        if not _enter():
            return self._after.search(index, view, start, end)
        try:
            return self._search(index, view, start, end)
        finally:
            _inside.pop()

    def _scan(self, view: View) -> Windows:
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

    def _search(self, index: int, view: View, start: int, end: int) -> tuple[int, int] | None:
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
