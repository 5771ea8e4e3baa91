"""The graph of a recording: its events, and what each of them follows from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from playhead.causality._clocks import Clocks
from playhead.causality._flow import Flow
from playhead.causality._nodes import DATA, Chain, Edge, Node
from playhead.errors import UsageError
from playhead.eventlog import Recording, printable
from playhead.events import Event, LaneOpened, NoteAdded, RunFinished, RunStarted

_OF_THE_RECORDING = frozenset({"part.kept", "recording.sealed"})
_NOTES_OF_THE_RECORDER = frozenset({"code", "packages"})


class Graph:
    """What happened before what in a run, and what was handed on. Made by `read_graph`.

    ``nodes`` are the events by their ``seq``, but for parts, the seal and the recorder's own notes; ``chains`` are the
    strands of the lanes, each in order. Every edge leads from an event to a later one, so there are no rings.
    """

    def __init__(self, run: str, nodes: dict[int, Node], edges: Iterable[Edge]) -> None:
        self.run = run
        self.nodes = nodes
        self.edges: tuple[Edge, ...] = tuple(sorted(set(edges), key=lambda edge: (edge.after, edge.before, edge.kind)))
        self._into: dict[int, list[Edge]] = {}
        self._out_of: dict[int, list[Edge]] = {}
        for edge in self.edges:
            self._into.setdefault(edge.after, []).append(edge)
            self._out_of.setdefault(edge.before, []).append(edge)
        self.chains: dict[Chain, list[int]] = {}
        self._index: dict[int, int] = {}
        for seq, node in nodes.items():
            chain = self.chains.setdefault(node.chain, [])
            self._index[seq] = len(chain)
            chain.append(seq)
        self._answers = {node.of: node.seq for node in reversed(nodes.values()) if node.of in nodes}

    def __repr__(self) -> str:
        return f"<Graph of {printable(self.run)}: {len(self.nodes)} events, {len(self.edges)} edges>"

    def into(self, seq: int) -> Sequence[Edge]:
        """The edges that lead to an event."""
        return self._into.get(seq, ())

    def out_of(self, seq: int) -> Sequence[Edge]:
        """The edges that lead on from an event."""
        return self._out_of.get(seq, ())

    def node(self, seq: int) -> Node:
        """The event ``seq``. Raises `UsageError` where there is none, or where it is a part or the seal."""
        node = self.nodes.get(seq)
        if node is None:
            raise UsageError(
                f"run {printable(self.run)} has no event {seq} that something could follow from",
                next=f"playhead show {printable(self.run)} --graph",
                facts={"run": self.run, "seq": seq},
            )
        return node

    def question(self, seq: int) -> int:
        """The question that an event answers; the event itself where it answers none."""
        of = self.node(seq).of
        return of if of in self.nodes and of is not None else seq

    def answer(self, seq: int) -> int | None:
        """The answer of the question ``seq``, if it has one."""
        return self._answers.get(seq)

    @property
    def end(self) -> int | None:
        """The event ``run.finished``; ``None`` where the recording has none."""
        return next((node.seq for node in reversed(self.nodes.values()) if node.kind == "run.finished"), None)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All events in the one order that depends on nothing but the edges: Lamport's, then by lane and place in it.

        It is the same in whichever order the lanes came to write their events.
        """
        return tuple(sorted(self.nodes, key=self.rank))

    def rank(self, seq: int) -> tuple[int, str, int]:
        """Where an event stands in `order`."""
        node = self.nodes[seq]
        return node.lamport, node.lane, node.place

    @cached_property
    def _clocks(self) -> Clocks:
        clocks = Clocks()
        for seq, node in self.nodes.items():
            clocks.add(seq, node.chain, self._index[seq], [edge.before for edge in self.into(seq)])
        return clocks

    def reaches(self, before: int, after: int) -> bool:
        """Whether a path leads from one event to the other, or they are the same."""
        return self._clocks.reaches(self.node(before).seq, self.node(after).seq)

    def index(self, seq: int) -> int:
        """The place of an event on its strand."""
        return self._index[seq]

    def seen(self, seq: int, chain: Chain) -> int:
        """The index of the last event on another strand that comes before ``seq``; -1 where none does."""
        return self._clocks.seen(seq, chain)

    @cached_property
    def lanes(self) -> dict[str, list[int]]:
        """The events of each lane, in their order; the lanes in the order in which they begin."""
        found: dict[str, list[int]] = {}
        for seq in self.order:
            found.setdefault(self.nodes[seq].lane, []).append(seq)
        return found

    def data_into(self, seq: int) -> Iterator[Edge]:
        """The edges along which something was handed to an event."""
        return (edge for edge in self.into(seq) if edge.kind in DATA)


class _Reader:
    """Takes the events of a recording one by one."""

    def __init__(self) -> None:
        self.nodes: dict[int, Node] = {}
        self.edges: list[Edge] = []
        self.names: dict[int, str] = {}
        self._clocks = Clocks()
        self._flow = Flow(self._clocks)
        self._latest: dict[str, int] = {}
        self._first: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._lengths: dict[Chain, int] = {}
        self._tails: dict[Chain, int] = {}
        self._strands: dict[str, int] = {}
        self._is_process = False

    def take(self, event: Event) -> None:
        """The next event: what comes before it by the lanes' own order, and by what the recorder saw."""
        seq, lane = event.seq, event.lane
        latest, first = self._latest.get(lane), self._first.get(lane)
        causes = [cause for cause in event.causes if cause in self.nodes]
        inside = [cause for cause in causes if self.nodes[cause].lane == lane]
        if first in inside and latest is not None:  # it does not follow the line before it
            inside = [cause for cause in inside if cause != first] or inside
            found = [Edge(cause, seq, "order") for cause in inside]
        else:
            found = [Edge(cause, seq, "join") for cause in inside]
            found += [Edge(latest, seq, "order")] if latest is not None else []
        others = [cause for cause in causes if self.nodes[cause].lane != lane]
        for cause in others:
            is_creation = latest is None and lane.startswith(f"{self.nodes[cause].lane}/")
            found.append(Edge(cause, seq, "spawn" if is_creation else "join"))
        if latest is None and not others:
            found += [Edge(creator, seq, "spawn") for creator in self._creators(event)]
        if isinstance(event.body, RunStarted):
            self._is_process = event.body.entry.is_command
        elif isinstance(event.body, RunFinished) and self._is_process:
            found += self._ends(seq, latest)
        if event.of is not None and event.of in self.nodes:
            found.append(Edge(event.of, seq, "answer"))
        strand = self._strand(lane, [edge.before for edge in found if edge.kind in ("order", "answer")])
        place = self._counts[lane] = self._counts.get(lane, -1) + 1
        index = self._lengths[lane, strand] = self._lengths.get((lane, strand), -1) + 1
        self._tails[lane, strand] = seq
        self._clocks.add(seq, (lane, strand), index, [edge.before for edge in found])
        self._latest[lane] = seq
        self._first.setdefault(lane, seq)
        self.edges += found
        self._flow.take(event)
        self.nodes[seq] = Node(seq, event.kind, lane, place, 0, _name(event), event.of, strand)

    def _strand(self, lane: str, before: list[int]) -> int:
        """The strand that goes on with an event that comes after these; a new one where all of them have gone on."""
        strands = {self.nodes[seq].strand: seq for seq in sorted(before) if self.nodes[seq].lane == lane}
        going = [strand for strand, seq in strands.items() if self._tails[lane, strand] == seq]
        if going:
            return min(going)
        new = self._strands[lane] = self._strands.get(lane, -1) + 1
        return new

    def _ends(self, seq: int, latest: int | None) -> Iterator[Edge]:
        """Where the run is a process, it ends after whatever was done in it: its end is written when it is gone."""
        for end in self._tails.values():
            if latest is None or not self._clocks.reaches(end, latest):
                yield Edge(end, seq, "join")

    def _creators(self, event: Event) -> Iterator[int]:
        """What is certain of a lane of which it was not recorded after what it was made: its creator had begun."""
        parent = event.body.parent if isinstance(event.body, LaneOpened) else event.lane.rpartition("/")[0]
        while parent:
            if parent in self._first:
                yield self._first[parent]
                return
            parent = parent.rpartition("/")[0]

    def graph(self, run: str) -> Graph:
        """The graph of what was taken."""
        edges = self.edges + list(self._flow.edges())
        before: dict[int, list[int]] = {}
        for edge in edges:
            before.setdefault(edge.after, []).append(edge.before)
        lamport: dict[int, int] = {}
        nodes: dict[int, Node] = {}
        for seq, node in self.nodes.items():
            lamport[seq] = 1 + max((lamport[each] for each in before.get(seq, ())), default=0)
            nodes[seq] = Node(seq, node.kind, node.lane, node.place, lamport[seq], node.name, node.of, node.strand)
        return Graph(run, nodes, edges)


def read_graph(recording: Recording) -> Graph:
    """The graph of a recording. Raises what reading it raises."""
    reader = _Reader()
    for event in recording:
        if _is_of_the_run(event):
            reader.take(event)
    return reader.graph(recording.id)


def _is_of_the_run(event: Event) -> bool:
    if isinstance(event.body, NoteAdded):
        return event.body.name not in _NOTES_OF_THE_RECORDER
    return event.kind not in _OF_THE_RECORDING


def _name(event: Event) -> str:
    body = event.body
    for field in ("model", "name", "fn", "label", "provider"):
        found = getattr(body, field, None)
        if isinstance(found, str):
            url = getattr(body, "url", None)
            return f"{getattr(body, 'method', '')} {url}".strip() if found == "http" and url else found
    return ""
