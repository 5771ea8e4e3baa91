"""Parts: what a body refers to instead of repeating it, and how a reader puts it back.

In a body,

- ``{"$part": "<digest>"}`` stands for the content of the earlier ``part.kept`` event with that digest;
- ``{"$list": {"of": seq, "path": [...], "keep": n, "then": [...]}}`` stands for the first ``n`` items of the list
  at ``path`` in the body of the earlier event ``seq``, then those of ``then``;
- a key that the recorded data itself has and that reads ``$part`` or ``$list``, with any number of ``$``, is
  written with one ``$`` more, and a reader takes it off. No other key is touched: this layer lies on top of the
  tagged values of `playhead.events.encode`, and knows nothing of them.

A digest names a part within its recording and nothing more: made with a key that is thrown away when the run
ends (`part_digest`), it cannot be used to test guesses once the part has been erased. The chain, not the
digest, proves the content.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final

import msgspec

_STRING: Final = re.compile(rb'"((?:[^"\\]|\\.)*+)"(\s*+:)?', re.DOTALL)
_RESERVED: Final = re.compile(r"\$+(?:part|list)")
_SIGNS: Final = (b'$part"', b'$list"', b"\\u0024", b"\\u006", b"\\u007")


def part_digest(content: bytes, *, key: bytes) -> str:
    """The name of a part with this ``content``: 32 hexadecimal digits, to be told by nobody without ``key``."""
    return blake2b(content, key=key, digest_size=16).hexdigest()


def part_ref(digest: str) -> dict[str, Any]:
    """What stands for a part."""
    return {"$part": digest}


def list_ref(*, of: int, path: list[str | int], keep: int, then: list[Any]) -> dict[str, Any]:
    """What stands for a list that begins as an earlier one does."""
    return {"$list": {"of": of, "path": path, "keep": keep, "then": then}}


def may_refer(text: bytes) -> bool:
    """Whether JSON text may have a key of this layer; ``False`` is sure.

    The signs that are no names are escapes by which a name could be written.
    """
    if b"$" not in text and b"\\" not in text:
        return False
    return any(sign in text for sign in _SIGNS)


def escape(tree: Any) -> Any:
    """A JSON tree of recorded data, made safe from this layer. What needs nothing is given back itself.

    >>> escape({"$part": 1, "$ref": 2})
    {'$$part': 1, '$ref': 2}
    """
    return _escaped(tree) if _has_reserved(tree) else tree


def _has_reserved(tree: Any) -> bool:
    if isinstance(tree, dict):
        return any(escape_key(key) is not key for key in tree) or any(map(_has_reserved, tree.values()))
    return isinstance(tree, list) and any(map(_has_reserved, tree))


def _escaped(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {escape_key(key): _escaped(value) for key, value in tree.items()}
    return list(map(_escaped, tree)) if isinstance(tree, list) else tree


def escape_text(text: bytes) -> bytes:
    """The same for JSON text: apart from keys of this layer, not a byte is changed.

    >>> escape_text(b'{"$list": 1.50, "a": "$list"}')
    b'{"$$list": 1.50, "a": "$list"}'
    """
    return _STRING.sub(_escape_match, text) if may_refer(text) else text


def _escape_match(match: re.Match[bytes]) -> bytes:
    if match[2] is None:
        return match[0]
    try:
        key = msgspec.json.decode(b'"%b"' % match[1], type=str)
    except msgspec.MsgspecError:
        return match[0]
    escaped = escape_key(key)
    return match[0] if escaped is key else b'"%b"%b' % (escaped.encode(), match[2])


def escape_key(key: str) -> str:
    """A key of recorded data as it is written."""
    return "$" + key if key[:1] == "$" and _RESERVED.fullmatch(key) else key


def unescape_key(key: str) -> str:
    """The key that `escape_key` was given."""
    return key[1:] if key[:2] == "$$" and _RESERVED.fullmatch(key) else key
