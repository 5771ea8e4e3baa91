"""The graph in the languages of other programs: DOT of Graphviz, Mermaid, and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from playhead.causality._graph import Graph
from playhead.causality._nodes import DATA, Edge, Node
from playhead.eventlog import printable

Language = Literal["dot", "mermaid", "json"]

_LEFT_OUT = frozenset({"lane.opened", "lane.woken", "lane.closed", "sleep.asked", "sleep.ended"})
_LONGEST = 60


def export_graph(graph: Graph, language: Language) -> str:
    """The graph as text. ``json`` holds every event and edge; the drawings leave out sleeps and what begins lanes.

    In the drawings a lane is a frame; a solid arrow is the order in a lane, a dashed one what came first in another,
    a heavy one what was handed on.
    """
    match language:
        case "dot":
            lines = _dot(graph)
        case "mermaid":
            lines = _mermaid(graph)
        case "json":
            return json.dumps(graph_as_data(graph), ensure_ascii=True, indent=2) + "\n"
    return "\n".join(lines) + "\n"


def graph_as_data(graph: Graph) -> dict[str, Any]:
    """The graph as plain JSON: events in causal order, edges by the ``seq`` of both ends."""
    nodes = [graph.nodes[seq] for seq in graph.order]
    return {
        "run": graph.run,
        "events": [{name: getattr(node, name) for name in Node.__struct_fields__} for node in nodes],
        "edges": [{name: getattr(edge, name) for name in Edge.__struct_fields__} for edge in graph.edges],
    }


def _dot(graph: Graph) -> Iterator[str]:
    yield "digraph run {"
    yield "  rankdir=TB; node [shape=box, fontname=monospace, fontsize=10]; edge [fontname=monospace, fontsize=9];"
    for number, (lane, nodes) in enumerate(_drawn(graph)):
        yield f"  subgraph cluster_{number} {{ label={_quoted(lane)};"
        yield from (f"    e{node.seq} [label={_quoted(_label(node))}];" for node in nodes)
        yield "  }"
    for edge in drawn_edges(graph, _LEFT_OUT):
        style = "penwidth=2" if edge.kind in DATA else "style=dashed"
        style = "" if edge.kind in ("order", "answer") else f" [label={edge.kind}, {style}]"
        yield f"  e{edge.before} -> e{edge.after}{style};"
    yield "}"


def _mermaid(graph: Graph) -> Iterator[str]:
    yield "flowchart TB"
    for number, (lane, nodes) in enumerate(_drawn(graph)):
        yield f"  subgraph l{number}[{_entities(lane)}]"
        yield from (f"    e{node.seq}[{_entities(_label(node))}]" for node in nodes)
        yield "  end"
    for edge in drawn_edges(graph, _LEFT_OUT):
        arrow = "==>" if edge.kind in DATA else "-.->"
        arrow = "-->" if edge.kind in ("order", "answer") else f"{arrow}|{edge.kind}|"
        yield f"  e{edge.before} {arrow} e{edge.after}"


def _drawn(graph: Graph) -> Iterator[tuple[str, list[Node]]]:
    for lane, seqs in graph.lanes.items():
        nodes = [graph.nodes[seq] for seq in seqs if graph.nodes[seq].kind not in _LEFT_OUT]
        if nodes:
            yield lane, nodes


def drawn_edges(graph: Graph, left_out: frozenset[str]) -> list[Edge]:
    """The edges between the events that are drawn; what led over one that is left out leads past it.

    Of two edges between the same events the one that says more is drawn.
    """
    chosen: dict[tuple[int, int], Edge] = {}
    for seq, node in graph.nodes.items():
        if node.kind in left_out:
            continue
        for edge in _past(graph, seq, left_out):
            known = chosen.get((edge.before, edge.after))
            if known is None or _weight(edge) > _weight(known):
                chosen[edge.before, edge.after] = edge
    return list(chosen.values())


def _past(graph: Graph, seq: int, left_out: frozenset[str]) -> Iterable[Edge]:
    queue = list(graph.into(seq))
    seen: set[int] = set()
    while queue:
        edge = queue.pop()
        if graph.nodes[edge.before].kind not in left_out:
            yield Edge(edge.before, seq, edge.kind)
        elif edge.before not in seen:
            seen.add(edge.before)
            for earlier in graph.into(edge.before):
                kind = earlier.kind if edge.kind == "order" else edge.kind
                queue.append(Edge(earlier.before, seq, kind))


def _weight(edge: Edge) -> int:
    return ("order", "spawn", "join").index(edge.kind) if edge.kind not in DATA else 3 + (edge.kind != "answer")


def _label(node: Node) -> str:
    return printable(f"#{node.seq} {node.kind} {node.name}".rstrip(), limit=_LONGEST)


def _quoted(text: str) -> str:
    return '"' + printable(text, limit=200).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _entities(text: str) -> str:
    """A label of Mermaid, in which nothing but letters and digits has a meaning."""
    shown = printable(text, limit=200)
    return '"' + "".join(each if each.isalnum() or each in " ._-/#" else f"#{ord(each)};" for each in shown) + '"'
