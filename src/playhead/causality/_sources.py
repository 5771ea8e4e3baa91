"""What was answered in a run, to be found again by its text or its value where it turns up later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from playhead.causality._clocks import Clocks
from playhead.causality._said import fingerprint, forms, strings

WHOLE: Final = 8
"""A string that equals an answer, or a text in it, counts from this length on."""

PART: Final = 16
"""A text inside a longer one counts from this length on. It is also how much of each is looked up first."""

_CANDIDATES: Final = 64


class Sources:
    """Answers by what they said.

    Where several said the same, the one that is meant is the last of those that are known to come before; if none of
    them is the last, that is no proof. Where none is known to come before, one counts if nothing else said the same.
    """

    def __init__(self, clocks: Clocks) -> None:
        self._clocks = clocks
        self._texts: dict[str, list[int]] = {}
        self._values: dict[str, list[int]] = {}
        self._anchors: dict[str, list[str]] = {}

    def add(self, seq: int, value: Any) -> None:
        """The event ``seq`` gave the plain ``value``."""
        if value is None:
            return
        self._values.setdefault(fingerprint(value), []).append(seq)
        for text in forms(value) | set(strings(value)):
            if len(text) >= WHOLE:
                known = self._texts.get(text)
                if known is None:
                    known = self._texts[text] = []
                    if len(text) >= PART:
                        self._anchors.setdefault(text[:PART], []).append(text)
                if known[-1:] != [seq]:
                    known.append(seq)

    def with_value(self, value: Any) -> list[int]:
        """The events that gave this plain value, or a text that says it."""
        return self._values.get(fingerprint(value), [])

    def quoted(self, texts: Iterable[str]) -> set[str]:
        """What of all that was said stands in these texts; of what stands in what else stands there, the longer."""
        found: set[str] = set()
        for text in texts:
            if len(text) < WHOLE:
                continue
            if text in self._texts:
                found.add(text)
            else:
                found |= {text[start:end] for start, end in _outermost(self._spans(text))}
        return found

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        anchors = self._anchors
        for at in range(len(text) - PART + 1):
            for known in anchors.get(text[at : at + PART], ()):
                if text.startswith(known, at):
                    yield at, at + len(known)

    def find(self, text: str, target: int) -> int | None:
        """The event from which ``target`` has this text, where that is known."""
        return self.choose(self._texts.get(text, []), target)

    def choose(self, candidates: list[int], target: int) -> int | None:
        """The one of several events from which ``target`` has what all of them gave, where that is known."""
        earlier = [seq for seq in candidates if seq < target][-_CANDIDATES:]
        before = [seq for seq in earlier if self._clocks.reaches(seq, target)]
        if before:
            last = before[-1]
            return last if all(self._clocks.reaches(seq, last) for seq in before) else None
        return earlier[0] if len(candidates) == 1 and earlier else None


def _outermost(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that lie in no other."""
    reached = -1
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if end > reached:
            reached = end
            yield start, end
