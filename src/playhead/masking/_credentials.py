"""Secrets that stand in text by their own grammar: private keys, bearer and basic credentials, URLs."""

from __future__ import annotations

import base64
import re
from urllib.parse import unquote

from playhead.masking._names import is_secret_parameter
from playhead.masking._patterns import regex
from playhead.masking._placeholder import PLACEHOLDER, Pseudonyms, is_placeholder
from playhead.masking._rules import Rule, Settled, Sign
from playhead.masking._unwrapping import OUTER_QUOTE

__all__ = ["CREDENTIAL_RULES"]

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BLOCK = regex(rf"{_BEGIN}(?:[A-Za-z0-9+/=:,.\s]|-(?!-))*+{_END}")
_PEM_OPEN = regex(
    rf"(?:{_BEGIN}(?:\s{{0,4}}[A-Za-z-]{{1,32}}: [A-Za-z0-9,-]{{1,80}})*+"
    r"(?:\s{0,4}[A-Za-z0-9+/=]{20,})*+\s{0,4}[A-Za-z0-9+/=]*+)++"
)
_PEM_ENDS = regex(rf"(?:\s{{0,4}}{_END})++")
_PEM_TAIL_BACKWARDS = regex(r"[A-Za-z0-9+/=\r\n]*+")


def _settle_pem(text: str, start: int, end: int) -> Settled:
    """The whole block; without its end, as far as it may reach; without its begin, the part before the end."""
    block = _PEM_BLOCK.match(text, start) or _PEM_OPEN.match(text, start) or _PEM_ENDS.match(text, start)
    if block is None:
        return Settled(end)
    first = _reach_back(text, start) if text.startswith("-----END", start) else start
    last = first + len(text[first : block.end()].rstrip())
    return Settled(block.end(), ((first, last, text[first:last]),))


def _reach_back(text: str, stop: int) -> int:
    """Where the key material that ends at ``stop`` begins, 8 kB back at most."""
    length = 0
    for reach in (64, 1024, 8192):
        tail = _PEM_TAIL_BACKWARDS.match(text[max(0, stop - reach) : stop][::-1])
        length = tail.end() if tail else 0
        if length < reach:
            break
    return stop - length


_LONGEST_ADDRESS = 64
"""The placeholder of an address reaches no further beyond its part before the ``@``."""

_SPACE = regex(r"[A-Za-z]+[ \t]+")
_BEARER = regex(r"[A-Za-z0-9._~+/=-]++")
_BASIC = regex(r"[A-Za-z0-9+/]++={0,2}")
_DIGIT_OR_LONG = regex("[0-9]|[A-Za-z]{24}")
_UPPER = regex("[A-Z]")
_SIGN = regex("[._~+/=-]")


def _settle_bearer(text: str, start: int, end: int) -> Settled:
    """``Bearer x`` where x is no word of a sentence. What a mask put there, and its digits, says nothing of x."""
    space = _SPACE.match(text, start)
    assert space is not None
    token = _BEARER.match(text, space.end())
    assert token is not None
    stop = _first_mask(text, token.start(), token.end()) if "masked-" in token.group() else token.end()
    value = text[token.start() : stop].rstrip(".")
    if not _DIGIT_OR_LONG.search(value) and not (_UPPER.search(value) and _SIGN.search(value)):
        return Settled(token.end())
    return Settled(token.end(), ((token.start(), token.start() + len(value), value),))


def _first_mask(text: str, start: int, end: int) -> int:
    """Where the first placeholder that begins between ``start`` and ``end`` begins, else ``end``."""
    found = PLACEHOLDER.search(text, start, end + _LONGEST_ADDRESS)
    return found.start() if found and found.start() < end else end


def _settle_basic(text: str, start: int, end: int) -> Settled:
    """``Basic x`` where x is the base64 of ``user:password``."""
    space = _SPACE.match(text, start)
    assert space is not None
    token = _BASIC.match(text, space.end())
    if token is None:
        return Settled(end)
    padded = token.group() + "=" * (-len(token.group()) % 4)
    try:
        decoded = base64.b64decode(padded, validate=True)
    except ValueError:
        return Settled(token.end())
    if b":" not in decoded or min(decoded) < 32:
        return Settled(token.end())
    return Settled(token.end(), ((token.start(), token.end(), token.group()),))


def _settle_userinfo(text: str, start: int, end: int) -> Settled:
    """The password between ``://user:`` and ``@``, or a long token that stands there alone."""
    userinfo = text[start + 3 : end - 1]
    masked = PLACEHOLDER.match(userinfo)
    user, colon, password = userinfo[masked.end() if masked else 0 :].partition(":")
    first = end - 1 - len(password if colon else user)
    value = password if colon else user
    known = None if colon else PLACEHOLDER.search(text, first, end + len("masked.invalid"))
    if known is not None and known.start() < end - 1:  # an address that was masked: what stands before it is too short
        value = text[first : known.start()]
    telling = (
        value and OUTER_QUOTE not in userinfo and (colon or (len(value) >= 20 and any(c.isdigit() for c in value)))
    )
    if not telling or (value[0] in "$<{%*[" and not colon) or _is_reference(value) or is_placeholder(value):
        return Settled(end)
    return Settled(end, ((first, end - 1, unquote(value)),))


def _is_reference(value: str) -> bool:
    return re.fullmatch(r"\$\w*|\$?\{.*\}|<.*>|%\(?\w*\)?s|\*+", value) is not None


_VALUE = regex(rf"[^&\s\"'<>#\\;{OUTER_QUOTE}]++")


def _settle_parameter(text: str, start: int, end: int) -> Settled:
    """The value of a query parameter whose name says that it is a secret."""
    value = _VALUE.match(text, end) if text[start] in "?&;" else None
    if value is None or not is_secret_parameter(text[start + 1 : end - 1]) or is_placeholder(unquote(value.group())):
        return Settled(end)
    return Settled(value.end(), ((value.start(), value.end(), unquote(value.group())),))


CREDENTIAL_RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        pattern=r"-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY",
        settle=_settle_pem,
        sign=Sign("text", (b"PRIVATE KEY",)),
        heavy=False,
    ),
    Rule(
        "url-password",
        pattern=r"://[^\s/\"'<>\\]{1,256}@",
        form=Pseudonyms.in_url,
        settle=_settle_userinfo,
        sign=Sign("text", (b"://",)),
        heavy=False,
    ),
    Rule(
        "secret",
        pattern=r"[?&;](?:key|sig|signature|x-(?:amz|goog)-(?:signature|credential))=",
        settle=_settle_parameter,
        folded=True,
        sign=Sign("names", (b"key:", b"sig:", b"signature:", b"credential:")),
    ),
    Rule(
        "secret",
        pattern=r"bearer[ \t]{1,4}[a-z0-9._~+/=-]{8}",
        settle=_settle_bearer,
        folded=True,
        sign=Sign("squeezed", (b"bearer",)),
    ),
    Rule(
        "secret",
        pattern=r"basic[ \t]{1,4}[a-z0-9+/=]{8}",
        settle=_settle_basic,
        folded=True,
        sign=Sign("squeezed", (b"basic",)),
    ),
)
