"""Text from a recording, made safe to show."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def printable(text: object, limit: int = 200) -> str:
    """``text`` on one line, with everything that could steer a terminal written as an escape.

    Control characters, marks that turn the direction of writing and invisible ones become ``\\x1b`` and the
    like; what is longer than ``limit`` characters is cut with an ellipsis.

    >>> printable("ok \\x1b[2J")
    'ok \\\\x1b[2J'
    """
    shown = str(text)
    if len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    return _UNSAFE.sub(_escape, shown)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
