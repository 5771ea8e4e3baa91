"""Erasing bodies: their digests take their places, and the chain goes on holding."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from playhead.errors import UsageError
from playhead.eventlog._blobs import blob_ref
from playhead.eventlog._chain import digest_body
from playhead.eventlog._format import encode_erased, split_line
from playhead.eventlog._locking import is_held
from playhead.eventlog._printing import counted, printable
from playhead.eventlog._reader import BLOB_LINE, Line, LogReader, inline_data
from playhead.eventlog._rewriting import write_recording
from playhead.eventlog._source import Bytes
from playhead.eventlog._text import Text


def erase_body(path: Path, seqs: Collection[int], *, to: Path | None = None) -> Path:
    """Take the bodies of the events ``seqs`` out of a recording, for good.

    The file is replaced by its skeleton at one moment, or ``to`` gets the skeleton and the file stays. Each body
    leaves its digest, which its lost salt protects from guesses; run, count and head stay what they were, so
    that seals and heads kept elsewhere go on proving the rest. Blobs inside the file go with the bodies; those
    beside it may be another run's as well, and stay. Where the tail is torn, what was torn goes too.

    Raises `UsageError` for an event that is not there, for the seal, and while the recording is being written.
    """
    if is_held(path):
        raise UsageError(f"{printable(path.name)} is being written; end its run first", next="playhead runs")
    wanted = frozenset(seqs)
    kept = _blobs_kept(path, wanted)
    target = to or path
    write_recording(_skeleton(path, wanted, kept), target)
    return target


def _blobs_kept(path: Path, wanted: frozenset[int]) -> set[str]:
    """The digests of blobs that the events which stay refer to."""
    kept: set[str] = set()
    reader = LogReader(path)
    for line in reader:
        if line.event.seq in wanted:
            if line.event.kind == "recording.sealed":
                raise UsageError("the seal of a recording cannot be erased", next=f"playhead show {reader.header.run}")
        elif (body := _body_of(line)) is not None and (ref := blob_ref(body)) is not None:
            kept.add(ref.digest)
    missing = [seq for seq in wanted if not 0 <= seq < reader.count]
    if missing:
        raise UsageError(
            f"{printable(path.name)} has {counted(reader.count, 'event')}, and none is number {missing[0]}",
            next=f"playhead show {printable(reader.header.run)}",
        )
    return kept


def _body_of(line: Line) -> bytes | None:
    split = split_line(line.text)
    return split.body if split is not None else None


def _skeleton(path: Path, wanted: frozenset[int], kept: set[str]) -> Iterator[bytes]:
    seq = 0
    for _, lines in Text(Bytes(path)):
        for line in lines:
            if line.startswith(BLOB_LINE):
                found = inline_data(line)
                if found is not None and found[0] not in kept:
                    continue
            elif line.startswith(b'{"seq":'):
                split = split_line(line) if seq in wanted else None
                if split is not None and split.body is not None:
                    line = encode_erased(split.prefix, digest_body(split.body).hex())
                seq += 1
            yield line
