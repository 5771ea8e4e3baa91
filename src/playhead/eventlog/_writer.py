"""The one writer of a recording, while its run goes on."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from playhead._system import Clock, SystemClock, random_bytes
from playhead.errors import RecordingExistsError
from playhead.eventlog._blobs import BLOB_FROM, BlobPlace, find_blobs
from playhead.eventlog._chain import digest_body, first_head, link
from playhead.eventlog._files import sync_data, sync_folder, write_all, writing
from playhead.eventlog._format import (
    BODY_KEY,
    LIVE_SUFFIX,
    SALT_LENGTH,
    SEALED_SUFFIX,
    Header,
    Mark,
    check_kind,
    encode_erased,
    encode_header,
    encode_mark,
    encode_prefix,
)
from playhead.eventlog._locking import hold
from playhead.eventlog._printing import printable
from playhead.eventlog._resuming import find_end, reopen
from playhead.eventlog._rewriting import write_recording
from playhead.eventlog._sealing import SealKey, sealing_body
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Text

Durability = Literal["group", "every"]
"""``every`` puts each event on disk before `LogWriter.append` returns; ``group`` leaves that to `commit`."""

_SALTS: Final = 256


class LogWriter:
    """Appends the events of one run to ``<name>.playhead.jsonl`` and seals them into ``<name>.playhead``.

    One thread at a time may use it, `sync` apart. ``path`` may be given with either suffix or none; ``count`` events
    have been appended, ``head`` (hexadecimal) is the chain's head after them, ``size`` bytes of them are in the file.

    Raises `RecordingExistsError` where a recording of this name stands, and, here and in every method that
    writes, `StoreNotWritableError`: then nothing of what could not be written is in the file, what was written
    before is whole, and the same call may be tried again.
    """

    def __init__(
        self,
        path: Path,
        header: Header,
        *,
        durability: Durability = "group",
        blobs: BlobPlace | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._prepare(path, header, durability, blobs, clock)
        line = encode_header(header)
        self._head = first_head(line)
        self._fd = self._create(line)

    def _prepare(
        self, path: Path, header: Header, durability: Durability, blobs: BlobPlace | None, clock: Clock | None
    ) -> None:
        name = path.name.removesuffix(LIVE_SUFFIX).removesuffix(SEALED_SUFFIX)
        self.header = header
        self.path = path.with_name(name + LIVE_SUFFIX)
        self.count = 0
        self.size = 0
        self._final = path.with_name(name + SEALED_SUFFIX)
        self._durability = durability
        self._blobs = blobs
        self._clock = clock or SystemClock()
        self._buffer: list[bytes] = []
        self._marks = 0
        self._dirty = False
        self._sealed = False
        self._salts: list[bytes] = []
        self._kinds: set[str] = set()
        self._lanes: dict[str, bytes] = {}

    @classmethod
    def resume(
        cls,
        path: Path,
        *,
        durability: Durability = "group",
        blobs: BlobPlace | None = None,
        clock: Clock | None = None,
    ) -> LogWriter:
        """Go on with the live recording at ``path``, whose writer's process has ended.

        What that one tore off at the end is cut off. One that is sealed already can only be sealed once more,
        which compresses it. Raises `StoreNotWritableError` while its writer lives, `CorruptRecordingError` where
        its chain does not hold.
        """
        writer = cls.__new__(cls)
        fd = reopen(path)
        try:
            end = find_end(path)
            with writing(path):
                os.ftruncate(fd, end.size)
        except BaseException:
            os.close(fd)
            raise
        writer._prepare(path, end.header, durability, find_blobs(path) if blobs is None else blobs, clock)
        writer._head, writer._fd = bytes.fromhex(end.head), fd
        writer.count, writer.size, writer._marks, writer._sealed = end.count, end.size, end.mark, end.sealed
        writer._dirty = True
        return writer

    def _create(self, line: bytes) -> int:
        start = b"%b\n%b\n" % (line, encode_mark(Mark(0, 0, self.head)))
        with writing(self.path):
            try:
                fd = os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND | getattr(os, "O_BINARY", 0))
            except FileExistsError as error:
                raise self._exists() from error
            try:
                hold(fd)
                if self._final.exists():
                    raise self._exists()
                write_all(fd, start)
                sync_data(fd)
                sync_folder(self.path.parent)
            except BaseException:
                os.close(fd)
                self.path.unlink(missing_ok=True)
                raise
        self.size = len(start)
        return fd

    def _exists(self) -> RecordingExistsError:
        return RecordingExistsError(
            f"there is a recording {printable(self._final.stem)} already, and recordings are never overwritten",
            next=f"playhead show {printable(self._final.stem)}",
        )

    @property
    def head(self) -> str:
        """The chain's head after ``count`` events."""
        return self._head.hex()

    def append(
        self,
        *,
        kind: str,
        lane: str,
        at_ns: int,
        mono_ns: int,
        body: bytes,
        of: int | None = None,
        causes: tuple[int, ...] = (),
    ) -> int:
        """Add an event and give its ``seq``. It waits in memory for `flush`, unless durability is ``every``.

        ``body`` is the text of a JSON object. Raises `ValueError` for what would not be a line of the format.
        """
        seq = self.count
        if kind not in self._kinds:
            check_kind(kind)
            self._kinds.add(kind)
        if body[:1] != b"{" or body[-1:] != b"}" or body.startswith(b'{"$blob":'):
            raise ValueError(f"the body of event {seq} is not one of an event")
        if (of is not None and not 0 <= of < seq) or (causes and not 0 <= min(causes) <= max(causes) < seq):
            raise ValueError(f"event {seq} refers to an event that is not before it")
        if b"\n" in body or b"\r" in body:  # white space in JSON, but the end of a line here
            body = body.replace(b"\r", b" ").replace(b"\n", b" ")
        if len(body) > BLOB_FROM and self._blobs is not None:
            body = b'{"$blob":"%b","size":%d}' % (self._blobs.put(body).encode(), len(body))
        salted = self._salted(body)
        prefix = encode_prefix(
            seq=seq, kind=kind, lane=self._lane(lane), at_ns=at_ns, mono_ns=mono_ns, of=of, causes=causes
        )
        return self._add(prefix, digest_body(salted), b"%b%b%b}\n" % (prefix, BODY_KEY, salted))

    def append_erased(
        self,
        digest: str,
        *,
        kind: str,
        lane: str,
        at_ns: int,
        mono_ns: int,
        of: int | None = None,
        causes: tuple[int, ...] = (),
    ) -> int:
        """Add an event whose body was erased in the recording that this one is derived from; its ``digest`` stays."""
        prefix = encode_prefix(
            seq=self.count, kind=kind, lane=self._lane(lane), at_ns=at_ns, mono_ns=mono_ns, of=of, causes=causes
        )
        return self._add(prefix, bytes.fromhex(digest), encode_erased(prefix, digest) + b"\n")

    def _add(self, prefix: bytes, digest: bytes, line: bytes) -> int:
        seq = self.count
        self._head = link(self._head, prefix, digest)
        self._buffer.append(line)
        self.count = seq + 1
        if self._durability == "every":
            self.commit()
        return seq

    def _salted(self, body: bytes) -> bytes:
        if not self._salts:
            text = base64.urlsafe_b64encode(random_bytes(_SALTS * SALT_LENGTH * 3 // 4))
            self._salts = [text[at : at + SALT_LENGTH] for at in range(0, len(text), SALT_LENGTH)]
        salt = self._salts.pop()
        return (
            b'{"salt":"%b",%b' % (salt, body[1:])
            if body[1:2] == b'"' or body[1:].strip() != b"}"
            else b'{"salt":"%b"}' % salt
        )

    def _lane(self, lane: str) -> bytes:
        text = self._lanes.get(lane)
        if text is None:
            text = msgspec.json.encode(lane.encode("utf-8", "backslashreplace").decode())
            self._lanes[lane] = text
        return text

    def flush(self) -> None:
        """Write what waits, and a mark, to the file; the system may still hold it in memory."""
        if not self._buffer:
            return
        mark = encode_mark(Mark(self._marks + 1, self.count, self.head))
        data = b"".join([*self._buffer, mark, b"\n"])
        with writing(self.path):
            try:
                write_all(self._fd, data)
            except OSError:
                os.ftruncate(self._fd, self.size)
                raise
        self._marks += 1
        self.size += len(data)
        self._dirty = True
        self._buffer.clear()

    def commit(self) -> None:
        """Write what waits, and have it on disk when this returns."""
        self.flush()
        self.sync()

    def sync(self) -> None:
        """Have on disk what was written before. Another thread may do so while this one appends and flushes."""
        if not self._dirty:
            return
        self._dirty = False
        try:
            with writing(self.path):
                sync_data(self._fd)
        except BaseException:
            self._dirty = True
            raise

    def seal(self, *, key: SealKey | None = None) -> Path:
        """Close the recording with its count and head, compress it, and give its final path.

        ``key`` is an Ed25519 private key (or its 32 bytes) to sign the closing statement with. Where the
        compressed file cannot be written, the live file stays, sealed and whole, and this may be called again.
        """
        if not self._sealed:
            self.flush()
            body = sealing_body(self.header.run, self.count, self.head, key=key)
            self._sealed = True
            self.append(
                kind="recording.sealed",
                lane="main",
                at_ns=self._clock.wall_ns(),
                mono_ns=self._clock.mono_ns(),
                body=body,
            )
        self.commit()
        write_recording(_lines(self.path), self._final)
        self.path.unlink()
        self.abandon()
        with writing(self.path):
            sync_folder(self.path.parent)
        self.path = self._final
        return self._final

    def abandon(self) -> None:
        """Close the file as it is, without writing what waits: after a failure, or in a forked child."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._buffer.clear()


def _lines(path: Path) -> Any:
    for _, lines in Text(Bytes(path)):
        yield from lines
