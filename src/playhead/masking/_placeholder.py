"""What stands in a secret's place: the name of the rule and a keyed digest, never a part of the secret.

The digest is an HMAC-SHA256 under the store's key, cut to 40 bits: equal values get equal placeholders, and
without the key nobody can test a guess. Where a program looks at the form, the form is kept: an e-mail address
stays one (in the reserved ``.invalid`` domain), a card keeps its length and grouping and passes the Luhn check
(under 9999, a prefix no issuer has), a telephone number stays one (under +999, a country code nobody has).
"""

from __future__ import annotations

import hmac

from playhead.masking._patterns import regex

__all__ = ["PLACEHOLDER", "Pseudonyms", "ends_in_placeholder", "is_placeholder", "list_placeholders", "passes_luhn"]

_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"

_WORDED = regex(
    rf"\[masked:{_NAME}:[0-9a-f]{{10}}\]|masked(?:\.{_NAME}\.[0-9a-f]{{10}}|-[0-9a-f]{{10}}@masked\.invalid)"
)

PLACEHOLDER = regex(
    rf"{_WORDED.pattern}"
    r"|\+999[0-9]{12}(?![0-9])"
    r"|(?<![0-9])9999(?:[ -]?[0-9]){8,15}(?![0-9])"
)
"""Matches every form of placeholder. A digit run under 9999 is one only if it passes Luhn: see `is_placeholder`."""

_BRACKETS_BEFORE = regex(rf"\[masked:{_NAME}:[0-9a-f]{{10}}\]\Z")
_FIRST = frozenset("[m+9")


class Pseudonyms:
    """Makes placeholders under one key.

    ``key`` is at least one byte; who has it can test guesses, so it belongs to the store and not to a recording.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.key_id = hmac.digest(key, b"playhead key id", "sha256")[:8].hex()

    def digest(self, value: str) -> str:
        """Ten hexadecimal digits that stand for ``value``."""
        return hmac.digest(self._key, b"\0" + value.encode("utf-8", "surrogatepass"), "sha256")[:5].hex()

    def plain(self, rule: str, value: str) -> str:
        """``[masked:openai-key:1f3a9c20d4]``: without quotes, blanks and backslashes, so that it fits anywhere."""
        return f"[masked:{rule}:{self.digest(value)}]"

    def in_url(self, rule: str, value: str) -> str:
        """``masked.url-password.1f3a9c20d4``: for the part of a URL where brackets mean an IPv6 address."""
        return f"masked.{rule}.{self.digest(value)}"

    def email(self, _rule: str, value: str) -> str:
        return f"masked-{self.digest(value)}@masked.invalid"

    def phone(self, _rule: str, value: str) -> str:
        return f"+999{int(self.digest(_digits(value)), 16) % 10**12:012d}"

    def card(self, _rule: str, value: str) -> str:
        """As many digits as ``value`` has, in the same groups."""
        digits = _digits(value)
        room = len(digits) - 5
        body = f"9999{int(self.digest(digits), 16) % 10**room:0{room}d}"
        check = next(d for d in "0123456789" if passes_luhn(body + d))
        fresh = iter(body + check)
        return "".join(next(fresh) if c.isdigit() else c for c in value)


def is_placeholder(text: str) -> bool:
    """Whether ``text`` as a whole is a placeholder.

    >>> is_placeholder("[masked:openai-key:1f3a9c20d4]"), is_placeholder("sk-live")
    (True, False)
    """
    match = PLACEHOLDER.fullmatch(text) if text[:1] in _FIRST else None
    return match is not None and (text[0] != "9" or passes_luhn(text))


def ends_in_placeholder(text: str, stop: int) -> bool:
    """Whether a placeholder in brackets ends at ``stop``: it counts as a word, as what it stands for mostly was."""
    return text[stop - 1 : stop] == "]" and _BRACKETS_BEFORE.search(text[max(0, stop - 88) : stop]) is not None


def list_placeholders(text: str) -> list[tuple[int, int]]:
    """The spans in ``text`` of the placeholders that say ``masked``, ascending."""
    return [match.span() for match in _WORDED.finditer(text)]


def passes_luhn(text: str) -> bool:
    """Whether the decimal digits of ``text`` pass the check that card numbers pass; anything else is skipped."""
    total = 0
    for place, digit in enumerate(reversed(_digits(text))):
        number = int(digit) << (place & 1)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _digits(text: str) -> str:
    return "".join(c for c in text if "0" <= c <= "9")
