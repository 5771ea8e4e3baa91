"""Writing the events of a recording anew, as those of one that is derived from it."""

from __future__ import annotations

from typing import Any

import msgspec

from playhead import _system
from playhead.eventlog import LogWriter, escape, escape_text, part_digest
from playhead.events import ErasedBody, Event, ModelRequested, UnknownBody, encode_body
from playhead.masking import Masker
from playhead.recorder._parts import NotPlainJsonError, PartKeeper

_LIFT_FROM = 2048
_encode = msgspec.json.Encoder().encode
_REMADE = frozenset({"part.kept", "recording.sealed"})


class Copyist:
    """Writes events that were read from a recording into another one.

    What repeats is kept once, as it was; what they say was masked before. An event may refer to others by the ``seq``
    that they had: these are put right, and what refers to an event that was left out refers to what that one followed.
    """

    def __init__(self, log: LogWriter, masker: Masker) -> None:
        self._log = log
        self._parts = PartKeeper(masker, self._keep_part)
        self._part_key = _system.random_bytes(32)
        self._digests: dict[bytes, str] = {}
        self._seqs: dict[int, int] = {}
        self._left_out: dict[int, tuple[int, ...]] = {}
        self._at = (0, 0)

    def leave_out(self, event: Event) -> None:
        """This event is not written."""
        before = event.causes if event.of is None else (event.of, *event.causes)
        self._left_out[event.seq] = before

    def stand_for(self, event: Event, seq: int) -> None:
        """What is written already at ``seq`` stands for this event."""
        self._seqs[event.seq] = seq

    def copy(self, event: Event) -> None:
        """Write an event; parts and the seal are made again, and are passed over."""
        if event.kind in _REMADE:
            return
        self._at = event.at_ns, event.mono_ns
        causes = {new for old in event.causes for new in self._found(old)}
        place: dict[str, Any] = {
            "kind": event.kind,
            "lane": event.lane,
            "at_ns": event.at_ns,
            "mono_ns": event.mono_ns,
            "of": None if event.of is None else self._seqs[event.of],
            "causes": tuple(sorted(causes)),
        }
        body = event.body
        if isinstance(body, ErasedBody):
            self._seqs[event.seq] = self._log.append_erased(body.digest, **place)
            return
        asked = self._request(event, body) if isinstance(body, ModelRequested) else None
        self._seqs[event.seq] = seq = self._log.append(**place, body=asked or self._text(body))
        if asked is not None:
            self._parts.requested(seq)

    def _found(self, old: int) -> list[int]:
        if old in self._seqs:
            return [self._seqs[old]]
        return [new for before in self._left_out.get(old, ()) for new in self._found(before)]

    def _request(self, event: Event, body: ModelRequested) -> bytes | None:
        """A request whose conversation is written as what is new in it; ``None`` for what is no JSON object."""
        if body.form != "json" or not isinstance(body.request, dict):
            return None
        try:
            raw = self._parts.request(event.lane, self._parts.abridge(event.lane, _encode(body.request)))
        except NotPlainJsonError:
            return None
        tree = msgspec.json.decode(encode_body(msgspec.structs.replace(body, request=None)))
        return _encode({**escape(tree), "request": raw})

    def _text(self, body: Any) -> bytes:
        if isinstance(body, UnknownBody):
            return escape_text(body.raw)
        text = encode_body(body)
        if b"$" not in text and len(text) < _LIFT_FROM:
            return text
        return _encode(self._parts.lift(escape(msgspec.json.decode(text))))

    def _keep_part(self, content: bytes) -> str:
        digest = self._digests.get(content)
        if digest is None:
            digest = self._digests[content] = part_digest(content, key=self._part_key)
            at_ns, mono_ns = self._at
            body = b'{"digest":"%b","content":%b}' % (digest.encode(), content)
            self._log.append(kind="part.kept", lane="main", at_ns=at_ns, mono_ns=mono_ns, body=body)
        return digest
