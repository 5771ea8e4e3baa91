"""Comparing two sides whose masks were made with different keys, such as a recording that came from elsewhere.

One placeholder is then as good as another: also where it stands percent-encoded or in base64.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from playhead.masking import PLACEHOLDER
from playhead.player._requests import Request

_ANY: Final = "[masked]"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")


def without_mask_keys(request: Request) -> Request:
    """``request`` with one and the same text for all placeholders."""
    return msgspec.structs.replace(request, name=without_keys(request.name), content=tree_without_keys(request.content))


def without_keys(text: str) -> str:
    """``text`` with one and the same text for all placeholders."""
    return PLACEHOLDER.sub(_ANY, _BASE64.sub(_open, unquote(text)))


def _open(found: re.Match[str]) -> str:
    run = found[0].rstrip("=")
    try:
        text = base64.b64decode(run + "=" * (-len(run) % 4), altchars=b"-_").decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return found[0]
    return PLACEHOLDER.sub(_ANY, text) if PLACEHOLDER.search(text) else found[0]


def tree_without_keys(tree: Any) -> Any:
    """``tree`` with one and the same text for all placeholders."""
    if isinstance(tree, str):
        return without_keys(tree)
    if isinstance(tree, Mapping):
        return {tree_without_keys(key): tree_without_keys(value) for key, value in tree.items()}
    return [tree_without_keys(item) for item in tree] if isinstance(tree, list) else tree
