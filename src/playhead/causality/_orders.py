"""Other orders in which a run could have gone, each with one race decided the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from playhead.causality._graph import Graph
from playhead.causality._nodes import Edge
from playhead.causality._races import Race, find_races
from playhead.eventlog import Recording
from playhead.events import ErasedBody

_CANCELLED: Final = re.compile(r"asyncio\b.*\bCancelledError|trio\b.*\bCancelled")
_WAYS: Final = ("direct", "data", "order")
_LOOKED_AT: Final = 500


class OtherOrder(msgspec.Struct, frozen=True):
    """All moments of a recording by their ``seq``, so that the second exchange of ``race`` ends before the first.

    ``also`` are the other pairs of exchanges, by their questions, that end the other way round with it, but for those
    that follow from it. ``turned`` counts all that do.
    """

    race: Race
    order: tuple[int, ...]
    also: tuple[tuple[int, int], ...] = ()
    turned: int = 1


class Orders:
    """The other orders of a recording: of each race the one that moves least. Iterating over it gives them once.

    ``races`` counts the races seen so far, ``one_sided`` those of them of which one exchange was cancelled, or its
    answer erased: what it would have answered is not known, so nothing can be tried there.
    """

    def __init__(self, recording: Recording, graph: Graph) -> None:
        self.races = 0
        self.one_sided = 0
        self._recording = recording
        self._graph = graph
        self._moments = [moment.seq for moment in recording.moments()]
        self._ends = {
            moment.seq: moment.of
            for moment in recording.moments()
            if moment.of != moment.seq and not moment.kind.startswith("sleep.")
        }
        self._answered: dict[int, bool] = {}

    def __iter__(self) -> Iterator[OtherOrder]:
        """First come the races whose exchanges met most closely, and of those the ones that move least with them."""
        seen: set[tuple[int, ...]] = set()
        tried: set[tuple[int, int]] = set()
        for race in self._most_telling():
            pair = race.first, race.second
            if pair in tried:
                continue
            tried.add(pair)
            self.races += 1
            if not self._is_open(race):
                self.one_sided += 1
                continue
            found = self._reverse(race)
            ends = tuple(seq for seq in found.order if seq in self._ends)
            if ends not in seen:
                seen.add(ends)
                yield found

    def _most_telling(self) -> Iterator[Race]:
        """The races; of the many that there may be a sample is put in order, the others follow."""
        pairs = find_races(self._graph, each="pair")
        sample = dict.fromkeys([*islice(find_races(self._graph), _LOOKED_AT), *islice(pairs, _LOOKED_AT)])
        cost = {race: self._reverse(race).turned for race in sample if self._is_open(race)}
        yield from sorted(sample, key=lambda race: (_WAYS.index(race.way), cost.get(race, 0)))
        yield from pairs

    def _is_open(self, race: Race) -> bool:
        return self._has_answer(race.first) and self._has_answer(race.second)

    def _has_answer(self, question: int) -> bool:
        """Whether an exchange has an answer that can be given at another time: it ran its course."""
        if question not in self._answered:
            answer = self._graph.answer(question)
            body: Any = self._recording.events[answer].body if answer is not None else None
            error = getattr(body, "error", None)
            cancelled = getattr(body, "end", None) == "cancelled" or (
                isinstance(error, dict) and _CANCELLED.match(str(error.get("class"))) is not None
            )
            self._answered[question] = not (body is None or isinstance(body, ErasedBody) or cancelled)
        return self._answered[question]

    def _reverse(self, race: Race) -> OtherOrder:
        """Have the second end first: bring what it needs before the first's end, or what follows from that after it."""
        first, second = self._end(race.first), self._end(race.second)
        between = [seq for seq in self._moments if first <= seq <= second]
        needed = _collect(second, self._graph.into, lambda edge: edge.before, lambda seq: seq > first)
        led_to = _collect(first, self._graph.out_of, lambda edge: edge.after, lambda seq: seq < second)
        brought = [seq for seq in between if seq in needed]
        put_off = [seq for seq in between if seq in led_to]
        if len(brought) <= len(put_off):
            middle = [*brought, *(seq for seq in between if seq not in needed)]
        else:
            middle = [*(seq for seq in between if seq not in led_to), *put_off]
        start = self._moments.index(first)
        order = (*self._moments[:start], *middle, *self._moments[start + len(between) :])
        turned = list(self._turned(middle))
        also = (pair for pair in turned if not self._follows(race, *pair))
        return OtherOrder(race, order, tuple(also), len(turned))

    def _end(self, question: int) -> int:
        answer = self._graph.answer(question)
        assert answer is not None
        return answer

    def _follows(self, race: Race, one: int, other: int) -> bool:
        """Whether two exchanges cannot but end the other way round with the race, or are that race."""
        reaches = self._graph.reaches
        return reaches(self._end(race.first), self._end(one)) and reaches(self._end(other), self._end(race.second))

    def _turned(self, middle: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The pairs of exchanges, as recorded, that end the other way round in ``middle``."""
        ends = [seq for seq in middle if seq in self._ends]
        for at, later in enumerate(ends):
            for earlier in ends[at + 1 :]:
                if earlier < later:
                    yield self._ends[earlier], self._ends[later]


def _collect(
    start: int,
    edges_of: Callable[[int], Sequence[Edge]],
    other: Callable[[Edge], int],
    within: Callable[[int], bool],
) -> set[int]:
    """What a path leads to from ``start``, itself included, without leaving the range."""
    seqs, queue = {start}, [start]
    while queue:
        for edge in edges_of(queue.pop()):
            seq = other(edge)
            if seq not in seqs and within(seq):
                seqs.add(seq)
                queue.append(seq)
    return seqs


def find_orders(recording: Recording, graph: Graph) -> Orders:
    """The other orders in which a run could have gone: each respects all edges and differs from the others in its ends.

    Which there are follows from the recording alone. They are made one by one: of many lanes there are many.
    """
    return Orders(recording, graph)
