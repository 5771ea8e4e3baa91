"""Why something happened, and what it led to: the part of the graph on the paths to an event, or from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from playhead.causality._graph import Graph
from playhead.causality._nodes import DATA, Edge, Through


class Slice(msgspec.Struct, frozen=True):
    """The events on the paths to, or from, the event ``start``, itself included, in causal order; and the edges."""

    start: int
    seqs: tuple[int, ...]
    edges: tuple[Edge, ...]


def find_causes(graph: Graph, seq: int, *, through: Through = "data") -> Slice:
    """Why the event ``seq`` happened as it did: all that was handed on to it, and to what that came from.

    With ``through="all"`` it is everything that happened before it, whether it had to do with it or not. Raises
    `UsageError` where there is no such event.
    """
    return _collect(graph, seq, graph.into, lambda edge: edge.before, through)


def find_effects(graph: Graph, seq: int, *, through: Through = "data") -> Slice:
    """What the event ``seq`` led to: all that something of it was handed on to. See `find_causes`."""
    return _collect(graph, seq, graph.out_of, lambda edge: edge.after, through)


def _collect(
    graph: Graph, start: int, edges_of: Callable[[int], Sequence[Edge]], other: Callable[[Edge], int], through: Through
) -> Slice:
    seqs, edges, queue = {graph.node(start).seq}, [], [start]
    while queue:
        for edge in edges_of(queue.pop()):
            if through == "all" or edge.kind in DATA:
                edges.append(edge)
                if other(edge) not in seqs:
                    seqs.add(other(edge))
                    queue.append(other(edge))
    return Slice(start, tuple(sorted(seqs, key=graph.rank)), tuple(sorted(edges, key=lambda edge: (edge.after, edge))))
