"""Checking a recording: does its chain hold, is it whole, and is its end the end?

This streams: whatever the size of the recording, a few blocks of it are in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from playhead.errors import BlobError, CorruptRecordingError, UnknownRunError
from playhead.eventlog._blobs import BlobPlace, blob_ref, fetch_blob, find_blobs
from playhead.eventlog._chain import digest_body, first_head, link
from playhead.eventlog._format import (
    BODY_KEY,
    LIMITS,
    SALT_END,
    Head,
    Header,
    Limits,
    Mark,
    decode_header,
    decode_mark,
    split_line,
)
from playhead.eventlog._index import Index, encode_index
from playhead.eventlog._printing import counted
from playhead.eventlog._reader import BLOB_LINE, Torn, first_line, inline_data, tear
from playhead.eventlog._sealing import Signature, check_signature
from playhead.eventlog._source import Bytes, Source
from playhead.eventlog._text import Text
from playhead.eventlog._verdicts import Break, Status, Verification
from playhead.events import RecordingSealed, decode_body

Progress = Callable[[int, int], None]
"""Told, from time to time, how many of the stored bytes have been read, and of how many."""

_BODY_AT = len(BODY_KEY)
_BLOB_AT = SALT_END + 2
"""Where the ``$`` of ``$blob`` is in a body that refers to one."""

_SEAL = b'recording.sealed"'
_BRACE = b"}"[0]


def verify(
    source: Source | Bytes,
    *,
    expected: Head | None = None,
    progress: Progress | None = None,
    blobs: BlobPlace | None = None,
    limits: Limits = LIMITS,
) -> Verification:
    """Check every link of a recording, its marks, seal, blobs and, where it is compressed, its stored bytes.

    ``expected`` is a head that was kept somewhere else; only it, or a seal, proves that no tail was dropped.
    A missing file is a finding. Raises `NotARecordingError` and `NewerFormatError` for what cannot be checked,
    and `HostileRecordingError` for bombs.
    """
    try:
        stored = source if isinstance(source, Bytes) else Bytes(source)
    except UnknownRunError:
        return Verification(status="missing", run="", count=0, head="", expected=expected)
    if blobs is None and stored.path is not None:
        blobs = find_blobs(stored.path)
    line = first_line(stored)
    walk = _Walk(stored, decode_header(line, name=stored.name), line, blobs=blobs, expected=expected)
    text = Text(stored, limits=limits)
    try:
        for _, lines in text:
            walk.take(lines)
            if progress is not None:
                progress(text.consumed, stored.size)
    except CorruptRecordingError as error:
        walk.broken(error.message)
        return walk.verdict(None)
    torn = tear(text)
    if stored.form == "zstd" and torn is None:
        torn = walk.check_index(text)
    return walk.verdict(torn)


class _Walk:
    """Goes along the lines once. After a break it takes up the chain again at the next mark."""

    def __init__(
        self, stored: Bytes, header: Header, line: bytes, *, blobs: BlobPlace | None, expected: Head | None
    ) -> None:
        self.stored = stored
        self.header = header
        self.blobs = blobs
        self.expected = expected
        self.head = first_head(line)
        self.count = 0
        self.erased = 0
        self.started = False
        self.marks = 0
        self.confirmed = 0
        """How many events stand before the last mark that holds."""
        self.breaks: list[Break] = []
        self.fault: tuple[int, str] | None = None
        """What is wrong with the form of a line since the last mark, and which event that is."""
        self.seal: RecordingSealed | None = None
        self.sealing: RecordingSealed | None = None
        self.signature: Signature = "none"
        self.inlined: dict[str, int] = {}
        self.as_expected: bool | None = self._meets() if expected is not None and expected.count == 0 else None

    def take(self, lines: list[bytes]) -> None:
        """Go along some lines. The loop is hot, with few operations a line; what is rare is done elsewhere."""
        head, count = self.head, self.count
        until = self.expected.count if self.expected is not None else -1
        plain = self.fault is None and self.seal is None
        for line in lines:
            start = b'{"seq":%d,"kind":"' % count
            if plain and line.startswith(start) and not line.startswith(_SEAL, len(start)):
                at = line.find(BODY_KEY)
                if at > 0 and line[-1] == _BRACE:
                    body = line[at + _BODY_AT : -1]
                    head = sha256(head + line[:at] + sha256(body).digest()).digest()
                    if body[_BLOB_AT : _BLOB_AT + 1] == b"$":
                        self._check_blob(body, count)
                    count += 1
                    self.sealing = None
                    if count == until:
                        self.head, self.count = head, count
                        self.as_expected = self._meets()
                    continue
            self.head, self.count = head, count
            self._rare(line)
            head, count = self.head, self.count
            plain = self.fault is None and self.seal is None
        self.head, self.count = head, count

    def _meets(self) -> bool:
        return self.expected is not None and self.head.hex() == self.expected.head

    def _rare(self, line: bytes) -> None:
        if line.startswith(b'{"mark":'):
            self._mark(line)
        elif line.startswith(BLOB_LINE):
            self._inline(line)
        elif not self.started and not line.startswith(b'{"seq":'):
            self.started = True  # the header
        elif self.fault is None:
            self._odd_event(line)

    def _odd_event(self, line: bytes) -> None:
        """An erased event, the seal, or something that should not be here."""
        if self.seal is not None:
            self.fault = (self.count, "it comes after the seal")
            return
        split = split_line(line)
        if split is None:
            self.fault = (self.count, "it is not a line of a recording")
        elif not line.startswith(b'{"seq":%d,' % self.count):
            self.fault = (self.count, "another event stands in its place")
        else:
            before = Head(self.count, self.head.hex())
            digest = bytes.fromhex(split.digest or "") if split.body is None else digest_body(split.body)
            self.head = link(self.head, split.prefix, digest)
            self.count += 1
            self.erased += split.body is None
            if self.expected is not None and self.count == self.expected.count:
                self.as_expected = self._meets()
            if split.body is not None:
                self.sealing = self._read_seal(split.body, before)

    def _read_seal(self, body: bytes, before: Head) -> RecordingSealed | None:
        try:
            seal = decode_body("recording.sealed", body)
        except Exception:
            seal = None
        if not isinstance(seal, RecordingSealed) or (seal.count, seal.head) != (before.count, before.head):
            self.fault = (before.count, "the seal does not say what the chain says")
            return None
        return seal

    def _mark(self, line: bytes) -> None:
        mark = decode_mark(line)
        if mark is None:
            self.fault = self.fault or (self.count, "the mark after it is damaged")
            return
        if self.fault is None and mark.mark != self.marks:
            self.fault = (self.count, f"mark {mark.mark} stands where mark {self.marks} should")
        if self.fault is None and (mark.count != self.count or mark.head != self.head.hex()):
            self.broken("the chain does not lead from one mark to the next", upto=mark.count)
        elif self.fault is not None:
            self.broken(self.fault[1], at=self.fault[0], upto=mark.count)
        elif self.sealing is not None:
            self.seal = self.sealing
            self.signature = check_signature(self.header.run, self.seal)
        self._resume(mark)

    def _resume(self, mark: Mark) -> None:
        self.fault = self.sealing = None
        self.marks = mark.mark + 1
        self.count = self.confirmed = mark.count
        try:
            self.head = bytes.fromhex(mark.head)
        except ValueError:
            self.head = b""

    def _check_blob(self, body: bytes, seq: int) -> None:
        ref = blob_ref(body)
        if ref is None or self.inlined.get(ref.digest) == ref.size:
            return
        try:
            fetch_blob(ref, seq=seq, name=self.stored.name, run=self.header.run, place=self.blobs)
        except BlobError as error:
            self.broken(error.message, at=seq)

    def _inline(self, line: bytes) -> None:
        found = inline_data(line) if line[-2:] == b"}}" else None
        content = line[found[1] : -1] if found is not None else b""
        if found is None or sha256(content).hexdigest() != found[0] or found[0] in self.inlined:
            self.fault = self.fault or (self.count, "the blob before it is damaged")
        else:
            self.inlined[found[0]] = len(content)

    def broken(self, why: str, *, at: int | None = None, upto: int | None = None) -> None:
        """Note a break after the last mark that holds."""
        first = self.confirmed
        self.breaks.append(Break(first=first, last=max(first, (upto or self.count) - 1), at=at, why=why))

    def check_index(self, text: Text) -> Torn | None:
        """Compare the stored bytes with the index at their end."""
        if not text.index:
            return Torn(text.plain, 0, "the index at its end is missing")
        digest = sha256()
        at, end = 0, self.stored.size - len(text.index)
        while at < end and (block := self.stored.read(at, min(1024 * 1024, end - at))):
            digest.update(block)
            at += len(block)
        frames = [(frame.offset, frame.start) for frame in text.frames]
        index = encode_index(Index(1, self.count, text.plain, frames), digest)
        if index != text.index and not self.breaks:
            if index.startswith(text.index):
                return Torn(text.plain, 0, "the index at its end is not whole")
            self.broken("the stored bytes are not those of its index")
        return None

    def verdict(self, torn: Torn | None) -> Verification:
        """What was found."""
        unmarked = self.count - self.confirmed
        if self.fault is not None:
            self.broken(self.fault[1], at=self.fault[0])
        elif torn is None and (unmarked or not self.marks):
            torn = Torn(0, 0, f"no mark confirms the last {counted(unmarked, 'event')}")
        if torn is None and self.signature == "bad":
            self.broken("the signature of the seal is not good", at=self.count - 1)
        return Verification(
            status=self._status(torn),
            run=self.header.run,
            count=self.count,
            head=self.head.hex(),
            confirmed=self.confirmed,
            sealed=self.seal is not None,
            key=self.seal.key if self.seal is not None and self.signature == "good" else None,
            erased=self.erased,
            torn=torn,
            breaks=tuple(self.breaks),
            expected=self.expected,
        )

    def _status(self, torn: Torn | None) -> Status:
        if self.breaks:
            return "broken"
        if self.expected is not None and self.as_expected is not True:
            if self.count >= self.expected.count:
                return "replaced"
            return "truncated" if torn is not None or self.count != self.confirmed else "rolled back"
        return "torn" if torn is not None else "ok"
