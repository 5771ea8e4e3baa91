"""Secrets told by the name before them, in any text: headers, forms, JSON, code, settings.

``password=…``, ``"api_key": "…"``, ``Authorization: Bearer …``, ``os.environ["TOKEN"] = "…"``. The same judgement of
names and values serves decoded objects: see `cut_secret_parts`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from playhead.masking._names import NAME_STEMS, is_secret_name
from playhead.masking._patterns import regex
from playhead.masking._placeholder import is_placeholder
from playhead.masking._rules import Rule, Settled, Sign
from playhead.masking._unwrapping import OUTER_QUOTE

__all__ = ["ASSIGNMENT_RULES", "JSON_TYPES", "SCHEMA_VALUES", "SCHEMA_WORDS", "TOKEN_SIBLINGS", "cut_secret_parts"]

Span = tuple[int, int, str]

TOKEN_SIBLINGS = frozenset({"logprob", "logprobs", "top_logprobs", "logProbability", "tokenId", "bytes"})
"""Beside one of these keys, ``token`` is a piece of text that a model made."""

SCHEMA_WORDS = frozenset({"type", "anyOf", "oneOf", "allOf", "$ref", "enum", "const"})
"""An object with one of these keys describes a parameter of that name; it is not its value."""

JSON_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
"""What ``type`` says in a description."""

SCHEMA_VALUES = frozenset({"default", "example", "examples", "const", "enum"})
"""Where a description of a parameter holds values of it all the same."""

_SCHEME = regex(
    r"(?:bearer|basic|token|digest|negotiate|apikey|api-key|key|oauth|dpop|aws4-hmac-sha256)[ \t]+", re.IGNORECASE
)
_LONG_COOKIE_NAME = 16
"""A longer one without a value is no name: it is base64 with its padding."""


_NO_SECRETS = frozenset({"true", "false", "null", "none"})


def cut_secret_parts(name: str, value: str) -> list[Span]:
    """The spans of ``value``, kept under the secret ``name``, that are to be masked.

    An authorization keeps its scheme, cookies keep their names and attributes. What is a placeholder already stays.
    """
    word = name.lower().replace("-", "_")
    if word.endswith("cookie"):
        return _cut_cookies(value, only_first=word.startswith("set"))
    if value.lower() in _NO_SECRETS:
        return []
    scheme = _SCHEME.match(value)
    start = scheme.end() if scheme else 0
    end = len(value.rstrip())
    return [(start, end, value[start:end])] if start < end and not is_placeholder(value[start:end]) else []


def _cut_cookies(value: str, *, only_first: bool) -> list[Span]:
    spans: list[Span] = []
    position = 0
    for part in value.split(";"):
        name, equals, content = part.partition("=")
        bare = content.strip().strip('"')
        if equals and (bare.strip("=") or len(name.strip()) < _LONG_COOKIE_NAME):
            start = position + len(name) + 1 + content.find(bare)
        else:
            bare = part.strip()
            start = position + part.find(bare)
        if bare and not is_placeholder(bare):
            spans.append((start, start + len(bare), bare))
        if only_first:
            break
        position += len(part) + 1
    return spans


class _Place(NamedTuple):
    """The name before an assignment, the quote that closes it, and where its value begins."""

    name: str
    start: int
    closing: str
    operator: str
    value: int


_STEM = regex(r"[A-Za-z_-]+")
_NAME_BACKWARDS = regex(r"[A-Za-z0-9_.-]*+")
_BLANKS = regex(r"[\s=>]{0,64}")
_LITERAL = regex(r"[rbfuRBFU]{0,2}(\"\"\"|'''|\"|')")
_REST_OF = {
    '"': regex(rf'(?:[^"\\{OUTER_QUOTE}]|\\.)*+', re.DOTALL),
    "'": regex(rf"(?:[^'\\{OUTER_QUOTE}]|\\.)*+", re.DOTALL),
    '"""': regex(rf'(?:[^"\\{OUTER_QUOTE}]|\\.|"(?!""))*+', re.DOTALL),
    "'''": regex(rf"(?:[^'\\{OUTER_QUOTE}]|\\.|'(?!''))*+", re.DOTALL),
}
_CLOSES = regex(r"\s*[,:}\])]|[ \t]+\+|[ \t]*(?:[;\r\n]|\Z)")
_CROSSED = {'"': regex(r"\\{0,8}'\s*[,:}\])]"), "'": regex(r'\\{0,8}"\s*[,:}\])]')}
"""The end of the string around a text with ``name=`` and an apostrophe, which is no quote that opens a value."""

_SIBLING = regex(r"[\"']\s{0,8},\s{0,8}[\"'](?:" + "|".join(sorted(TOKEN_SIBLINGS)) + r")[\"']")
_ESCAPE = regex(r"\\(.)", re.DOTALL)


def _settle_assignment(text: str, start: int, end: int) -> Settled:
    place = _place(text, start, end)
    if place is None or "\\" in place.closing:
        return Settled(end)
    first = text[place.value : place.value + 1]
    if place.closing and first in ("{", "["):
        return _settle_container(text, place)
    if literal := _LITERAL.match(text, place.value):
        if not place.closing and _CLOSES.match(text, literal.end()):
            return Settled(literal.end())
        return _settle_literal(text, place, literal)
    if first == "\\" or (place.closing and "]" not in place.closing):
        return Settled(end)
    return _settle_bare(text, place)


def _place(text: str, start: int, end: int) -> _Place | None:
    stem = _STEM.match(text, start)
    assert stem is not None
    before = _NAME_BACKWARDS.match(text[max(0, start - 65) : start][::-1])
    assert before is not None
    first = start - before.end()
    name = text[first : stem.end()]
    if not is_secret_name(name) or text.endswith("[masked:", 0, first):
        return None
    closing, operator = text[stem.end() : end].rstrip(":=> \t"), text[end - 1]
    blanks = _BLANKS.match(text, end)
    assert blanks is not None
    return _Place(name, first, closing, operator, blanks.end())


def _settle_literal(text: str, place: _Place, opening: re.Match[str]) -> Settled:
    mark = opening.group(1)
    rest = _REST_OF[mark].match(text, opening.end())
    assert rest is not None
    end = rest.end()
    if place.name.lower() == "token" and _SIBLING.match(text, end):
        return Settled(end)
    if mark[0] not in place.closing and (crossed := _CROSSED[mark[0]].search(text, rest.start(), end)):
        end = crossed.start()
    return Settled(end, _moved(place.name, text[rest.start() : end], rest.start()))


def _moved(name: str, raw: str, start: int) -> tuple[Span, ...]:
    return tuple((start + a, start + b, _ESCAPE.sub(r"\1", value)) for a, b, value in cut_secret_parts(name, raw))


_PIECE = regex(
    rf'"((?:[^"\\{OUTER_QUOTE}]|\\.)*+)("?)(\s{{0,8}}:)?|([\[{{])|([\]}}])|[^"\[\]{{}}{OUTER_QUOTE}]++', re.DOTALL
)


def _settle_container(text: str, place: _Place) -> Settled:
    """All strings of the object or list under a secret name, but its keys; of a schema, the examples in it."""
    spans: list[Span] = []
    depth, position, key, schema = 0, place.value, "", False
    while position < len(text) and (piece := _PIECE.match(text, position)):
        position = piece.end()
        if piece.group(4):
            depth += 1
        elif piece.group(5):
            depth -= 1
            if depth == 0:
                break
        elif piece.group(3):
            key = piece.group(1)
            schema = schema or (key in SCHEMA_WORDS and key != "type")
        elif key == "type" and piece.group(1) in JSON_TYPES:
            schema = True
        elif piece.group(1) and (not schema or key in SCHEMA_VALUES):
            spans += _moved(place.name, piece.group(1), piece.start(1))
    return Settled(position, tuple(spans))


_LINE = regex(rf"[^\r\n\"'\\{OUTER_QUOTE}]*+")
_BARE = regex(rf"[^\s\"'<>&;,(){{}}\[\]\\|`{OUTER_QUOTE}]++")
_PATH = regex(r"[A-Za-z_][A-Za-z_.]*")
_NUMBER = regex(r"[+-]?[0-9][0-9_.,]*")


def _settle_bare(text: str, place: _Place) -> Settled:
    """A value without quotes: a header's to the end of its line, a form's whatever it is, else one that is no code."""
    last = place.name.lower().replace("-", "_").rpartition("_")[2]
    if last in ("authorization", "cookie") and place.operator == ":":
        line = _LINE.match(text, place.value)
        assert line is not None
        return Settled(line.end(), _moved(place.name, line.group(), line.start()))
    bare = _BARE.match(text, place.value)
    if bare is None:
        return Settled(place.value)
    value, stop = bare.group(), bare.end()
    before, after = text[max(0, place.start - 1) : place.start], text[stop : stop + 1]
    in_form = place.operator == "=" and before in ("", "&", "?") and after in ("", "&")
    if not in_form and (_is_code(value) or after in ("(", "[", "{", "<")):
        return Settled(stop)
    return Settled(stop, _moved(place.name, value, bare.start()))


def _is_code(value: str) -> bool:
    """Whether ``value`` is rather a name, a number, a reference to a variable or a URL than a secret."""
    return (
        len(value) < 6
        or value[0] in "$%*@"
        or "://" in value
        or _PATH.fullmatch(value) is not None
        or _NUMBER.fullmatch(value) is not None
    )


def _rule(stem: str) -> Rule:
    name = stem.replace("[_-]", "") + ":"
    return Rule(
        "secret",
        pattern=rf"{stem}[\\\"'\]]{{0,16}}[ \t]{{0,4}}(?:=>|[:=])",
        settle=_settle_assignment,
        sign=Sign("names", (name.encode(),), gate=name[-4:].encode()),
        heavy=False,
        folded=True,
    )


ASSIGNMENT_RULES: tuple[Rule, ...] = tuple(map(_rule, NAME_STEMS))
"""The value after a name that says it is a secret."""
