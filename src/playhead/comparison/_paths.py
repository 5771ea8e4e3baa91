"""Places that are picked out by JSON pointers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from playhead.errors import UsageError
from playhead.eventlog import printable
from playhead.player import Difference


class Selection:
    """Pointers into what was asked or answered; ``*`` in one stands for any one key or place.

    A pointer picks out what lies below it too. Raises `UsageError` for what is no pointer.
    """

    def __init__(self, pointers: Sequence[str]) -> None:
        for pointer in pointers:
            if not pointer.startswith("/"):
                raise UsageError(
                    f"{printable(pointer)!r} is no path; one begins with a slash, as those that a comparison shows",
                    next="playhead diff A B --path /value/status",
                )
        self._paths = [pointer[1:].split("/") for pointer in pointers]

    def has_any(self, found: Iterable[Difference]) -> bool:
        """Whether one of these places lies at, below or above one that was picked out."""
        if not self._paths:
            return False
        return any(map(self._has, (each.path[1:].split("/") for each in found)))

    def _has(self, place: list[str]) -> bool:
        return any(all(_fit(path, place)) for path in self._paths)


def _fit(path: list[str], place: list[str]) -> Iterator[bool]:
    """A whole branch that came or went is a difference in all that lies in it, so the shorter of both decides."""
    if place == [""]:
        return
    yield from (wanted in ("*", there) for wanted, there in zip(path, place, strict=False))
