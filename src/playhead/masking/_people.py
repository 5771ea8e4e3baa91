"""What belongs to people: e-mail addresses, telephone numbers, payment cards. Each keeps its form.

Identifiers, times, digests and versions hold many digits as well, so these rules ask for the whole shape: a card
has an issuer's prefix and length and passes Luhn, a telephone number is written as people write one.
"""

from __future__ import annotations

import re

from playhead.masking._placeholder import PLACEHOLDER, Pseudonyms, ends_in_placeholder, passes_luhn
from playhead.masking._rules import Rule, Settled, Sign

__all__ = ["PEOPLE_RULES"]

_LOCAL_BACKWARDS = re.compile(r"[\w.%+'-]{1,64}+")
_DOMAIN = re.compile(r"@(?:[\w-]{1,63}\.){1,8}(?:xn--[a-z0-9-]{1,59}|[^\W\d_]{2,24}+)")
_IMAGE_SCALE = re.compile(r"@[1-4]x\.")
_USERINFO = re.compile(r"://[^\s/@\"'<>]*+\Z")


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
    "(?:1|7|2[07]|2[1-689][0-9]|3[0-469]|3[578][0-9]|4[0-13-9]|42[0-9]|5[1-8]|5[09][0-9]|6[0-6]|6[7-9][0-9]"
    "|8[1246]|8[05789][0-9]|9[0-58]|9[679][0-9])"
)
_PHONES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\+{_CALLING_CODE}(?:[ .()/-]{{0,2}}[0-9]){{6,13}}+",
        r"\([0-9]{2,5}\)[ -]?[0-9]{3,8}(?:[ -]?[0-9]{2,5}){0,2}",
        r"(?:1[-. ])?[2-9][0-9]{2}([-.])[0-9]{3}\1[0-9]{4}",
        r"[2-9][0-9]{2} [2-9][0-9]{2} [0-9]{4}",
        r"0[1-9](?:[ .][0-9]{2}){4}",
        r"0[1-9][0-9]{1,4}[ /][0-9]{3,8}(?:[ -]?[0-9]{2,5}){0,2}",
    )
)
_NOT_BEFORE_PHONE = re.compile(r"[A-Za-z0-9_+/.=-]|[0-9] ")
_NOT_AFTER_PHONE = re.compile(r"[A-Za-z0-9_]|[-.:/ ][0-9]|\[masked:")
_PHONE_RUN = re.compile(r"[+(]?[0-9](?:[ .()/-]{0,2}[0-9])*+")
_ONE_POINT = re.compile(r"\+[0-9]+\.[0-9]+")


def _settle_phone(text: str, start: int, end: int) -> Settled:
    """One of the ways in which people write a number, with nothing around it that makes it a part of something.

    Where it is none, no later part of the same run of digits is one: it would have digits before it.
    """
    run = _PHONE_RUN.match(text, start)
    assert run is not None
    before = text[max(0, start - 2) : start]
    if _NOT_BEFORE_PHONE.match(before, len(before) - 1) or _NOT_BEFORE_PHONE.fullmatch(before):
        return Settled(run.end())
    if ends_in_placeholder(text, start):
        return Settled(run.end())
    for pattern in _PHONES:
        phone = pattern.match(text, start)
        if phone and _is_phone(phone.group()) and not _NOT_AFTER_PHONE.match(text, phone.end()):
            return Settled(phone.end(), ((start, phone.end(), phone.group()),))
    return Settled(run.end())


def _is_phone(value: str) -> bool:
    digits = sum(c.isdigit() for c in value)
    if value[0] != "+":
        return 9 <= digits <= 12
    if value[1] == "1" and (digits != 11 or "".join(c for c in value if c.isdigit())[1] in "01"):
        return False
    plain = digits == len(value) - 1
    return (10 if plain else 8) <= digits <= 15 and not _ONE_POINT.fullmatch(value)


_CARDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?:4[0-9]{3}|5[1-5][0-9]{2}|2[2-7][0-9]{2}|6(?:011|22[0-9]|4[4-9][0-9]|5[0-9]{2})|35[2-8][0-9]|62[0-9]{2})"
        r"([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}",
        r"3[47][0-9]{2}([ -]?)[0-9]{6}\1[0-9]{5}",
        r"3(?:0[0-5]|[68][0-9])[0-9]([ -]?)[0-9]{6}\1[0-9]{4}",
        r"4[0-9]{12}",
    )
)
_CARD_RUN = re.compile(r"[0-9](?:[ -]?[0-9])*+")
_NOT_BEFORE_CARD = re.compile(r"[A-Za-z0-9_+/.=-]|[0-9] ")
_NOT_AFTER_CARD = re.compile(r"[A-Za-z0-9_/]|[-.: ][0-9]|[-+=][A-Za-z0-9]|[-+=]?\[masked:")


def _settle_card(text: str, start: int, end: int) -> Settled:
    """An issuer's prefix and length in an issuer's grouping, a right check digit, and nothing glued to it.

    Where it is none, no later part of the same run of digits is one: it would have digits before it.
    """
    run = _CARD_RUN.match(text, start)
    assert run is not None
    before = text[max(0, start - 2) : start]
    glued = before[-1:] not in ("=", ":") and (
        _NOT_BEFORE_CARD.match(before, len(before) - 1) or _NOT_BEFORE_CARD.fullmatch(before)
    )
    if not glued and not ends_in_placeholder(text, start):
        for pattern in _CARDS:
            card = pattern.match(text, start)
            if card and passes_luhn(card.group()) and not _NOT_AFTER_CARD.match(text, card.end()):
                return Settled(card.end(), ((start, card.end(), card.group()),))
    return Settled(run.end())


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
