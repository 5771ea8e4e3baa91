"""Runs of several lanes, made up: what happens in them, and the orders in which it may come to be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

import playhead
from playhead._system import TickingClock
from playhead.causality import Graph
from playhead.eventlog import Header, LogWriter, open_recording

Key = tuple[str, int]
"""An event by its lane and its place there."""


class Fact(msgspec.Struct):
    """An event before it has a number: what it is ``of`` and its ``causes`` are named by lane and place."""

    lane: str
    place: int
    kind: str
    body: dict[str, Any]
    of: Key | None = None
    causes: list[Key] = []

    @property
    def key(self) -> Key:
        return self.lane, self.place


def write(folder: Path, facts: list[Fact], *, name: str) -> playhead.Recording:
    """The recording of these facts in this order."""
    clock = TickingClock()
    log = LogWriter(folder / name, Header(run=name, kind="run", created_ns=clock.wall_ns()), clock=clock)
    seqs: dict[Key, int] = {}
    for fact in facts:
        seqs[fact.key] = log.append(
            kind=fact.kind,
            lane=fact.lane,
            at_ns=clock.wall_ns(),
            mono_ns=clock.mono_ns(),
            body=msgspec.json.encode(fact.body),
            of=seqs[fact.of] if fact.of is not None else None,
            causes=tuple(sorted(seqs[cause] for cause in fact.causes)),
        )
    return open_recording(log.seal())


def key_of(graph: Graph, seq: int) -> Key:
    """What an event is called, whenever it was written."""
    node = graph.nodes[seq]
    return node.lane, node.place


def edges_of(graph: Graph) -> set[tuple[Key, Key, str]]:
    """The edges, by what the events are called."""
    return {(key_of(graph, edge.before), key_of(graph, edge.after), edge.kind) for edge in graph.edges}


class _Writer:
    """Draws one fact after the other."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.facts: list[Fact] = [Fact("main", 0, "x.begin", {})]
        self.lanes = {"main": 1}
        self.pending: dict[str, list[Fact]] = {"main": []}
        self.said: list[str] = []

    def add(self, lane: str, kind: str, body: dict[str, Any], *, of: Key | None = None, causes: Any = ()) -> Fact:
        fact = Fact(lane, self.lanes.get(lane, 0), kind, body, of, list(causes))
        self.lanes[lane] = fact.place + 1
        self.facts.append(fact)
        return fact

    def step(self) -> None:
        draw = self.draw
        lane = draw(st.sampled_from(sorted(self.lanes)))
        action = draw(st.sampled_from(["spawn", "ask", "ask", "answer", "answer", "join"]))
        others = [fact.key for fact in self.facts if fact.lane != lane]
        if action == "spawn" and len(self.lanes) < 5:
            child = f"{lane}/task#{len(self.lanes)}"
            latest = next(fact.key for fact in reversed(self.facts) if fact.lane == lane)
            self.pending[child] = []
            self.add(child, "lane.opened", {"parent": lane}, causes=[latest])
        elif action == "join" and others:
            self.add(lane, "note.added", {"name": "on"}, causes=draw(st.lists(st.sampled_from(others), max_size=2)))
        elif action == "answer" and self.pending[lane]:
            question = self.pending[lane].pop(draw(st.integers(0, len(self.pending[lane]) - 1)))
            self.answer(lane, question)
        else:
            self.ask(lane)

    def ask(self, lane: str) -> None:
        quoted = self.draw(st.lists(st.sampled_from(self.said), max_size=2)) if self.said else []
        text = " and ".join(["please consider", *quoted])
        if self.draw(st.booleans()):
            question = self.add(lane, "tool.called", {"name": "tool", "arguments": {"text": text}})
        else:
            messages = [{"role": "user", "content": text}]
            body = {"provider": "openai.chat", "model": "m", "request": {"model": "m", "messages": messages}}
            question = self.add(lane, "model.requested", body)
        self.pending[lane].append(question)

    def answer(self, lane: str, question: Fact) -> None:
        # Mostly said once; where several say the same, nothing may be guessed.
        new = f"the answer number {self.draw(st.integers(0, 40))} of all"
        self.said.append(new)
        if question.kind == "tool.called":
            self.add(lane, "tool.returned", {"value": new}, of=question.key)
        else:
            message = {"choices": [{"message": {"role": "assistant", "content": new}}]}
            content = {"form": "json", "value": message, "style": "compact"}
            self.add(lane, "model.responded", {"status": 200, "content": content}, of=question.key)


@st.composite
def programs(draw: Any, *, most: int = 30) -> list[Fact]:
    """The facts of a run, in an order in which they may have been written."""
    writer = _Writer(draw)
    for _ in range(draw(st.integers(3, most))):
        writer.step()
    return writer.facts
