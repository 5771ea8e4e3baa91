"""What ``final`` has already, so that an event can refer to it."""

from __future__ import annotations

from typing import Any

from playhead.providers._columns import same
from playhead.providers._draft import Path

__all__ = ["Known", "equal"]


class Known:
    """Finds parts of ``final`` that stand in an event again.

    Equal parts get equal numbers; 1 and 1.0, and the same keys in another order, are not equal.
    """

    def __init__(self, final: Any) -> None:
        self._numbers: dict[Any, int] = {}
        self._paths: dict[int, Path] = {}
        self._dicts: dict[tuple[str, ...], list[tuple[Path, dict[str, Any]]]] = {}
        self._learn(final, ())

    def _learn(self, value: Any, path: Path) -> int:
        if type(value) is dict:
            self._dicts.setdefault(tuple(value), []).append((path, value))
            key: Any = ("{", *((name, self._learn(child, (*path, name))) for name, child in value.items()))
        elif type(value) is list:
            key = ("[", *(self._learn(child, (*path, place)) for place, child in enumerate(value)))
        else:
            key = _leaf_key(value)
        number = self._numbers.setdefault(key, len(self._numbers))
        if number not in self._paths or len(path) < len(self._paths[number]):
            self._paths[number] = path
        return number

    def find(self, value: Any) -> Path | None:
        """Where ``final`` has exactly this."""
        number = self._number(value)
        return None if number is None else self._paths[number]

    def _number(self, value: Any) -> int | None:
        if type(value) is dict:
            parts: list[Any] = ["{"]
            for name, child in value.items():
                number = self._number(child)
                if number is None:
                    return None
                parts.append((name, number))
            return self._numbers.get(tuple(parts))
        if type(value) is list:
            numbers = [self._number(child) for child in value]
            return None if None in numbers else self._numbers.get(("[", *numbers))
        return self._numbers.get(_leaf_key(value))

    def find_like(self, value: dict[str, Any]) -> tuple[Path, dict[str, Any]] | None:
        """Where ``final`` has an object of the same keys of which most have the same value."""
        if len(value) < 4:
            return None
        best, most = None, len(value) // 2
        for path, known in self._dicts.get(tuple(value), ())[:8]:
            alike = sum(1 for key, child in value.items() if equal(known[key], child))
            if alike > most:
                best, most = (path, known), alike
        return best


def _leaf_key(value: Any) -> Any:
    return (type(value).__name__, repr(value) if type(value) is float else value)


def equal(one: Any, two: Any) -> bool:
    if type(one) is dict and type(two) is dict:
        return list(one) == list(two) and all(equal(one[key], two[key]) for key in one)
    if type(one) is list and type(two) is list:
        return len(one) == len(two) and all(map(equal, one, two))
    return same(one, two)
