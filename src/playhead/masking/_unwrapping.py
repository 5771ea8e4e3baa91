"""One layer of escapes taken off a text, with the way back.

JSON and Python escapes (``\\n``, ``\\"``, ``\\u0040``) and percent-encoding hide a secret from a pattern, or glue a
letter to it. A secret is looked for in the text below the escapes; what is found is replaced in the text above,
where the placeholder fits as it is: it holds nothing that any of these would escape, but ``@`` and ``+``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from urllib.parse import quote

from playhead.masking._patterns import regex
from playhead.masking._rules import Hit

__all__ = ["OUTER_QUOTE", "PERCENT_PATTERN", "UNWRAP_ALL_PATTERN", "UNWRAP_PATTERN", "Unwrapped", "unwrap"]

PERCENT_PATTERN = "%[0-9A-Fa-f]{2}"

UNWRAP_PATTERN = r"\\(?:u00[0-7]|x[2-7]|/)"
"""Escapes that can stand within a secret of a known shape. Others, such as a newline, stand only beside one."""

UNWRAP_ALL_PATTERN = r"\\[unrtbfx\"'/\\]"
"""Escapes that can stand within a registered secret, which may hold anything."""

OUTER_QUOTE = "\ufdd0"
"""Stands for a quote of the text above, which no value reaches over: a code point that is no character."""

_UNIT = (
    r"(?<=%)[0-9A-Fa-f]{2}|(?<=\\)(?:[nrtbf\"'/\\]|x[0-9a-fA-F]{2}"
    r"|u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4}))"
)
_UNITS = {
    quotes: regex(rf"[%\\{quotes}](?:{_UNIT}{''.join(f'|(?<={quote})' for quote in quotes)})")
    for quotes in ("", '"', "'", "\"'")
}
"""By the kinds of quotes that the text has escaped: bare ones of these kinds end what is below the escapes."""

_ESCAPE_REST = regex("[nrtbf]|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}")
_HEX = "0123456789abcdefABCDEF"
_KNOWN = {
    '"': OUTER_QUOTE,
    "'": OUTER_QUOTE,
    r"\n": "\n",
    r"\r": "\r",
    r"\t": "\t",
    r"\b": "\b",
    r"\f": "\f",
    **{f"\\{mark}": mark for mark in "\"'/\\"},
    **{f"\\u{number:04x}": chr(number) for number in range(256)},
    **{f"%{first}{second}": chr(int(first + second, 16)) for first in _HEX for second in _HEX},
}


def _decode(unit: re.Match[str]) -> str:
    escape = unit.group()
    known = _KNOWN.get(escape)
    if known is not None:
        return known
    if len(escape) > 6:
        high, low = int(escape[2:6], 16), int(escape[8:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    return chr(int(escape[-2:] if len(escape) == 4 else escape[-4:], 16))


def _unquote(text: str) -> str:
    """The same for a text that has percent-encoding only."""
    first, *rest = text.split("%")
    return first + "".join([_KNOWN.get("%" + part[:2], "%" + part[:2]) + part[2:] for part in rest])


class Unwrapped:
    """A text without its outer escapes: ``text`` has one code point for each, and `OUTER_QUOTE` for outer quotes."""

    def __init__(self, outer: str) -> None:
        self._outer = outer
        self._units = _UNITS["".join(quote for quote in "\"'" if f"\\{quote}" in outer)]
        self.text = self._units.sub(_decode, outer) if "\\" in outer else _unquote(outer)
        self._inner_starts: list[int] = []
        self._outer_spans: list[tuple[int, int]] = []

    def _locate(self) -> None:
        if self._outer_spans:
            return
        saved = 0
        for unit in self._units.finditer(self._outer):
            start, end = unit.span()
            self._outer_spans.append((start, end))
            self._inner_starts.append(start - saved)
            saved += end - start - 1

    def to_outer(self, position: int) -> int:
        """Where in the outer text the code point at ``position`` begins."""
        before = bisect_right(self._inner_starts, position - 1) - 1
        if before < 0:
            return position
        return self._outer_spans[before][1] + position - self._inner_starts[before] - 1

    def lift(self, hits: list[Hit]) -> list[Hit]:
        """``hits`` in the inner text as hits in the outer one, their replacements encoded as what they replace was."""
        if not hits:
            return hits
        self._locate()
        lifted = []
        for hit in hits:
            start, end = self.to_outer(hit.start), self.to_outer(hit.end)
            encoded = "%" in self._outer[start:end]
            replacement = quote(hit.replacement, safe="[]:") if encoded else hit.replacement
            lifted.append(Hit(start, end, hit.rule, replacement, hit.rank))
        return lifted

    def trim(self, hits: list[Hit]) -> list[Hit]:
        """``hits`` in the outer text without a part of an escape at their start, with the whole of one at their end.

        What follows a backslash is such a part at whatever depth: ``\\\\n`` is one in JSON in JSON.
        """
        if not hits:
            return hits
        self._locate()
        trimmed = []
        for hit in hits:
            first, last = self._unit_around(hit.start), self._unit_around(hit.end)
            start, end = first[1] if first else hit.start, last[1] if last else hit.end
            if self._outer[start - 1 : start] == "\\" and (rest := _ESCAPE_REST.match(self._outer, start)):
                start = rest.end()
            if start < end:
                trimmed.append(Hit(start, end, hit.rule, hit.replacement, hit.rank))
        return trimmed

    def _unit_around(self, position: int) -> tuple[int, int] | None:
        index = bisect_right(self._outer_spans, (position, -1)) - 1
        if index >= 0 and self._outer_spans[index][0] < position < self._outer_spans[index][1]:
            return self._outer_spans[index]
        return None


def unwrap(text: str) -> Unwrapped | None:
    """``text`` without one layer of escapes, or ``None`` if it has none."""
    return Unwrapped(text) if _UNITS[""].search(text) else None
