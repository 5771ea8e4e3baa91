"""Multipart bodies compared by their parts, since each sender invents a new boundary text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from playhead.providers import decode_plain

_BOUNDARY = re.compile(r';\s*boundary\s*=\s*(?:"([^"]+)"|([^;\s]+))', re.IGNORECASE)


def normalise_multipart(content: Mapping[str, Any], content_type: str) -> Any:
    """The parts of a multipart body, or ``content`` itself where it cannot be cut into parts.

    Each part is the text of its head (names in small letters, in order) and its body in latin-1.
    """
    found = _BOUNDARY.search(content_type)
    if found is None:
        return content
    mark = b"--" + (found[1] or found[2]).encode("latin-1")
    try:
        pieces = (b"\r\n" + decode_plain(content)).split(b"\r\n" + mark)
    except (ValueError, KeyError):
        return content
    if len(pieces) < 3 or not pieces[-1].startswith(b"--") or pieces[0]:
        return content
    parts = []
    for piece in pieces[1:-1]:
        head, separator, body = piece.partition(b"\r\n\r\n")
        if not separator:
            return content
        lines = [line.partition(b":") for line in head.strip().split(b"\r\n")]
        parts.append(
            {
                "head": [[name.decode("latin-1").lower(), value.strip().decode("latin-1")] for name, _, value in lines],
                "body": body.decode("latin-1"),
            }
        )
    return {"multipart": parts}
