"""From crossings to events: what the writer's thread makes of what the caller's thread handed over.

The scribe is the gate. Everything passes the mask here, before it is encoded, hashed or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from playhead import _system
from playhead.boundary import (
    Arguments,
    HttpHead,
    HttpRequest,
    Lane,
    Outcome,
    Pause,
    Program,
    Raised,
    Returned,
    Streamed,
    Ticket,
    name_arguments,
)
from playhead.eventlog import LogWriter, escape, part_digest
from playhead.events import Snapshot, encode, encode_pieces, freeze
from playhead.masking import Masker
from playhead.providers import (
    encode_plain,
    recognise,
)
from playhead.recorder._http_answers import AnswerReader, to_micros
from playhead.recorder._parts import NotPlainJsonError, PartKeeper
from playhead.recorder._pieces import count_equal, mask_pieces
from playhead.recorder._states import StateKeeper
from playhead.recorder._trails import Trail

_LIFT_FROM = 2048
"""Bodies of fewer bytes are not searched for long strings."""

_HANDED_ON, _WAITED_FOR = 8, 1024
"""A lane that follows more events of others than this notes it: before it hands that on to another lane, and always."""

_encode_json = msgspec.json.Encoder().encode

_QUESTION = {"model": "model.requested", "tool": "tool.called", "wrap": "boundary.asked"}
_ANSWER = {
    "model": "model.responded",
    "tool": "tool.returned",
    "boundary": "boundary.answered",
    "sleep": "sleep.ended",
}
_FAILURE = {"model": "model.failed", "tool": "tool.failed", "boundary": "boundary.failed", "sleep": "sleep.ended"}

Body = dict[str, Any]


class Scribe:
    """Writes the events of one recording. Used by one thread at a time."""

    def __init__(self, log: LogWriter, masker: Masker, *, wall_minus_mono_ns: int) -> None:
        self._log = log
        self._masker = masker
        self._offset = wall_minus_mono_ns
        self._lanes = {"main"}
        self._mono_ns = 0
        self._answers = AnswerReader(masker)
        self._parts = PartKeeper(masker, self._keep_part)
        self._states = StateKeeper(masker, self._keep_part)
        self._digests: set[str] = set()
        self._part_key = _system.random_bytes(32)

    def event(self, mono_ns: int, lane: Lane, kind: str, body: Body) -> int:
        """Write an event whose body is plain trees, or a state."""
        masked = {"state": self._states.state(body.pop("state"))} if kind == "state.kept" else None
        return self._write(mono_ns, lane, kind, self._text(body, masked))

    def resume(self, lanes: Iterable[str]) -> None:
        """What was copied into the recording has opened these lanes."""
        self._lanes.update(lanes)

    def opened(self, mono_ns: int, lane: Lane, turns: int | None = None) -> None:
        """Note a lane before its first event; noted once. ``turns`` are those of the loop beside which it began."""
        if lane.name not in self._lanes:
            self._lanes.add(lane.name)
            body: Body = {"parent": lane.parent.name if lane.parent else None}
            if lane.by is not None:
                body |= {"by": lane.by, "behind": lane.behind}
            if turns is not None:
                body["turns"] = turns
            self._write(mono_ns, lane, "lane.opened", self._text(body))

    def woken(self, mono_ns: int, lane: Lane, wait: int, turns: int | None) -> None:
        """Note that a thread goes on in ``lane``, having waited for others."""
        self.opened(mono_ns, lane)
        body: Body = {"wait": wait} if wait else {}
        if turns is not None:
            body["turns"] = turns
        self._write(mono_ns, lane, "lane.woken", self._text(body))

    def follows(self, lane: Lane, after: Lane) -> None:
        """What ``lane`` does next comes after what the lane ``after`` has done so far."""
        source: Trail | None = after.state
        if source is None:
            return
        if source.breadth > _HANDED_ON:
            self._join(after)
        trail = _trail(lane)
        trail.follow(lane.name, after.name, source)
        if trail.breadth > _WAITED_FOR:
            self._join(lane)

    def _join(self, lane: Lane) -> None:
        """Note in ``lane`` what it follows, so that what comes after it names one event instead of many."""
        self.opened(self._mono_ns, lane)
        self._write(self._mono_ns, lane, "note.added", self._text({"name": "joined"}))

    def question(
        self, mono_ns: int, ticket: Ticket, args: Sequence[Snapshot] | None, kwargs: dict[str, Snapshot] | None
    ) -> None:
        """Write what was asked, with the arguments as they were then; ``None`` where they cannot have changed."""
        call, lane = ticket.call, ticket.lane
        self.opened(mono_ns, lane)
        if isinstance(call.payload, HttpRequest):
            self._http_question(mono_ns, ticket, call.payload)
            return
        if isinstance(call.payload, Pause):
            ticket.mark = ("sleep", None)
            asked = {"seconds": round(call.payload.seconds, 6), **_turns(ticket)}
            ticket.seq = self._write(mono_ns, lane, "sleep.asked", self._text(asked))
            return
        if isinstance(call.payload, Program):
            self._process(mono_ns, ticket, call.payload)
            return
        if args is None or kwargs is None:
            given = call.payload
            kept = {
                "args": list(map(freeze, given.args)),
                "kwargs": {key: freeze(given.kwargs[key]) for key in given.kwargs},
            }
        else:
            kept = {"args": [encode(value) for value in args], "kwargs": {key: encode(kwargs[key]) for key in kwargs}}
        body: Body = {"name": call.name, "arguments": name_arguments(call.payload.function, kept)}
        if call.kind != "tool":
            body = {"name": call.name, "request": body["arguments"], "form": "arguments", "call": _path(call.payload)}
        if call.kind == "model":
            body["provider"] = body.pop("name")
        if call.call_id is not None:
            body["call_id"] = call.call_id
        if call.causes is not None:
            body["causes"] = call.causes
        body |= _turns(ticket)
        ticket.mark = (call.kind if call.kind != "wrap" else "boundary", None)
        ticket.seq = self._write(mono_ns, lane, _QUESTION[call.kind], self._text(body, lift=True), by=ticket.carrier)

    def answer(self, mono_ns: int, ticket: Ticket, outcome: Outcome, kept: Snapshot, turns: int | None = None) -> None:
        """Write what became of a question, ``turns`` turns of its loop after what came before it there."""
        family, model = ticket.mark or ("boundary", None)
        body: Body
        masked: Body = {}
        failed = False
        match outcome:
            case Returned() if family == "sleep":
                body = {}
            case Returned():
                key = "content" if family == "model" else "value"
                if kept.form == "pieces":
                    body, masked = {}, {key: self._pieced(kept)}
                else:
                    body = {key: encode(kept)}
            case Raised():
                body, failed = {"error": encode(kept)}, True
            case Streamed(head=HttpHead()):
                error = encode(kept) if outcome.error is not None else None
                asked = getattr(ticket.call.payload, "body", None)
                body, masked, failed = self._answers.read(outcome, error, model=model, asked=asked)
            case Streamed():
                masked = {"items": mask_pieces(self._masker, list(map(encode, outcome.items)))}
                body = {"gaps": to_micros(outcome.gaps_ns), "end": outcome.end}
                if outcome.value is not None:
                    body["value"] = freeze(outcome.value)
                if outcome.error is not None:
                    body["error"], failed = encode(kept), outcome.end == "broken"
        if turns is not None:
            body["turns"] = turns
            if ticket.ready and family != "sleep":
                body["ready"] = ticket.ready
        if ticket.after_piece and family != "sleep":
            body["after_piece"] = ticket.after_piece
        if isinstance(outcome, Streamed) and any(outcome.turns):
            body["piece_turns"] = count_equal(outcome.turns)
        kind = (_FAILURE if failed else _ANSWER)[family]
        self._write(mono_ns, ticket.lane, kind, self._text(body, masked, lift=True), of=ticket.seq, by=ticket.carrier)

    def read(self, mono_ns: int, lane: Lane, kind: str, fn: str, site: str, kept: Snapshot) -> None:
        """Write a read of clock or chance."""
        self.opened(mono_ns, lane)
        self._write(mono_ns, lane, kind, self._text({"fn": fn, "site": site, "value": encode(kept)}))

    def _process(self, mono_ns: int, ticket: Ticket, program: Program) -> None:
        child = {"lane": program.lane, "run": ticket.errand.run if ticket.errand is not None else None}
        body: Body = {"name": "process", "form": "arguments", "child": child, **_turns(ticket)}
        masked: Body = {"request": {"argv": self._masker.command(program.argv)}}
        ticket.mark = ("boundary", None)
        ticket.seq = self._write(mono_ns, ticket.lane, "boundary.asked", self._text(body, masked, lift=True))

    def _http_question(self, mono_ns: int, ticket: Ticket, request: HttpRequest) -> None:
        lane = ticket.lane
        abridged = self._parts.abridge(lane.name, request.body or b"")
        model = recognise(request.method, request.url, request.headers, abridged.text)
        masked: Body = {"url": self._masker.url(request.url), "headers": self._masker.headers(request.headers)}
        body: Body = {"method": request.method}
        if model is None:
            body = {"name": "http", **body, **self._plain_request(request), **_turns(ticket)}
            ticket.mark = ("boundary", None)
            ticket.seq = self._write(
                mono_ns, lane, "boundary.asked", self._text(body, masked, lift=True), by=ticket.carrier
            )
            return
        body = {"provider": model.provider, "model": model.model, "stream": model.stream, **body, **_turns(ticket)}
        try:
            masked["request"] = self._parts.request(lane.name, abridged)
        except NotPlainJsonError:
            body |= self._plain_request(request)
        ticket.mark = ("model", model)
        ticket.seq = self._write(mono_ns, lane, "model.requested", self._text(body, masked), by=ticket.carrier)
        self._parts.requested(ticket.seq)

    def _plain_request(self, request: HttpRequest) -> Body:
        if request.body is None or request.body == b"":
            return {"form": "none"} if request.body is not None else {"form": "none", "request": {"unread": True}}
        form = encode_plain(request.body)
        return {"form": form["form"], "request": form}

    def _text(self, body: Any, masked: Body | None = None, *, lift: bool = False) -> bytes:
        """The JSON of a body, or of a part of one, as it may be written: without secrets, long strings lifted if asked.

        What is in ``masked`` is in the body as well, and has lost its secrets before.
        """
        text = _encode_json(body)
        clean = body if self._masker.is_clean_json(text) else self._masker.value(body)
        whole = {**clean, **masked} if masked else clean
        if whole is not body:
            text = _encode_json(whole)
        finished = escape(whole) if b"$" in text else whole
        if lift and len(text) >= _LIFT_FROM:
            finished = self._parts.lift(finished)
        return text if finished is whole else _encode_json(finished)

    def _pieced(self, kept: Snapshot) -> msgspec.Raw:
        """The same of a long list."""
        texts = [self._text(piece, lift=True)[1:-1] for piece in encode_pieces(kept)]
        return msgspec.Raw(b"[%b]" % b",".join(filter(None, texts)))

    def _keep_part(self, content: bytes) -> str:
        digest = part_digest(content, key=self._part_key)
        if digest not in self._digests:
            self._digests.add(digest)
            body = b'{"digest":"%b","content":%b}' % (digest.encode(), content)
            self._append(self._mono_ns, "main", "part.kept", body)
        return digest

    def _write(
        self, mono_ns: int, lane: Lane, kind: str, body: bytes, *, of: int | None = None, by: Lane | None = None
    ) -> int:
        """``by`` is the lane of the task that carries out a call made in ``lane``, where it is another one."""
        trail, carrier = _trail(lane), _trail(by) if by is not None else None
        seq = self._append(mono_ns, lane.name, kind, body, of=of, causes=trail.take(carrier))
        trail.wrote(seq, carrier)
        return seq

    def _append(
        self,
        mono_ns: int,
        lane: str,
        kind: str,
        body: bytes,
        *,
        of: int | None = None,
        causes: tuple[int, ...] = (),
    ) -> int:
        self._mono_ns = mono_ns
        at_ns = mono_ns + self._offset
        return self._log.append(kind=kind, lane=lane, at_ns=at_ns, mono_ns=mono_ns, body=body, of=of, causes=causes)


def _trail(lane: Lane) -> Trail:
    if lane.state is None:
        lane.state = Trail()
    trail: Trail = lane.state
    return trail


def _turns(ticket: Ticket) -> Body:
    return {"turns": ticket.turns} if ticket.turns else {}


def _path(arguments: Arguments) -> str:
    function = arguments.function
    return f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', type(function).__qualname__)}"
