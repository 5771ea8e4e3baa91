"""The question both engines answer: where may which pattern match?

An engine sees a text as bytes, one for each code point: what is not ASCII became ``?``, so that places are equal
and no text is unreadable, lone surrogates included. It scans in windows, so that no step holds the interpreter's
lock for long, and answers with the windows in which a pattern may match; it may say yes too often, never too
rarely. Then it searches for candidates there. What a candidate is worth is judged above, by the same code for
both engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

from playhead.masking._rules import Sign

__all__ = ["OVERLAP", "WINDOW", "Engine", "EngineName", "Pattern", "View", "Windows", "cut_windows", "make_engine"]

WINDOW = 1 << 16
OVERLAP = 512
"""No built-in pattern needs more than so many bytes for its shortest match."""

_ASCII = bytes(range(128)) + b"?" * 128

EngineName = Literal["auto", "re2", "re"]
Windows = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for bytes. ``sign`` lets the standard-library engine pass by; ``heavy``: it begins with no literal.

    ``whole``: a match may be of any length, so it is searched for in the whole text at once. ``folded``: the source
    is in lower case and matches either case. ``numeric``: no match begins
    within a word; an escape is none.
    """

    source: bytes
    sign: Sign | None = None
    heavy: bool = True
    whole: bool = False
    folded: bool = False
    numeric: bool = False


class Engine(Protocol):
    """Made from a list of patterns, which are then known by their place in it."""

    name: Literal["re2", "re"]

    def scan(self, view: View) -> Windows: ...

    def may_match(self, window: bytes) -> bool: ...

    def search(self, index: int, view: View, start: int, end: int) -> tuple[int, int] | None: ...


class View:
    """A text as engines see it, or bytes that are none: ``data`` has a byte for each code point."""

    __slots__ = ("_lower", "data")

    def __init__(self, text: str | bytes) -> None:
        self.data = text.translate(_ASCII) if isinstance(text, bytes) else text.encode("ascii", "replace")
        self._lower: bytes | None = None

    def __len__(self) -> int:
        return len(self.data)

    @property
    def lower(self) -> bytes:
        if self._lower is None:
            self._lower = self.data.lower()
        return self._lower


def cut_windows(length: int) -> list[tuple[int, int]]:
    """The windows of a text of ``length`` bytes: (start, end); a match that begins in one may end after it."""
    return [(start, min(start + WINDOW, length)) for start in range(0, length, WINDOW)]


@lru_cache(maxsize=16)
def make_engine(name: EngineName, patterns: tuple[Pattern, ...]) -> Engine:
    """The engine of this ``name``; ``auto`` is RE2 where it is installed. Equal patterns share one.

    Raises `ImportError` if RE2 is asked for by name and is not installed.
    """
    if name != "re":
        try:
            from playhead.masking._engine_re2 import Re2Engine

            return Re2Engine(patterns)
        except ImportError:
            if name == "re2":
                raise
    from playhead.masking._engine_re import ReEngine

    return ReEngine(patterns)
