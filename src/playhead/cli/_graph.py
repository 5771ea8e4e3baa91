"""The lanes of a run drawn in a terminal: a column for each, a row for each question, answer, begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from playhead.causality import DATA, Edge, Graph, Node, drawn_edges
from playhead.cli._timeline import describe_answer, describe_question
from playhead.eventlog import Recording, printable
from playhead.events import QUESTIONS

_DRAWN = frozenset(
    {
        "run.started",
        "run.finished",
        "model.requested",
        "model.responded",
        "model.failed",
        "tool.called",
        "tool.returned",
    }
    | {"tool.failed", "boundary.asked", "boundary.answered", "boundary.failed", "message.received"}
)
_WIDE = 60


def draw(recording: Recording, graph: Graph) -> Iterator[str]:
    """The rows, in the order that depends on nothing but the edges.

    ``○`` asks, ``●`` is an answer, ``✗`` a failure, ``◆`` begin and end of the run. Behind the arrow stands what it
    follows from: ``=`` where something was handed on, ``<`` where something in another lane only came first.
    """
    rows = [seq for seq in graph.order if graph.nodes[seq].kind in _DRAWN]
    left_out = frozenset(node.kind for node in graph.nodes.values()) - _DRAWN
    into: dict[int, list[Edge]] = {}
    for edge in drawn_edges(graph, left_out):
        if graph.nodes[edge.before].lane != graph.nodes[edge.after].lane or edge.kind in DATA - {"answer", "context"}:
            into.setdefault(edge.after, []).append(edge)
    columns = _Columns(graph, rows)
    width = len(str(max(rows, default=0))) + 1
    for seq in rows:
        cells, opened = columns.row(seq)
        node = graph.nodes[seq]
        said = _said(recording, graph, node)
        sources = " ".join(f"{'=' if edge.kind in DATA else '<'}#{edge.before}" for edge in into.get(seq, ()))
        lane = click.style(f"  {printable(node.lane)}", dim=True) if opened else ""
        number = click.style(f"{f'#{seq}':>{width}}", bold=True)
        yield f"{number} {cells} {said}{f'  ← {sources}' if sources else ''}{lane}".rstrip()


class _Columns:
    """Which lane stands in which column; one that has ended makes room for the next."""

    def __init__(self, graph: Graph, rows: list[int]) -> None:
        self._graph = graph
        self._last = {graph.nodes[seq].lane: seq for seq in rows}
        self._columns: list[str | None] = []

    def row(self, seq: int) -> tuple[str, bool]:
        """The cells of a row, and whether its lane begins with it."""
        node = self._graph.nodes[seq]
        opened = node.lane not in self._columns
        if opened:
            if None in self._columns:
                self._columns[self._columns.index(None)] = node.lane
            else:
                self._columns.append(node.lane)
        marks = [_mark(node) if lane == node.lane else "│" if lane else " " for lane in self._columns]
        if self._last[node.lane] == seq:
            self._columns[self._columns.index(node.lane)] = None
        while self._columns and self._columns[-1] is None:
            self._columns.pop()
        return " ".join(marks), opened


def _mark(node: Node) -> str:
    if node.kind in QUESTIONS or node.kind == "message.received":
        return "○"
    if node.kind.startswith("run."):
        return "◆"
    return "✗" if node.kind.endswith(".failed") else "●"


def _said(recording: Recording, graph: Graph, node: Node) -> str:
    event: Any = recording.events[node.seq]
    if node.kind in QUESTIONS:
        kind, name, asked = describe_question(event, _WIDE)
        return printable(f"{kind} {name}{asked}", limit=_WIDE)
    if node.of is not None and node.of in graph.nodes:
        return f"→ {printable(describe_answer(recording.events[node.of], event, _WIDE), limit=_WIDE)}"
    return node.kind
