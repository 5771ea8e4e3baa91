"""What was handed on from event to event: proven by ids of tool calls, by equal values, and by texts found again.

Nothing is guessed. Where two events may have been the source and nothing tells them apart, there is no edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from playhead.causality._clocks import Clocks
from playhead.causality._nodes import Edge, EdgeKind
from playhead.causality._said import Result, Turn, Turns, answered, fingerprint, plain, strings
from playhead.causality._sources import Sources
from playhead.events import (
    BoundaryAsked,
    ClockRead,
    Event,
    MessageReceived,
    ModelRequested,
    ModelResponded,
    RandomDrawn,
    RunFinished,
    ToolCalled,
)
from playhead.providers import ToolCallSeen, read_json, read_tool_calls

_RECENT: Final = 100


class _Named(msgspec.Struct, frozen=True, eq=False):
    """A tool call as a model asked for it."""

    answer: int
    call_id: str | None
    name: str
    arguments: Any


class _Called(msgspec.Struct, eq=False):
    """A tool, or another function, as it was called."""

    question: int
    lane: str
    name: str
    arguments: Any
    call_id: str | None = None
    channel: str | None = None
    answer: int | None = None
    value: Any = None


class Flow:
    """Takes the events of a recording in their order and then gives the edges."""

    def __init__(self, clocks: Clocks) -> None:
        self._sources = Sources(clocks)
        self._choose = self._sources.choose
        self._named: list[_Named] = []
        self._called: dict[int, _Called] = {}
        self._asked: dict[int, ModelRequested] = {}
        self._requests: list[tuple[Event, list[Turn]]] = []
        self._ends: list[tuple[int, list[Any]]] = []
        self._turns = Turns()
        self._quotes: dict[int, set[str]] = {}
        self._claims: dict[str, list[_Called]] = {}

    def take(self, event: Event) -> None:
        """The next event."""
        body = event.body
        match body:
            case ModelRequested():
                self._asked[event.seq] = msgspec.structs.replace(body, request=None, headers=[])
                self._requests.append((_bare(event), self._turns.of(body)))
            case ToolCalled():
                self._call(event, body.name, body.arguments, body.call_id, body.causes)
            case BoundaryAsked():
                self._call(event, body.name, body.request, None, body.causes)
            case RunFinished():
                self._ends.append((event.seq, [plain(each) for each in (body.result, body.error) if each is not None]))
            case MessageReceived():
                self._sources.add(event.seq, plain(body.content))
            case ClockRead() | RandomDrawn():
                value = answered(body)
                self._sources.add(event.seq, value if isinstance(value, str) else None)
            case _ if event.of is not None:
                self._answer(event, event.of)

    def _call(self, event: Event, name: str, arguments: Any, call_id: str | None, channel: str | None) -> None:
        self._called[event.seq] = _Called(event.seq, event.lane, name, plain(arguments), call_id, channel)

    def _answer(self, event: Event, of: int) -> None:
        value = answered(event.body)
        called, asked = self._called.get(of), self._asked.get(of)
        if called is not None:
            called.answer, called.value = event.seq, value
        elif asked is not None and isinstance(event.body, ModelResponded):
            content = event.body.content
            said = read_json(content) if isinstance(content, dict) else content
            self._named += [_named(event.seq, call) for call in read_tool_calls(asked.provider, said)]
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
        else:
            return
        self._sources.add(event.seq, value)

    def edges(self) -> Iterator[Edge]:
        """All edges, in no particular order; some may come twice."""
        yield from self._calls()
        yield from self._channels()
        yield from self._conversations()
        for seq, values in self._ends:
            for value in values:
                source = self._choose(self._sources.with_value(value), seq)
                if source is not None:
                    yield Edge(source, seq, "text")
                else:
                    yield from self._texts(self._sources.quoted(strings(value)), seq)

    def _calls(self) -> Iterator[Edge]:
        """Which model answer named each call; a call that no model named may still quote what was said before."""
        index = _Index(self._named)
        for called in self._called.values():
            meant = index.meant(called)
            answer = self._choose(sorted({named.answer for named in meant}), called.question)
            if answer is None:
                yield from self._texts(self._sources.quoted(strings(called.arguments)), called.question)
                continue
            yield Edge(answer, called.question, "call")
            for named in meant:
                if named.answer == answer and named.call_id is not None:
                    self._claims.setdefault(named.call_id, []).append(called)

    def _channels(self) -> Iterator[Edge]:
        puts: dict[tuple[str, str], list[_Called]] = {}
        for called in self._called.values():
            given = called.arguments.values() if isinstance(called.arguments, dict) else (called.arguments,)
            for value in {fingerprint(each) for each in given}:
                puts.setdefault((called.name, value), []).append(called)
        gets: dict[tuple[str, str], list[_Called]] = {}
        for called in self._called.values():
            if called.channel is not None and called.answer is not None and called.value is not None:
                gets.setdefault((called.channel, fingerprint(called.value)), []).append(called)
        for key, taken in gets.items():
            yield from self._channel(puts.get(key, []), taken)

    def _channel(self, put: list[_Called], taken: list[_Called]) -> Iterator[Edge]:
        in_turn = len({each.lane for each in put}) == 1 == len({each.lane for each in taken})
        for at, get in enumerate(taken):
            assert get.answer is not None
            source: int | None
            if in_turn:
                source = put[min(at, len(put) - 1)].question
            else:
                source = self._choose([each.question for each in put], get.answer)
            if source is not None and source < get.answer:
                yield Edge(source, get.answer, "channel")

    def _conversations(self) -> Iterator[Edge]:
        """What each request holds that the one before it in its lane did not."""
        before: dict[str, tuple[int, set[int]]] = {}
        for event, turns in self._requests:
            latest, known = before.get(event.lane, (None, set()))
            if latest is not None and any(turn.is_spoken and id(turn) in known for turn in turns):
                yield Edge(latest, event.seq, "context")
            for turn in turns:
                if id(turn) not in known:
                    yield from self._turn(turn, event.seq)
            before[event.lane] = (event.seq, {id(turn) for turn in turns})

    def _turn(self, turn: Turn, seq: int) -> Iterator[Edge]:
        for result in turn.results:
            found = self._result(result, seq)
            if found:
                yield from (Edge(source, seq, "result") for source in found)
            else:
                yield from self._texts(self._sources.quoted(strings(result.content)), seq)
        quotes = self._quotes.get(id(turn))
        if quotes is None:
            quotes = self._quotes[id(turn)] = self._sources.quoted(turn.texts)
        yield from self._texts(quotes, seq)

    def _result(self, result: Result, seq: int) -> list[int]:
        """The answers that this is the result of: several only if a model asked for the same, and got the same."""
        content = _unwrapped(result.content)
        claims = self._claims.get(result.call_id or "", ())
        earlier = [call for call in claims if call.answer is not None and call.answer < seq]
        if earlier:
            equal = [call for call in earlier if fingerprint(call.value) == fingerprint(content)]
            seqs = sorted({call.answer for call in equal or earlier if call.answer is not None})
            chosen = self._choose(seqs, seq)
            if chosen is not None:
                return [chosen]
            if equal:
                return seqs
        chosen = self._choose(self._sources.with_value(content), seq)
        return [chosen] if chosen is not None else []

    def _texts(self, quotes: Iterable[str], seq: int, kind: EdgeKind = "text") -> Iterator[Edge]:
        for text in quotes:
            source = self._sources.find(text, seq)
            if source is not None:
                yield Edge(source, seq, kind)


class _Index:
    """The tool calls that models asked for, by id and by what they ask."""

    def __init__(self, named: list[_Named]) -> None:
        self._by_id: dict[str, list[_Named]] = {}
        self._by_asked: dict[tuple[str, str], list[_Named]] = {}
        self._by_name: dict[str, list[_Named]] = {}
        for each in named:
            if each.call_id is not None:
                self._by_id.setdefault(each.call_id, []).append(each)
            self._by_asked.setdefault((each.name, fingerprint(each.arguments)), []).append(each)
            self._by_name.setdefault(each.name, []).append(each)

    def meant(self, called: _Called) -> list[_Named]:
        """Those that this call may carry out: by the id that the program gave, or by name and arguments."""
        by_id = self._by_id.get(called.call_id or "", [])
        if by_id:
            return [each for each in by_id if each.name == called.name] or by_id
        equal = self._by_asked.get((called.name, fingerprint(called.arguments)), [])
        if equal:
            return equal
        earlier = [each for each in self._by_name.get(called.name, ()) if each.answer < called.question]
        return [each for each in earlier[-_RECENT:] if _holds(called.arguments, each.arguments)]


def _named(seq: int, call: ToolCallSeen) -> _Named:
    try:
        arguments = msgspec.json.decode(call.arguments)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        arguments = call.arguments
    return _Named(seq, call.id, call.name, arguments)


def _holds(given: Any, asked: Any) -> bool:
    """Whether a call was given all that was asked for: one by one, or as one object."""
    if not isinstance(given, dict) or not asked:
        return False
    if isinstance(asked, dict) and all(key in given for key in asked):
        return all(fingerprint(given[key]) == fingerprint(value) for key, value in asked.items())
    return any(fingerprint(value) == fingerprint(asked) for value in given.values())


def _unwrapped(content: Any) -> Any:
    """The content of a result without the wrapping of its provider."""
    if isinstance(content, list) and content and all(isinstance(each, dict) and "text" in each for each in content):
        return "".join(str(each["text"]) for each in content)
    if isinstance(content, dict) and len(content) == 1 and next(iter(content)) in ("result", "output", "error"):
        return next(iter(content.values()))
    return content


def _bare(event: Event) -> Event:
    """The event without its body, to be kept."""
    return msgspec.structs.replace(event, body=MessageReceived(role="", content=None))
