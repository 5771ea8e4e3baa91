"""Recognising the mask behind a difference: a masked value changed, or a program went on with a placeholder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from playhead.masking import PLACEHOLDER, is_placeholder
from playhead.player._differences import Difference
from playhead.player._texts import align

_PIECE: Final = re.compile(r"[0-9]{4,}|[0-9A-Za-z]{6,}")
_RULE: Final = re.compile(r"masked[:.]([A-Za-z0-9][A-Za-z0-9_-]*?)[:.]")


def name_changed(difference: Difference) -> str | None:
    """The cause, where a value that the mask hides is another one on each side."""
    before, now = (set(_placeholders(side)) for side in (difference.recorded, difference.asked))
    gone, new = before - now, now - before
    if not gone or not new:
        return None
    return f"a masked value changed: {_kinds(gone | new)}"


def without_placeholders(value: Any) -> str:
    """``value`` as text in which all placeholders are alike."""
    return PLACEHOLDER.sub("[masked]", _plain(value))


def name_used(differences: Sequence[Difference], answers: Iterable[Any]) -> str | None:
    """The cause, where a program asks with a placeholder that it got from one of ``answers``, or a piece of it.

    In a replay a recorded answer has placeholders where the live one had values; whatever a program makes of such a
    value, other than hand it on, comes out differently.
    """
    asked = [_new_words(each) for each in differences if each.kind != "removed"]
    if not any(asked):
        return None
    given = {each for answer in answers for each in _placeholders(_text(answer))}
    used = {each for each in given for words in asked if _holds(words, each)}
    if not used:
        return None
    return (
        f"the program used a masked value of a recorded answer, and in a replay that is a placeholder: {_kinds(used)}"
    )


def _new_words(difference: Difference) -> str:
    """What is asked now and was not when it was recorded."""
    recorded, asked = _plain(difference.recorded), _plain(difference.asked)
    return "\n".join(new for gone, new in align(recorded, asked) if new != gone)


def _holds(words: str, placeholder: str) -> bool:
    if placeholder in words:
        return True
    digits = re.sub(r"\D", "", placeholder) if placeholder[0] in "+9" else placeholder
    return any(piece[0] in digits or digits in piece[0] for piece in _PIECE.finditer(words))


def _placeholders(value: Any) -> Iterator[str]:
    for found in PLACEHOLDER.finditer(_plain(value)):
        if is_placeholder(found[0]):
            yield found[0]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else _text(value)


def _text(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, UnicodeEncodeError, RecursionError):
        return ""


def _kinds(placeholders: Iterable[str]) -> str:
    return ", ".join(sorted({_kind(each) for each in placeholders}))


def _kind(placeholder: str) -> str:
    rule = _RULE.search(placeholder)
    if rule is not None:
        return rule[1]
    return {"+": "telephone number", "9": "card number"}.get(placeholder[0], "e-mail address")
