"""From lines to events: salt, blobs and parts are dealt with here, so that nobody above knows of them."""

from __future__ import annotations

import msgspec

from playhead.eventlog._access import Access
from playhead.eventlog._blobs import BlobPlace, blob_ref, fetch_blob
from playhead.eventlog._columns import Columns
from playhead.eventlog._format import (
    Limits,
    Split,
    corrupt,
    decode_event,
    decode_prefix,
    has_salt,
    hostile,
    split_line,
    unsalted,
)
from playhead.eventlog._parts import may_refer
from playhead.eventlog._printing import printable
from playhead.eventlog._resolving import Resolver
from playhead.events import BODIES, Body, ErasedBody, Event, UnknownBody, decode_body


class _Digest(msgspec.Struct, frozen=True):
    digest: str


_digest_decoder = msgspec.json.Decoder(_Digest)


class Bodies:
    """Reads the events of one recording at any place."""

    def __init__(
        self, columns: Columns, access: Access, *, run: str, name: str, blobs: BlobPlace | None, limits: Limits
    ) -> None:
        self._columns = columns
        self._access = access
        self._run = run
        self._name = name
        self._blobs = blobs
        self._resolver = Resolver(name=name, limits=limits, body=self._text, part=self._part)
        self._digests: dict[str, int] = {}
        self._parts_read = 0
        self._parts_in_blobs: list[int] = []
        self._part_erased = False
        self._stored_last: tuple[int, bytes | None] = (-1, None)

    def event(self, seq: int) -> Event:
        """The event ``seq``, its body resolved.

        Raises `CorruptRecordingError`, `BlobError` or `HostileRecordingError` where that cannot be done.
        """
        columns = self._columns
        line = self._access.read(columns.offset[seq], columns.length[seq])
        event = decode_event(line, columns.kinds[columns.kind[seq]])
        if event is not None:
            return event
        split = self._split(seq, line)
        head = decode_prefix(split.prefix)
        body: Body
        if split.body is None:
            body = ErasedBody(digest=split.digest or "")
        else:
            body = self._body(seq, head.kind, split.body)
        return Event(head.seq, head.kind, head.lane, head.at_ns, head.mono_ns, body, head.of, head.causes)

    def _line(self, seq: int) -> bytes:
        columns = self._columns
        return self._access.read(columns.offset[seq], columns.length[seq])

    def _split(self, seq: int, line: bytes) -> Split:
        split = split_line(line)
        if split is None:
            raise corrupt(self._name, f"the line of event {seq} changed while it was read", seq=seq)
        return split

    def _unwrapped(self, seq: int, body: bytes) -> bytes:
        """The body as it was handed to the writer."""
        if not has_salt(body):
            raise corrupt(self._name, f"the body of event {seq} does not open with a salt", seq=seq)
        ref = blob_ref(body)
        if ref is None:
            return unsalted(body)
        return fetch_blob(
            ref, seq=seq, name=self._name, run=self._run, place=self._blobs, inside=self._inside(ref.digest)
        )

    def _inside(self, digest: str) -> bytes | None:
        at = self._columns.blobs.get(digest)
        return self._access.read(*at) if at is not None else None

    def _stored(self, seq: int) -> bytes | None:
        """The body as it is stored. A part is looked at twice in a row: for its digest, then for its content."""
        last = self._stored_last
        if last[0] != seq:
            last = self._stored_last = (seq, self._split(seq, self._line(seq)).body)
        return last[1]

    def _text(self, seq: int) -> bytes | None:
        body = self._stored(seq)
        return self._unwrapped(seq, body) if body is not None else None

    def _body(self, seq: int, kind: str, body: bytes) -> Body:
        text = self._unwrapped(seq, body)
        try:
            if not may_refer(text):
                return decode_body(kind, text)
            tree = self._resolver.resolve(seq, text)
            known = BODIES.get(kind)
            return UnknownBody(raw=msgspec.json.encode(tree)) if known is None else msgspec.convert(tree, known)
        except RecursionError:
            raise hostile(self._name, f"the body of event {seq} is nested too deeply", seq=seq) from None
        except msgspec.MsgspecError as error:
            why = f"the body of event {seq} ({printable(kind)}) cannot be read: {printable(error)}"
            raise corrupt(self._name, why, seq=seq) from error

    def _part(self, digest: str) -> int | None:
        """The ``seq`` of the part with this digest; those in blobs are opened only where no other one has it.

        ``None`` where it must have been erased. Raises `LookupError` where no part was.
        """
        found = self._digests.get(digest)
        if found is not None:
            return found
        parts = self._columns.parts
        while digest not in self._digests and self._parts_read < len(parts):
            seq = parts[self._parts_read]
            self._parts_read += 1
            body = self._stored(seq)
            if body is None:
                self._part_erased = True
            elif blob_ref(body) is not None:
                self._parts_in_blobs.append(seq)
            else:
                self._note_digest(seq, body)
        while digest not in self._digests and self._parts_in_blobs:
            seq = self._parts_in_blobs.pop(0)
            self._note_digest(seq, self._text(seq) or b"")
        found = self._digests.get(digest)
        if found is None and not self._part_erased:
            raise LookupError(digest)
        return found

    def _note_digest(self, seq: int, body: bytes) -> None:
        try:
            self._digests.setdefault(_digest_decoder.decode(body).digest, seq)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise corrupt(self._name, f"event {seq} is not a part", seq=seq) from error
