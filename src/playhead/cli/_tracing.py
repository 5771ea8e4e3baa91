"""The causes and effects of an event as a tree that a person reads: a line for each exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import click

from playhead.causality import DATA, Edge, EdgeKind, Graph
from playhead.cli._timeline import row_of
from playhead.cli._trees import brief, brief_error
from playhead.eventlog import Exchange, Recording, printable
from playhead.events import QUESTIONS, STEPS, Event, RunFinished

_BACK: Final = {
    "result": "holds the result of",
    "text": "quotes",
    "call": "asked for by",
    "channel": "took out what went in by",
    "after": "came after",
}
_ON: Final = {
    "result": "its result went into",
    "text": "was quoted by",
    "call": "asked for",
    "channel": "was taken out by",
    "after": "came before",
}
_HIDDEN: Final = frozenset({"lane.opened", "lane.woken", "lane.closed", "sleep.asked", "sleep.ended"})
_WIDE: Final = 110

Next = list[tuple[str, int]]
"""How it hangs together, and the exchange or event."""


class Teller:
    """Tells of events, by exchange: a question and its answer are one."""

    def __init__(self, recording: Recording, graph: Graph) -> None:
        self._recording = recording
        self._graph = graph
        steps = (seq for seq, node in graph.nodes.items() if node.kind in STEPS)
        self._steps = {seq: number for number, seq in enumerate(steps, start=1)}

    def is_shown(self, seq: int) -> bool:
        """Whether an event says something to a person."""
        node = self._graph.nodes[seq]
        return node.kind not in _HIDDEN and (node.kind, node.name) != ("note.added", "joined")

    def line(self, seq: int, *, width: int = _WIDE) -> str:
        """One line on the exchange that an event belongs to, or on the event."""
        unit = self._graph.question(seq)
        node = self._graph.nodes[unit]
        where = f" [{printable(node.lane)}]" if node.lane != "main" else ""
        if node.kind not in QUESTIONS or node.kind == "sleep.asked":
            return f"#{unit} {_event(self._recording.events[unit], width)}{where}"
        row = row_of(self._exchange(unit), width=width)
        step = f" step {row.step}" if row.step is not None else ""
        return f"#{unit}{step} {row.kind} {row.name} {row.said}".rstrip() + where

    def step(self, seq: int) -> int | None:
        """The step that an event belongs to, if it is one of a step."""
        return self._steps.get(self._graph.question(seq))

    def as_data(self, seq: int) -> dict[str, Any]:
        """An event for a program."""
        node = self._graph.nodes[seq]
        data = {"seq": seq, "kind": node.kind, "lane": node.lane, "name": node.name, "of": node.of}
        return {**data, "lamport": node.lamport, "step": self.step(seq)}

    def tree(self, start: int, *, forward: bool) -> Iterator[str]:
        """What the event leads back, or on, to."""
        words = _ON if forward else _BACK
        unit = self._graph.question(start)
        shown = {unit}
        yield click.style(self.line(unit), bold=True)
        stack = [("", self._next(unit, forward) or self._beside(unit, forward))]
        while stack:
            indent, left = stack[-1]
            if not left:
                stack.pop()
                continue
            relation, other = left.pop(0)
            seen = other in shown
            branch, below = ("├─ ", "│  ") if left else ("└─ ", "   ")
            yield f"{indent}{branch}{words[relation]} {self.line(other)}{' (see above)' if seen else ''}"
            if not seen:
                shown.add(other)
                stack.append((indent + below, self._next(other, forward)))

    def _exchange(self, unit: int) -> Exchange:
        answer = self._graph.answer(unit)
        events = self._recording.events
        return Exchange(events[unit], events[answer] if answer is not None else None, self._steps.get(unit))

    def _next(self, unit: int, forward: bool) -> Next:
        """The exchanges that handed something to this one, or got something from it, in causal order.

        A request goes on with the conversation of the one before it, so what is in that is in this one as well.
        """
        graph, found = self._graph, dict[int, str]()
        talk = set(self._conversation([unit], forward=False)) if not forward else {unit}
        for each in talk:
            for edge in self._edges(each, forward, answer=each == unit):
                other = graph.question(edge.after if forward else edge.before)
                if other not in talk:
                    found.setdefault(other, edge.kind)
        if forward:
            for other, kind in list(found.items()):
                if kind != "call":
                    found |= {later: kind for later in self._conversation([other], forward=True) if later not in found}
        return [(found[other], other) for other in sorted(found, key=graph.rank)]

    def _edges(self, unit: int, forward: bool, *, answer: bool) -> Iterator[Edge]:
        graph = self._graph
        answered = graph.answer(unit) if answer else None
        for seq in (unit,) if answered is None else (unit, answered):
            for edge in graph.out_of(seq) if forward else graph.into(seq):
                if edge.kind in DATA and edge.kind not in ("answer", "context"):
                    yield edge

    def _conversation(self, requests: Iterable[int], *, forward: bool) -> set[int]:
        """These requests, and those that their conversations go on from or lead to."""
        kind: EdgeKind = "context"
        found, queue = set(requests), list(requests)
        while queue:
            seq = queue.pop()
            for edge in self._graph.out_of(seq) if forward else self._graph.into(seq):
                other = edge.after if forward else edge.before
                if edge.kind == kind and other not in found:
                    found.add(other)
                    queue.append(other)
        return found

    def _beside(self, unit: int, forward: bool) -> Next:
        """What only came before, or after: the nearest that says something, where nothing is known to be handed on."""
        graph, found, queue, seen = self._graph, set[int](), [unit], {unit}
        answer = graph.answer(unit)
        if forward and answer is not None:
            queue = [answer]
        while queue:
            seq = queue.pop()
            for edge in graph.out_of(seq) if forward else graph.into(seq):
                other = edge.after if forward else edge.before
                if other in seen:
                    continue
                seen.add(other)
                if graph.nodes[other].kind in _HIDDEN | {"note.added"}:
                    queue.append(other)
                else:
                    found.add(graph.question(other))
        return [("after", other) for other in sorted(found - {unit}, key=graph.rank)]


def _event(event: Event, width: int) -> str:
    body: Any = event.body
    if isinstance(body, RunFinished):
        said = brief_error(body.error, width) if body.error is not None else brief(body.result, width)
        told = said if body.error is not None or body.result is not None else body.reason or ""
        return f"the run ended ({body.outcome}) {printable(told, limit=width)}".rstrip()
    if event.kind == "run.started":
        return f"the run began ({printable(getattr(body, 'kind', '?'))})"
    name = next(
        (found for key in ("name", "fn", "label", "role") if isinstance(found := getattr(body, key, None), str)), ""
    )
    value = next(
        (found for key in ("value", "details", "state", "content") if (found := getattr(body, key, None)) is not None),
        None,
    )
    said = f"{event.kind} {printable(name)}".rstrip()
    return said if value is None else f"{said} {brief(value, width // 2)}"
