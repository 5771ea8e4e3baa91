"""JSON as it stood on the wire: parsed strictly, and the style of writing that gives the same characters again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

__all__ = ["STYLES", "Unmergeable", "copy_json", "dump", "find_style", "load"]


class Unmergeable(Exception):  # noqa: N818  (not an error: the stream is kept as it came)
    """The stream holds something that a merged form would change."""


def _refuse_constant(name: str) -> Any:
    raise Unmergeable(f"{name} is not JSON")


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Unmergeable("an object repeats a key")
    return value


_LOADER: Final = json.JSONDecoder(parse_constant=_refuse_constant)
_STRICT_LOADER: Final = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=_refuse_repeats)

_FAST_DECODER: Final = msgspec.json.Decoder()
_FAST_ENCODER: Final = msgspec.json.Encoder()


def _write_fast(value: Any) -> str:
    try:
        return _FAST_ENCODER.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return _SEPARATED["p"](value)


# The ways in which the servers we know write JSON, by the name kept in a shape: separators, then "a" for ASCII only.
# "c" and "p" are both compact; they differ in how they write floats with an exponent.
_SEPARATORS: Final = {"p": (",", ":"), "s": (", ", ": "), "k": (",", ": ")}
_SEPARATED: Final[dict[str, Callable[[Any], str]]] = {
    name + suffix: json.JSONEncoder(separators=separators, ensure_ascii=bool(suffix)).encode
    for suffix in ("", "a")
    for name, separators in _SEPARATORS.items()
}
_FLAT: Final[dict[str, Callable[[Any], str]]] = {"c": _write_fast} | _SEPARATED
_INDENTED: Final[dict[str, Callable[[Any], str]]] = {"i": json.JSONEncoder(indent=2, ensure_ascii=False).encode}
STYLES: Final = _FLAT | _INDENTED
_PADDING: Final = re.compile(r"[ ]+(?=}\Z)")


def dump(value: Any, style: str) -> str:
    """``value`` written in one of ``STYLES``."""
    return STYLES[style](value)


def find_style(value: Any, text: str, hint: str) -> str | None:
    """The style that writes ``value`` as exactly ``text``; ``hint`` is tried first."""
    if STYLES[hint](value) == text:
        return hint
    for name in _INDENTED if "\n" in text else _FLAT:
        if name != hint and (name[-1] != "a" or "\\u" in text) and STYLES[name](value) == text:
            return name
    return None


def load(text: str, hint: str) -> tuple[Any, str | None]:
    """The value of a JSON text and its style, None where no style we know writes it like this.

    Raises ValueError for what is not JSON, and Unmergeable for a repeated key, NaN or an infinity: the value
    would not say everything that the text did.
    """
    if hint == "c":
        try:
            value = _FAST_DECODER.decode(text)
            if _FAST_ENCODER.encode(value) == text.encode():
                return value, hint
        except (ValueError, OverflowError):
            pass
    value = _LOADER.decode(text)
    if text[-2:] == " }":
        # Padding that hides the length of an answer: blanks before the last brace.
        text = _PADDING.sub("", text)
    style = find_style(value, text, hint)
    if style is None:
        _STRICT_LOADER.decode(text)
        try:
            json.dumps(value, allow_nan=False)
        except ValueError:
            raise Unmergeable("a number without end") from None
    return value, style


def copy_json(value: Any) -> Any:
    """A copy whose containers are not shared with ``value``."""
    if type(value) is dict:
        return {key: copy_json(child) for key, child in value.items()}
    if type(value) is list:
        return [copy_json(child) for child in value]
    return value
