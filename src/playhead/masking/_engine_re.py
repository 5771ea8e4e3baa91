"""The standard library alone: literals are looked for first, in views of the text that cost one pass each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from playhead.masking._engine import OVERLAP, Pattern, View, Windows, cut_windows
from playhead.masking._patterns import regex

__all__ = ["ReEngine"]

_WORD = re.compile(rb"[^A-Za-z0-9+/_-]")
_BEFORE_NUMBER = regex(rb"(?:^|[^0-9A-Za-z]|\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})\Z")
_LONGEST_BEFORE = 6
_REST_OF_WORD = regex(rb"[0-9A-Za-z]*")
_LEAST_WORD = 12
_LONGEST_NAME = 16


def _table(*changes: tuple[bytes, bytes]) -> bytes:
    table = bytearray(range(256))
    for characters, target in changes:
        for position, character in enumerate(characters):
            table[character] = target[min(position, len(target) - 1)]
    return bytes(table)


_UPPER, _LOWER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"abcdefghijklmnopqrstuvwxyz"
_TO_WORDS = _table((bytes(b for b in range(256) if _WORD.match(bytes((b,)))), b" "))
_TO_NAMES = _table((_UPPER, _LOWER), (b"=", b":"))
_NOT_IN_NAMES = b" \t\"'\\-_>]"
_TO_DIGITS = _table((b"0123456789", b"0"), (b" ./", b"-"))
_NOT_IN_DIGITS = b")"


def _views_of_bytes(data: bytes) -> dict[str, bytes]:
    """The text; its words of twelve characters and more; all of it squeezed; what is before colons; digits as zeros."""
    words = data.translate(_TO_WORDS).split()
    squeezed = data.translate(_TO_NAMES, _NOT_IN_NAMES)
    return {
        "text": data,
        "words": b" ".join([word for word in words if len(word) >= _LEAST_WORD]),
        "squeezed": squeezed,
        "names": b":".join([part[-_LONGEST_NAME:] for part in squeezed.split(b":")]),
        "digits": data.translate(_TO_DIGITS, _NOT_IN_DIGITS),
    }


class ReEngine:
    """Slower than RE2 and holds the interpreter's lock, but never for more than a window at a time."""

    name: Literal["re2", "re"] = "re"

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._compiled = [regex(pattern.source) for pattern in patterns]
        self._numeric = [pattern.numeric for pattern in patterns]
        self._folded = [pattern.folded for pattern in patterns]
        self._whole = [pattern.whole for pattern in patterns]
        self._gates: dict[tuple[str, bytes], list[tuple[int, tuple[bytes, ...]]]] = {}
        for index, pattern in enumerate(patterns):
            if pattern.sign is not None:
                gate = (pattern.sign.where, pattern.sign.gate)
                self._gates.setdefault(gate, []).append((index, pattern.sign.literals))
        self._always = [index for index, pattern in enumerate(patterns) if pattern.sign is None]

    def scan(self, view: View) -> Windows:
        data = view.data
        length = len(data)
        found: Windows = {index: [(0, length)] for index in self._always}
        for start, end in cut_windows(length):
            views = _views_of_bytes(data if end == length and not start else data[start : end + OVERLAP])
            for (where, gate), members in self._gates.items():
                seen = views[where]
                if gate not in seen:
                    continue
                for index, literals in members:
                    if not self._is_signed(index, literals, seen):
                        continue
                    if self._whole[index]:
                        found[index] = [(0, length)]
                    else:
                        found.setdefault(index, []).append((start, end))
        return found

    def may_match(self, window: bytes) -> bool:
        """Whether any pattern may match in ASCII bytes of a window's length at most."""
        return bool(self.scan(View(window)))

    def _is_signed(self, index: int, literals: tuple[bytes, ...], seen: bytes) -> bool:
        for literal in literals:
            if literal in seen:
                return True
        return not literals and self._compiled[index].search(seen) is not None

    def search(self, index: int, view: View, start: int, end: int) -> tuple[int, int] | None:
        if self._numeric[index]:
            return self._search_numeric(index, view.data, start, end)
        match = self._compiled[index].search(view.lower if self._folded[index] else view.data, start, end)
        return match.span() if match else None

    def _search_numeric(self, index: int, data: bytes, start: int, end: int) -> tuple[int, int] | None:
        """A word that does not begin with the number is left as a whole, unless an escape may be in it."""
        position = start
        while match := self._compiled[index].search(data, position, end):
            first = match.start()
            before = data[max(0, first - _LONGEST_BEFORE) : first]
            if _BEFORE_NUMBER.search(before):
                return match.span()
            rest = _REST_OF_WORD.match(data, first)
            escaped = b"\\" in before or b"%" in before
            position = first + 1 if escaped or rest is None else rest.end()
        return None
