"""Headers as they go on: all but those that are between two neighbours."""

from __future__ import annotations

from collections.abc import Iterable

from playhead.boundary import HeaderPairs

_HOP_BY_HOP = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
        *("te", "trailer", "transfer-encoding", "upgrade", "expect"),
    }
)
RawPairs = list[tuple[bytes, bytes]]


def end_to_end(headers: HeaderPairs, *, but: Iterable[str] = ()) -> HeaderPairs:
    """The headers that are for whoever is at the other end; ``but`` are more names, in small letters."""
    named = {
        word.strip().lower() for name, value in headers if name.lower() == "connection" for word in value.split(",")
    }
    out = _HOP_BY_HOP | named | set(but)
    return tuple((name, value) for name, value in headers if name.lower() not in out)


def to_raw(headers: HeaderPairs) -> RawPairs:
    """As bytes on the wire."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def from_raw(headers: Iterable[tuple[bytes, bytes]]) -> HeaderPairs:
    """From bytes on the wire."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
