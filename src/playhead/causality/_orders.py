"""Other orders in which a run could have gone, each with one race decided the other way round."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
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
"""So many races, and as many pairs, are put in order by how much moves with them."""

_SHOWN: Final = 20


class OtherOrder(msgspec.Struct, frozen=True):
    """All moments of a recording by their ``seq``, so that the second exchange of ``race`` ends before the first.

    ``also`` are other pairs of exchanges, by their questions, that end the other way round with it though they do not
    follow from it; a few of them where there are many.
    """

    race: Race
    order: tuple[int, ...]
    also: tuple[tuple[int, int], ...] = ()


class _Turn(msgspec.Struct):
    """Moments ``between`` the ends of two exchanges, from the place ``start`` on: those that now come ``earlier``."""

    start: int
    between: list[int]
    earlier: list[int]
    later: list[int]


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
            found = self._other(race)
            ends = tuple(seq for seq in found.order if seq in self._ends)
            if ends not in seen:
                seen.add(ends)
                yield found

    def _most_telling(self) -> Iterator[Race]:
        """The races; of the many that there may be a sample is put in order, the others follow."""
        pairs = find_races(self._graph, each="pair")
        sample = dict.fromkeys([*islice(find_races(self._graph), _LOOKED_AT), *islice(pairs, _LOOKED_AT)])
        cost = {race: self._cost(race) for race in sample if self._is_open(race)}
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

    def _turn(self, race: Race) -> _Turn:
        """Have the second end first: bring what it needs before the first's end, or put off what follows from that."""
        first, second = self._end(race.first), self._end(race.second)
        start, end = bisect_left(self._moments, first), bisect_right(self._moments, second)
        between = self._moments[start:end]
        needed = _collect(second, self._graph.into, lambda edge: edge.before, lambda seq: seq > first)
        led_to = _collect(first, self._graph.out_of, lambda edge: edge.after, lambda seq: seq < second)
        brought = [seq for seq in between if seq in needed]
        put_off = [seq for seq in between if seq in led_to]
        if len(brought) <= len(put_off):
            return _Turn(start, between, brought, [seq for seq in between if seq not in needed])
        return _Turn(start, between, [seq for seq in between if seq not in led_to], put_off)

    def _other(self, race: Race) -> OtherOrder:
        turn = self._turn(race)
        rest = self._moments[turn.start + len(turn.between) :]
        order = (*self._moments[: turn.start], *turn.earlier, *turn.later, *rest)
        return OtherOrder(race, order, tuple(islice(self._beside(race, turn), _SHOWN)))

    def _cost(self, race: Race) -> int:
        """How many pairs of exchanges end the other way round with it."""
        turn = self._turn(race)
        earlier = [seq for seq in turn.earlier if seq in self._ends]
        return sum(len(earlier) - bisect_left(earlier, seq) for seq in turn.later if seq in self._ends)

    def _beside(self, race: Race, turn: _Turn) -> Iterator[tuple[int, int]]:
        """The pairs of exchanges, as recorded, that end the other way round though they need not for this race."""
        reaches, ends = self._graph.reaches, self._ends
        first, second = self._end(race.first), self._end(race.second)
        follow = {seq for seq in turn.later if seq in ends and reaches(first, seq)}
        lead = {seq for seq in turn.earlier if seq in ends and reaches(seq, second)}
        for one in turn.later:
            for other in turn.earlier if one in ends else ():
                if other in ends and one < other and not (one in follow and other in lead):
                    yield ends[one], ends[other]

    def _end(self, question: int) -> int:
        answer = self._graph.answer(question)
        assert answer is not None
        return answer


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
