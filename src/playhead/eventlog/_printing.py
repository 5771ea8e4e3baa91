"""Text from a recording, made safe to show; amounts and paths as people say them."""

from __future__ import annotations

import os
import re
from pathlib import Path

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: object, limit: int = 200) -> str:
    """``text`` on one line, with everything that could steer a terminal written as an escape.

    Control characters, marks that turn the direction of writing and invisible ones become ``\\x1b`` and the
    like; what is longer than ``limit`` characters is cut with an ellipsis.

    >>> printable("ok \\x1b[2J")
    'ok \\\\x1b[2J'
    """
    return _cut(_UNSAFE.sub(_escape, _cut(str(text), limit)), limit)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """A number with its noun, whose last word takes the plural.

    >>> counted(1, "exchange"), counted(0, "read"), counted(2, "Python process")
    ('1 exchange', '0 reads', '2 Python processes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def shown_path(path: Path) -> str:
    """``path`` as one would type it here."""
    try:
        shown = os.path.relpath(path)
    except ValueError:  # on another drive
        return str(path)
    return str(path) if shown.startswith("..") else shown
