"""Exchanges whose order was a matter of luck, and whose results met later on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Final, Literal

import msgspec

from playhead.causality._graph import Graph
from playhead.causality._nodes import DATA, Chain
from playhead.causality._slices import find_effects
from playhead.events import QUESTIONS

_HANDED_ON: Final = frozenset({"result", "text", "channel"})


class Race(msgspec.Struct, frozen=True):
    """Two exchanges, by the ``seq`` of their questions, between which no path leads: either could have ended first.

    ``first`` is the one that did. ``met`` is the first event that follows from both, a later request or the run's end.
    ``way`` is how: both were handed to it themselves (``direct``), something went on from both until it came there
    (``data``), or both only came before it (``order``).
    """

    first: int
    second: int
    met: int
    way: Literal["direct", "data", "order"]


def find_races(graph: Graph, *, each: Literal["meeting", "pair"] = "meeting") -> Iterator[Race]:
    """The pairs of exchanges that raced and that touched what came later.

    Of the pairs in the same two lanes only one is given for each event where such pairs met, the nearest to it, and one
    of those that handed on nothing; unless every ``pair`` is asked for. First come those that were handed to one event
    side by side, then those on longer ways, then those that only came before it. Which there are, and in which order,
    does not depend on how the race ended. They are found one by one: with many lanes they can be many.
    """
    targets = [seq for seq in graph.order if graph.nodes[seq].kind in ("model.requested", "run.finished")]
    pairs: set[tuple[int, int]] = set()
    meetings: set[tuple[frozenset[Chain], int]] = set()
    known: set[frozenset[Chain]] = set()
    for race in (*_side_by_side(graph, targets), *_on_longer_ways(graph, targets)):
        lanes = frozenset(graph.nodes[seq].chain for seq in (race.first, race.second))
        if (race.first, race.second) not in pairs and (each == "pair" or (lanes, race.met) not in meetings):
            yield race
        pairs.add((race.first, race.second))
        meetings.add((lanes, race.met))
        known.add(lanes)
    for two, races in _in_order(graph, targets):
        if each == "pair":
            yield from (race for race in races if (race.first, race.second) not in pairs)
        elif two not in known:
            yield from islice(races, 1)


def _side_by_side(graph: Graph, targets: list[int]) -> Iterator[Race]:
    for target in targets:
        given = {graph.question(edge.before) for edge in graph.data_into(target) if edge.kind in _HANDED_ON}
        sources = sorted((seq for seq in given if _is_exchange(graph, seq)), key=graph.rank)
        for one, other in combinations(sources, 2):
            if _raced(graph, one, other):
                yield Race(*_as_ended(graph, one, other), target, "direct")


def _on_longer_ways(graph: Graph, targets: list[int]) -> Iterator[Race]:
    number = {target: at for at, target in enumerate(targets)}
    reached: dict[int, frozenset[int]] = {}

    def reach(exchange: int) -> frozenset[int]:
        if exchange not in reached:
            effects = find_effects(graph, _end(graph, exchange)).seqs
            reached[exchange] = frozenset(number[each] for each in effects if each in number)
        return reached[exchange]

    handed_on = {edge.before for edge in graph.edges if edge.kind in DATA}
    exchanges = {seq for seq in graph.nodes if _is_exchange(graph, seq) and _end(graph, seq) in handed_on}
    for _, pairs in _concurrent(graph, exchanges):
        for first, second in pairs:
            both = reach(first) & reach(second)
            if both:
                yield Race(first, second, targets[min(both)], "data")


def _in_order(graph: Graph, targets: list[int]) -> Iterator[tuple[frozenset[Chain], Iterator[Race]]]:
    def meet(pairs: Iterator[tuple[int, int]]) -> Iterator[Race]:
        for first, second in pairs:
            met = next((each for each in targets if _follows_both(graph, first, second, each)), None)
            if met is not None:
                yield Race(first, second, met, "order")

    exchanges = {seq for seq in graph.nodes if _is_exchange(graph, seq)}
    for lanes, pairs in _concurrent(graph, exchanges):
        yield lanes, meet(pairs)


def _is_exchange(graph: Graph, seq: int) -> bool:
    return graph.nodes[seq].kind in QUESTIONS - {"sleep.asked"} and graph.answer(seq) is not None


def _end(graph: Graph, question: int) -> int:
    answer = graph.answer(question)
    return question if answer is None else answer


def _raced(graph: Graph, one: int, other: int) -> bool:
    ends = _end(graph, one), _end(graph, other)
    return not graph.reaches(*ends) and not graph.reaches(ends[1], ends[0])


def _as_ended(graph: Graph, one: int, other: int) -> tuple[int, int]:
    return (one, other) if _end(graph, one) < _end(graph, other) else (other, one)


def _follows_both(graph: Graph, one: int, other: int, target: int) -> bool:
    return graph.reaches(_end(graph, one), target) and graph.reaches(_end(graph, other), target)


def _concurrent(graph: Graph, among: set[int]) -> Iterator[tuple[frozenset[Chain], Iterator[tuple[int, int]]]]:
    """For each two strands, the pairs of these exchanges that no path connects, the last first."""
    chains: dict[Chain, list[int]] = {}
    for seq in sorted(among, key=lambda seq: graph.index(_end(graph, seq))):
        chains.setdefault(graph.nodes[_end(graph, seq)].chain, []).append(seq)
    for (one, ours), (other, theirs) in combinations(sorted(chains.items()), 2):
        yield frozenset({one, other}), _between(graph, ours, other, theirs)


def _between(graph: Graph, ours: list[int], other: Chain, theirs: list[int]) -> Iterator[tuple[int, int]]:
    places = [graph.index(_end(graph, seq)) for seq in theirs]
    for one in reversed(ours):
        end = start = bisect_left(places, graph.seen(_end(graph, one), other) + 1)
        while end < len(theirs) and not graph.reaches(_end(graph, one), _end(graph, theirs[end])):
            end += 1
        for rival in reversed(theirs[start:end]):
            yield _as_ended(graph, one, rival)
