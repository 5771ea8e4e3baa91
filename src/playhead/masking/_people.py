"""What belongs to people: e-mail addresses, telephone numbers, payment cards. Each keeps its form.

Identifiers, times, digests and versions hold many digits as well, so these rules ask for the whole shape: a card
has an issuer's prefix and length and passes Luhn, a telephone number is written as people write one.
"""

from __future__ import annotations

from playhead.masking._patterns import regex
from playhead.masking._placeholder import PLACEHOLDER, Pseudonyms, ends_in_placeholder, passes_luhn
from playhead.masking._rules import Rule, Settled, Sign

__all__ = ["PEOPLE_RULES"]

_LOCAL_BACKWARDS = regex(r"[\w.%+'-]{1,64}+")
_DOMAIN = regex(r"@(?:[\w-]{1,63}\.){1,8}(?:xn--[a-z0-9-]{1,59}|[^\W\d_]{2,24}+)")
_IMAGE_SCALE = regex(r"@[1-4]x\.")
_USERINFO = regex(r"://[^\s/@\"'<>]*+\Z")


def _settle_email(text: str, at: int, end: int) -> Settled:
    """From the ``@``: a domain after it, a local part before it that is no password of a URL and no ``git@host``."""
    domain = _DOMAIN.match(text, at)
    local = _LOCAL_BACKWARDS.match(text[max(0, at - 64) : at][::-1]) if domain else None
    if domain is None or local is None or _IMAGE_SCALE.match(text, at):
        return Settled(at + 1)
    start = at - local.end()
    while start < at and text[start] in ".'-%":
        start += 1
    if start == at or text[start:at] == "git" or _is_masked(text, at) or _is_password(text, start):
        return Settled(at + 1)
    return Settled(domain.end(), ((start, domain.end(), text[start : domain.end()]),))


def _is_password(text: str, start: int) -> bool:
    """Whether the text before ``start`` is ``scheme://user:``."""
    return text[start - 1 : start] == ":" and _USERINFO.search(text[max(0, start - 96) : start]) is not None


def _is_masked(text: str, at: int) -> bool:
    """Whether the ``@`` is that of a placeholder, whatever is glued to it."""
    return text.startswith("masked-", max(0, at - 17)) and PLACEHOLDER.match(text, max(0, at - 17)) is not None


_CALLING_CODE = (
    "(?:7|2[07]|2[1-689][0-9]|3[0-469]|3[578][0-9]|4[0-13-9]|42[0-9]|5[1-8]|5[09][0-9]|6[0-6]|6[7-9][0-9]"
    "|8[1246]|8[05789][0-9]|9[0-58]|9[679][0-9])"
)
_PHONES = tuple(
    regex(rf"{pattern}(?![0-9A-Za-z_]|\[masked:)")
    for pattern in (
        r"\+1[-. ]?\(?[2-9][0-9]{2}\)?[-. ]?[0-9]{3}[-. ]?[0-9]{4}",
        rf"\+{_CALLING_CODE}(?:[ .()/-]{{0,2}}[0-9]){{6,13}}",
        r"\([0-9]{2,5}\)[ -]?[0-9]{3,8}(?:[ -]?[0-9]{2,5}){0,2}(?![-.:/ ][0-9])",
        r"\([0-9]{2,5}\)[ -]?[0-9]{3,8}(?:-?[0-9]{2,5}){0,2}",
        r"(?:1[-. ])?[2-9][0-9]{2}([-.])[0-9]{3}\1[0-9]{4}",
        r"[2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}",
        r"0[1-9](?:[ .][0-9]{2}){4}",
        r"0[1-9][0-9]{1,4}[ /][0-9]{3,8}(?:[ -]?[0-9]{2,5}){0,2}",
    )
)
_NOT_BEFORE_PHONE = regex(r"[A-Za-z0-9_+/-]\Z|[0-9]\.\Z")
_NOT_AFTER_PHONE = regex(r"[-.:/][0-9]")
_ONE_POINT = regex(r"\+[0-9]+\.[0-9]+")
_DIGITS = regex(r"[+(]?[0-9]*+")


def _settle_phone(text: str, start: int, end: int) -> Settled:
    """One of the ways in which people write a number, with nothing around it that makes it a part of something."""
    before = text[max(0, start - 2) : start]
    if not _NOT_BEFORE_PHONE.search(before) and not ends_in_placeholder(text, start):
        for pattern in _PHONES:
            phone = pattern.match(text, start)
            if phone and _is_phone(phone.group(), before, text[phone.end() : phone.end() + 2]):
                return Settled(phone.end(), ((start, phone.end(), phone.group()),))
    return Settled(_end_of_digits(text, start))


def _is_phone(value: str, before: str, after: str) -> bool:
    """Whether there are as many digits as in a telephone number; in a row of numbers between blanks there is none."""
    digits = sum(c.isdigit() for c in value)
    if _NOT_AFTER_PHONE.match(after):
        return False
    if value[0] == "+":
        plain = digits == len(value) - 1
        return (10 if plain else 8) <= digits <= 15 and not _ONE_POINT.fullmatch(value)
    in_row = (before[:1].isdigit() and before[1:] == " ") or (after[:1] == " " and after[1:].isdigit())
    return 9 <= digits <= 12 and not (in_row and _DIGITS_AND_BLANKS.fullmatch(value))


_DIGITS_AND_BLANKS = regex("[0-9 ]+")


def _end_of_digits(text: str, start: int) -> int:
    digits = _DIGITS.match(text, start)
    return digits.end() if digits else start


_CARDS = tuple(
    regex(pattern)
    for pattern in (
        r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6(?:011|22[0-9]|4[4-9][0-9]|5[0-9]{2})|35[2-8][0-9]|62[0-9]{2})"
        r"([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}",
        r"3[47][0-9]{2}([ -]?)[0-9]{6}\1[0-9]{5}",
        r"3(?:0[0-5]|[68][0-9])[0-9]([ -]?)[0-9]{6}\1[0-9]{4}",
        r"4[0-9]{12}",
    )
)
_NOT_BEFORE_CARD = regex(r"[A-Za-z0-9_+/-]\Z|[0-9]\.\Z")
_NOT_AFTER_CARD = regex(r"[A-Za-z0-9_/]|[-.:][0-9]|[-+=][A-Za-z0-9]|[-+=]?\[masked:")
_GROUPS_BEFORE = regex(r"[0-9] [0-9]+ \Z")
_GROUPS_AFTER = regex(" [0-9]{4} [0-9]{4}")


def _settle_card(text: str, start: int, end: int) -> Settled:
    """An issuer's prefix and length in an issuer's grouping, a right check digit, and nothing glued to it."""
    if not _NOT_BEFORE_CARD.search(text[max(0, start - 2) : start]) and not ends_in_placeholder(text, start):
        for pattern in _CARDS:
            card = pattern.match(text, start)
            if card and passes_luhn(card.group()) and not _NOT_AFTER_CARD.match(text, card.end()):
                if card.lastindex and card.group(1) == " " and _is_in_row(text, start, card.end()):
                    break
                return Settled(card.end(), ((start, card.end(), card.group()),))
    return Settled(_end_of_digits(text, start))


def _is_in_row(text: str, start: int, end: int) -> bool:
    """Whether groups of digits stand in a row of more such groups, as in a table of numbers."""
    return bool(_GROUPS_BEFORE.search(text[max(0, start - 16) : start]) or _GROUPS_AFTER.match(text, end))


def _phone(pattern: str, *literals: bytes, gate: bytes = b"", numeric: bool = False) -> Rule:
    return Rule(
        "phone",
        pattern=pattern,
        form=Pseudonyms.phone,
        settle=_settle_phone,
        sign=Sign("digits", literals, gate),
        heavy=numeric,
        numeric=numeric,
    )


PEOPLE_RULES: tuple[Rule, ...] = (
    Rule(
        "email",
        pattern=r"@[^\x00-,/:->@\[-^`{-\x7f]{1,63}\.",
        form=Pseudonyms.email,
        settle=_settle_email,
        sign=Sign("text", (b"@",)),
        heavy=False,
    ),
    _phone(r"\+[1-9][0-9 (./-][0-9 ()./-]{5}", b"+00", b"+0-", b"+0(", gate=b"+"),
    _phone(r"\([0-9]{2,5}\)[ -]?[0-9]{3}", b"(00"),
    _phone("[2-9][0-9]{2}[-. ][0-9]{3}[-. ][0-9]{4}", b"000-000-0000", numeric=True),
    _phone("1[-. ][2-9][0-9]{2}[-.][0-9]{3}[-.][0-9]{4}", b"0-000-000-0000"),
    _phone("0[1-9](?:[ .][0-9]{2}){4}", b"00-00-00-00-00", numeric=True),
    _phone("0[1-9][0-9]{1,4}[ /][0-9]{3}", b"000-000", numeric=True),
    Rule(
        "card",
        pattern="[2-6][0-9]{3}[ -]?(?:[0-9]{4}[ -]?[0-9]{4}|[0-9]{6}[ -]?[0-9]{2})",
        form=Pseudonyms.card,
        settle=_settle_card,
        numeric=True,
        sign=Sign("digits", (b"000000000000", b"0000-0000-0000", b"0000-000000-00")),
    ),
)
