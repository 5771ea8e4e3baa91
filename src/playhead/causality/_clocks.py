"""Which event comes before which, whatever the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from playhead.causality._nodes import Chain

_NOTHING: Final[Mapping[Chain, int]] = MappingProxyType({})


class Clocks:
    """For each event, how far it knows every other strand of every lane to have come.

    Events that learn nothing new share one table, so the memory follows the edges between strands.
    """

    def __init__(self) -> None:
        self._known: dict[int, Mapping[Chain, int]] = {}
        self._where: dict[int, tuple[Chain, int]] = {}

    def add(self, seq: int, chain: Chain, place: int, before: Iterable[int]) -> None:
        """The event ``seq`` follows from those ``before``, which have all been added."""
        tables = [(self._where[each], self._known[each]) for each in before]
        known = next((table for (other, _), table in tables if other == chain), _NOTHING)
        news: dict[Chain, int] = {}
        for (other, reached), table in tables:
            if table is not known:
                _learn(news, known, table)
            if other != chain:
                _learn(news, known, {other: reached})
        news.pop(chain, None)
        self._known[seq] = {**known, **news} if news else known
        self._where[seq] = (chain, place)

    def reaches(self, before: int, after: int) -> bool:
        """Whether a path leads from one event to the other, or they are the same."""
        chain, place = self._where[before]
        other, reached = self._where[after]
        return place <= (reached if chain == other else self._known[after].get(chain, -1))

    def seen(self, seq: int, chain: Chain) -> int:
        """The index of the last event of another ``chain`` that comes before ``seq``; -1 where none does."""
        return self._known[seq].get(chain, -1)


def _learn(news: dict[Chain, int], known: Mapping[Chain, int], table: Mapping[Chain, int]) -> None:
    for chain, place in table.items():
        if place > known.get(chain, -1) and place > news.get(chain, -1):
            news[chain] = place
