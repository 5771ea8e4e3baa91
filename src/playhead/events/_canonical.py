"""The canonical form of a tree: the bytes by which two trees are compared. And strict reading of JSON text.

The rule, version 1. Two trees are equal where these bytes are:

1. UTF-8 JSON without spaces; object keys in the order of their code points; in texts only ``"``, ``\\`` and the
   characters before U+0020 are escaped, as ``\\b \\t \\n \\f \\r`` or ``\\u001f`` in lower case.
2. A number is its mathematical value. A whole number from -2**63 up to 2**64-1 is written in digits, any other
   whole number as ``{"$t":"int","v":"0x…"}``. What is not whole is written as ECMAScript writes it: the fewest
   digits that give the same double, with an exponent below 1e-6.
3. NaN, infinities and texts with lone surrogates are written with their tags, bare as well as tagged.
4. The items of a set, and the pairs of a dict with other keys than text, are in the order of their own
   canonical bytes.

====================================  =======================================  ==================================
tree                                  canonical                                because
====================================  =======================================  ==================================
``{"n": 1}``, ``{"n": 1.0}``          ``{"n":1}``                              one number
``0``, ``-0.0``                       ``0``                                    one number
``1e-7``, ``0.00001``                 ``1e-7``, ``0.00001``                    as ECMAScript
``9007199254740993``                  ``9007199254740993``                     whole numbers are exact …
``9007199254740992.0``                ``9007199254740992``                     … and differ from their neighbours
``1e20``, ``100000000000000000000``   ``{"$t":"int","v":"0x56bc75e2d63100000"}``  beyond 64 bits
``NaN``                               ``{"$t":"float","v":"nan"}``             no JSON number
``"a\\ud800"``                         ``{"$t":"str","v":["a",55296]}``         no Unicode text
``{"b": 1, "a": [2, 3]}``             ``{"a":[2,3],"b":1}``                    the order of keys has no meaning
``{"k":1,"k":2}`` (text)              refused by `read_json`                   no reader agrees with another
====================================  =======================================  ==================================
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import msgspec

from playhead.events._classes import refused
from playhead.events._scalars import (
    INT_HIGH,
    INT_LOW,
    encode_float,
    encode_int,
    encode_text,
    is_well_formed,
)

_encode = msgspec.json.Encoder(order="sorted").encode
_TEXT = frozenset({str})
_UNORDERED = ("dict", "frozenset", "set")


def canonical(tree: Any) -> bytes:
    """The canonical bytes of a tree. Raises `ValueRefusedError` for what is no tree or is nested too deeply."""
    try:
        try:
            return _encode(_normal(tree))
        except UnicodeEncodeError:
            return _encode(_normal(_with_tagged_texts(tree)))
    except RecursionError:
        raise refused("a value is nested too deeply to be compared") from None


def _normal(tree: Any) -> Any:
    cls = type(tree)
    if cls is str or cls is bool or tree is None:
        return tree
    if cls is int:
        return tree if INT_LOW <= tree < INT_HIGH else encode_int(tree)
    if cls is float:
        return _number(tree)
    if cls is not dict and cls is not list:
        raise refused(f"a {cls.__name__} is no part of a tree")
    if cls is dict and not _TEXT.issuperset(map(type, tree)):
        raise refused("a key of a tree is not text")
    copy = tree.copy()
    for place, held in copy.items() if cls is dict else enumerate(copy):
        kind = type(held)
        if kind is not str and kind is not bool and held is not None:
            copy[place] = _normal(held)
    if cls is dict and copy.get("$t") in _UNORDERED and type(copy.get("v")) is list:
        copy["v"].sort(key=_encode)
    return copy


def _with_tagged_texts(tree: Any) -> Any:
    if type(tree) is str:
        return tree if is_well_formed(tree) else encode_text(tree)
    if type(tree) is list:
        return list(map(_with_tagged_texts, tree))
    if type(tree) is not dict:
        return tree
    if not all(map(is_well_formed, tree)):
        raise refused("a key of a tree is not well-formed text")
    return dict(zip(tree, map(_with_tagged_texts, tree.values()), strict=True))


def _number(value: float) -> Any:
    if value - value != 0:
        return encode_float(value)
    if value.is_integer():
        return _normal(int(value))
    if 1e-6 <= abs(value) < 1e-5:
        # The one range in which the encoder writes an exponent and ECMAScript does not.
        digits = repr(abs(value)).partition("e")[0].replace(".", "")
        return msgspec.Raw(f"{'-' if value < 0 else ''}0.00000{digits}".encode())
    return value


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text, exactly: no key of an object may be lost and no number may change.

    Raises `ValueRefusedError` for text that is not JSON, an object with a repeated key, ``NaN`` and ``Infinity``,
    numbers beyond the range of a double or of more than 4,300 digits, and nesting beyond the stack.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except RecursionError:
        reason = "it is nested too deeply"
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is not UTF-8, or a number is too long"
    raise refused(f"the text cannot be read as JSON: {reason}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise refused("a JSON object has the same key twice")
    return value


def _constant(name: str) -> NoReturn:
    raise refused(f"{name} is no JSON number")


def _float(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise refused("a JSON number is beyond the range of a double")
    return value
