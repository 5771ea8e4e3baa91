"""Finding a smallest part of something that still has an effect: delta debugging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise


class Reducer:
    """Tries parts of a whole, each once, and counts how many it tried.

    ``has_effect`` is given a part, in the order of the whole.
    """

    def __init__(self, has_effect: Callable[[Sequence[int]], bool]) -> None:
        self._has_effect = has_effect
        self._known: dict[tuple[int, ...], bool] = {}

    @property
    def tried(self) -> int:
        """How many parts were tried."""
        return len(self._known)

    def has_effect(self, part: Sequence[int]) -> bool:
        """Whether this part has the effect, tried once only."""
        key = tuple(part)
        if key not in self._known:
            self._known[key] = self._has_effect(key)
        return self._known[key]

    def reduce(self, whole: Sequence[int]) -> list[int]:
        """A part of ``whole`` that has the effect, and has it no more without any one of its items.

        The whole has to have it, and the empty part not. Halves are tried first, then what is left without one of ever
        smaller pieces: n items of which k matter take about k log n tries, and at worst some n².
        """
        left = list(whole)
        pieces = 2
        while len(left) >= 2:
            parts = _split(left, pieces)
            found = next((part for part in parts if self.has_effect(part)), None)
            if found is not None:
                left, pieces = found, 2
                continue
            rests = ([at for at in left if at not in part] for part in map(set, parts)) if pieces > 2 else ()
            found = next((rest for rest in rests if self.has_effect(rest)), None)
            if found is not None:
                left, pieces = found, max(pieces - 1, 2)
            elif pieces < len(left):
                pieces = min(2 * pieces, len(left))
            else:
                break
        return left


def _split(items: list[int], pieces: int) -> list[list[int]]:
    """``items`` in so many parts of nearly the same length."""
    edges = [len(items) * at // pieces for at in range(pieces + 1)]
    return [items[start:end] for start, end in pairwise(edges) if start < end]
