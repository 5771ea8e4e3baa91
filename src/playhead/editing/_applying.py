"""From edits to changed events: what stands in the place of what was recorded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from itertools import count
from typing import Any, assert_never

import msgspec

from playhead.editing._edits import (
    Adds,
    Answers,
    Asks,
    Delays,
    Drops,
    Edit,
    Ends,
    Faults,
    Place,
    Raises,
    Reads,
    Responds,
    Returns,
    Says,
    Takes,
)
from playhead.editing._faults import check_fault, tool_fault, write_fault
from playhead.editing._saying import replace_said
from playhead.editing._wire import Speaker, as_reply, is_http
from playhead.errors import UsageError
from playhead.eventlog import Exchange, Recording, printable
from playhead.events import (
    BoundaryAnswered,
    BoundaryAsked,
    BoundaryFailed,
    ClockRead,
    ErasedBody,
    Event,
    ModelFailed,
    ModelRequested,
    ModelResponded,
    RandomDrawn,
    RunStarted,
    ToolCalled,
    ToolFailed,
    ToolReturned,
)
from playhead.masking import Masker
from playhead.providers.writing import Reply, Text, ToolCall, ToolCalls

_GIVES: dict[type, tuple[tuple[str, Any], tuple[str, Any]]] = {
    ToolCalled: (("tool.returned", ToolReturned), ("tool.failed", ToolFailed)),
    ModelRequested: (("model.responded", ModelResponded), ("model.failed", ModelFailed)),
    BoundaryAsked: (("boundary.answered", BoundaryAnswered), ("boundary.failed", BoundaryFailed)),
}
_UNKNOWN: dict[str, Any] = {"turns": None, "ready": 0, "after_piece": [], "piece_turns": [], "head_after": []}
"""How a question or an answer came where nothing is known of it."""

_KEPT = ("turns", "ready", "after_piece")
"""How an answer came, which another answer in its place does as well."""


class Changes:
    """What a list of edits makes of a recording. Raises `UsageError` for an edit that cannot be carried out.

    ``replaced`` are events by their ``seq``, ``dropped`` those that are gone, ``before`` what comes before an event,
    ``late`` the answers of questions that had none, ``delays`` nanoseconds by the ``seq`` of the answer. ``new`` gives
    numbers to events that were not recorded.
    """

    def __init__(self, recording: Recording, masker: Masker, others: Mapping[str, Recording]) -> None:
        self.recording = recording
        self._others = others
        self._masker = masker
        self.replaced: dict[int, Event] = {}
        self.dropped: set[int] = set()
        self.before: dict[int, list[Event]] = {}
        self.late: list[Event] = []
        self.delays: dict[int, int] = {}
        self.new = count(len(recording))
        self._answered: set[int] = set()

    def apply(self, edit: Edit) -> None:
        """Carry out one edit, after those before it."""
        match edit:
            case Says():
                self.replaced |= replace_said(self.recording, edit, self._masker, self.replaced)
            case Asks():
                self._ask(self._exchange(edit.at), edit.content)
            case Ends():
                self._end(edit)
            case Reads():
                self._read(edit)
            case Delays():
                self._delay(edit)
            case Drops():
                exchange = self._claim(edit.at)
                self.dropped |= {event.seq for event in (exchange.question, exchange.answer) if event is not None}
            case Takes():
                exchange, answer = self._claim(edit.at), self._others[edit.run].events[edit.seq]
                self._replace(exchange, answer.kind, with_manner(answer.body, **self._manner(exchange)))
            case Adds():
                self._add(self._others[edit.run], edit.seq)
            case Returns() | Raises() | Answers() | Responds() | Faults():
                exchange = self._exchange(edit.at) if edit.first else self._claim(edit.at)
                kind, body = self._answer(exchange, edit)
                (self._insert if edit.first else self._replace)(exchange, kind, body)
            case _:
                assert_never(edit)

    def event(self, seq: int) -> Event:
        """The event ``seq`` as it is now."""
        return self.replaced.get(seq) or self.recording.events[seq]

    def _exchange(self, place: Place) -> Exchange:
        if place.step is not None:
            found = self.recording.step(place.step)
        else:
            found = self._exchange_of(place.seq or 0)
        if isinstance(found.question.body, ErasedBody):
            raise self._unusable(place, "was erased, and an edit brings nothing back")
        return found

    def _exchange_of(self, seq: int) -> Exchange:
        if not 0 <= seq < len(self.recording):
            raise self._unusable(Place(seq=seq), f"is not there: the run has {len(self.recording)} events")
        event = self.recording.events[seq]
        asked = event.of if event.of is not None else seq
        found = _exchange_at(self.recording, asked)
        if found is not None:
            return found
        raise self._unusable(Place(seq=seq), f"is {event.kind}, and no part of an exchange")

    def _claim(self, place: Place) -> Exchange:
        """The exchange at this place, whose answer is changed once only."""
        exchange = self._exchange(place)
        if exchange.question.seq in self._answered:
            raise self._unusable(place, "is changed twice: its answer can be one thing only")
        self._answered.add(exchange.question.seq)
        return exchange

    def _unusable(self, place: Place, why: str) -> UsageError:
        run = printable(self.recording.id)
        return UsageError(f"{place} of {run} {why}", next=f"playhead show {run} --graph", facts={"run": run})

    def _read(self, edit: Reads) -> None:
        seq = edit.at.seq
        if seq is None or not 0 <= seq < len(self.recording):
            raise self._unusable(edit.at, "is no read: a read is named by the number of its event, as '#41'")
        event = self.event(seq)
        if not isinstance(event.body, ClockRead | RandomDrawn):
            raise self._unusable(edit.at, f"is {event.kind}, and neither a read of a clock nor a random draw")
        body = msgspec.structs.replace(event.body, value=self._masker.value(edit.value))
        self.replaced[seq] = msgspec.structs.replace(event, body=body)

    def _ask(self, exchange: Exchange, content: Any) -> None:
        """Have the question of an exchange be another one."""
        body: Any = self.event(exchange.question.seq).body
        name = "arguments" if isinstance(body, ToolCalled) else "request"
        if isinstance(body, BoundaryAsked) and isinstance(body.request, dict) and body.request.get("form") == "json":
            content = {**body.request, "value": content}
        body = msgspec.structs.replace(body, **{name: self._masker.value(content)})
        self.replaced[exchange.question.seq] = msgspec.structs.replace(exchange.question, body=body)

    def _end(self, edit: Ends) -> None:
        """Have the run end otherwise."""
        told = self._masker.value({"result": edit.result, "reason": edit.reason, "error": edit.error})
        for event in self.recording.of_kind("run.finished"):
            body = msgspec.structs.replace(event.body, outcome=edit.outcome, **told)
            self.replaced[event.seq] = msgspec.structs.replace(event, body=body)

    def _delay(self, edit: Delays) -> None:
        exchange = self._exchange(edit.at)
        if exchange.answer is None:
            raise self._unusable(edit.at, "has no answer that could come later")
        if not edit.seconds > 0:
            raise self._unusable(edit.at, "is delayed by a number of seconds greater than 0")
        seq = exchange.answer.seq
        self.delays[seq] = self.delays.get(seq, 0) + round(edit.seconds * 1e9)

    def _answer(self, exchange: Exchange, edit: Returns | Raises | Answers | Responds | Faults) -> tuple[str, Any]:
        """The kind of event and its body that the exchange has now."""
        asked = exchange.question.body
        if type(asked) not in _GIVES or getattr(asked, "child", None) is not None:
            raise self._unusable(edit.at, f"is {exchange.question.kind} of a process, whose answer is not edited")
        if isinstance(edit, Faults):
            check_fault(edit.name, model=isinstance(asked, ModelRequested) and is_http(asked), what=str(edit.at))
        if is_http(asked):
            return self._http(exchange, edit)
        gives, fails = _GIVES[type(asked)]
        value: Any = None
        error: Any = None
        match edit:
            case Returns():
                value = edit.value
            case Raises():
                error = edit.error
            case Faults():
                value, error = tool_fault(edit.name, self._value(exchange))
            case Answers() if isinstance(asked, ModelRequested) and not edit.calls:
                value = edit.text
            case _:
                raise self._unusable(edit.at, "did not go over HTTP: it returns a value or raises")
        if error is not None:
            return fails[0], fails[1](error=self._masker.value(error), **self._manner(exchange))
        return gives[0], gives[1](**self._given(exchange, self._masker.value(value)), **self._manner(exchange))

    def _http(self, exchange: Exchange, edit: Returns | Raises | Answers | Responds | Faults) -> tuple[str, Any]:
        speaker = Speaker(exchange, self._masker)
        match edit:
            case Raises():
                return speaker.broken(self._masker.value(edit.error))
            case Faults():
                return write_fault(edit.name, speaker)
            case Responds():
                return self._respond(speaker, edit)
            case Answers() if speaker.model is not None:
                calls = [ToolCall(call.name, call.arguments) for call in edit.calls]
                answer = ToolCalls(calls, edit.text) if calls else Text(edit.text or "")
                return speaker.body(speaker.write(answer))
            case _:
                raise self._unusable(edit.at, "went over HTTP: give it an answer of its provider, a status or a fault")

    def _respond(self, speaker: Speaker, edit: Responds) -> tuple[str, Any]:
        recorded = speaker.recorded
        status = edit.status or (recorded.status if recorded is not None else None) or 200
        if not 100 <= status <= 599:
            raise self._unusable(edit.at, f"cannot have the status {status}: HTTP has 100 to 599")
        reply: Reply
        if edit.body is not None:
            reply = speaker.streamed(status, edit.body) or as_reply(speaker, status, edit.body)
        elif status >= 400:
            reply = speaker.error(status)
        else:
            reply = speaker.again(status)
        return speaker.body(reply, more=edit.headers)

    def _value(self, exchange: Exchange) -> Any:
        body = exchange.answer.body if exchange.answer is not None else None
        return getattr(body, "value", None) if getattr(body, "items", None) is None else getattr(body, "items", None)

    def _given(self, exchange: Exchange, value: Any) -> dict[str, Any]:
        """A value, in the field in which this kind of call has it; a generator yields the items of a list."""
        body = exchange.answer.body if exchange.answer is not None else None
        if isinstance(value, list) and getattr(body, "items", None) is not None:
            return {"items": value}
        return {"content" if isinstance(exchange.question.body, ModelRequested) else "value": value}

    def _manner(self, exchange: Exchange) -> dict[str, Any]:
        body: Any = exchange.answer.body if exchange.answer is not None else None
        if body is None or getattr(body, "items", None) is not None:
            return {}
        return {name: getattr(body, name) for name in _KEPT if hasattr(body, name)}

    def _add(self, other: Recording, asked: int) -> None:
        """An exchange of another recording, at the end; its answer takes as long as it took there."""
        found = _exchange_at(other, asked)
        assert found is not None
        question, last = found.question, (self.late or [self._last()])[-1]
        began = {"at_ns": last.at_ns, "mono_ns": last.mono_ns, "causes": ()}
        put = msgspec.structs.replace(question, seq=next(self.new), body=with_manner(question.body), **began)
        self.late.append(put)
        if found.answer is not None:
            took = max(0, found.answer.mono_ns - question.mono_ns)
            came = {"at_ns": put.at_ns + took, "mono_ns": put.mono_ns + took, "causes": ()}
            body = with_manner(found.answer.body)
            self.late.append(msgspec.structs.replace(found.answer, seq=next(self.new), of=put.seq, body=body, **came))

    def _replace(self, exchange: Exchange, kind: str, body: Any) -> None:
        if exchange.answer is not None:
            self.replaced[exchange.answer.seq] = msgspec.structs.replace(exchange.answer, kind=kind, body=body)
            return
        question, last = exchange.question, self._last()
        self.late.append(Event(next(self.new), kind, question.lane, last.at_ns, last.mono_ns, body, question.seq))

    def _last(self) -> Event:
        """The last event of what happened, before the run's own end."""
        events = self.recording.events
        for seq in range(len(events) - 1, 0, -1):
            if events[seq].kind not in ("run.finished", "recording.sealed", "note.added", "part.kept"):
                return events[seq]
        return events[0]

    def _insert(self, exchange: Exchange, kind: str, body: Any) -> None:
        """Put an exchange with the same question before this one; it takes no time."""
        question = exchange.question
        asked = msgspec.structs.replace(question, seq=next(self.new))
        body = msgspec.structs.replace(body, **{name: [] for name in ("gaps",) if getattr(body, name, None)})
        answered = msgspec.structs.replace(question, seq=next(self.new), kind=kind, body=body, of=asked.seq, causes=())
        self.before.setdefault(question.seq, []).extend((asked, answered))
        if getattr(question.body, "turns", None):
            again = self.event(question.seq)
            self.replaced[question.seq] = msgspec.structs.replace(
                again, body=msgspec.structs.replace(again.body, turns=None)
            )


def with_manner(body: Any, **manner: Any) -> Any:
    """``body`` as if it had come in this ``manner``: what its kind does not have is passed over, the rest not known."""
    told = {**_UNKNOWN, **manner}
    return msgspec.structs.replace(body, **{name: each for name, each in told.items() if hasattr(body, name)})


def _exchange_at(recording: Recording, asked: int) -> Exchange | None:
    """The exchange whose question is the event ``asked``."""
    questions = recording.questions
    at = bisect_left(questions, asked, key=lambda question: question.seq)
    return recording.exchanges[at] if at < len(questions) and questions[at].seq == asked else None


def edited_start(changes: Changes, run: str, parent: Any) -> None:
    """Have the run's beginning say which recording it is derived from, and how."""
    started = next(iter(changes.recording.of_kind("run.started")), None)
    if started is None or not isinstance(started.body, RunStarted):
        name = printable(changes.recording.id)
        raise UsageError(f"{name} does not say how its run began, so nothing is derived from it",
                         next=f"playhead verify {name}")  # fmt: skip
    event = changes.event(started.seq)
    body = msgspec.structs.replace(event.body, id=run, parent=parent, starter=None)
    changes.replaced[started.seq] = msgspec.structs.replace(event, body=body)
