"""What people say of a run: what was wrong at which step, and what should have happened.

It is kept beside the recording, which stays as it is, one line each. Every line has the digest of the line before, and
the first that of the recording's head: so a ledger that knows the last line covers all of them. What is taken back is
said in a line, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from playhead._system import Clock, SystemClock
from playhead.errors import CorruptRecordingError, UsageError
from playhead.eventlog import LIVE_SUFFIX, SEALED_SUFFIX, Recording, printable, writing
from playhead.stores import LocalStore
from playhead.suite._rules import Rule, read_rule

SUFFIX = ".annotations.jsonl"


class Annotation(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What was ``wrong``, at a ``step`` or in the whole run; ``expect`` are rules, as they were typed.

    ``number`` counts in the file, from 1. ``failure_class`` groups failures of one kind.
    """

    wrong: str
    step: int | None = None
    expect: tuple[str, ...] = ()
    failure_class: str = ""
    number: int = 0
    at_ns: int = 0

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What was expected, to be checked."""
        return tuple(map(read_rule, self.expect))


class _Line(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    run: str
    before: str
    """The digest of the line before; in the first line, the head of the recording."""
    at_ns: int
    annotation: Annotation | None = None
    removes: int | None = None


class Annotations:
    """All that is said of a recording, in the file that belongs to it."""

    def __init__(self, recording: Recording, file: Path, *, clock: Clock | None = None) -> None:
        self.recording = recording
        self.file = file
        self._clock = clock or SystemClock()
        self._lines: list[_Line] = []
        self._last = ""
        self._read()

    def __iter__(self) -> Iterator[Annotation]:
        """Those that hold, in the order in which they were made."""
        gone = {line.removes for line in self._lines}
        for number, line in enumerate(self._lines, start=1):
            if line.annotation is not None and number not in gone:
                yield msgspec.structs.replace(line.annotation, number=number, at_ns=line.at_ns)

    def add(self, annotation: Annotation) -> Annotation:
        """Keep one more. Raises `UsageError` where there is no such step, or a rule cannot be used."""
        if annotation.step is not None:
            self.recording.step(annotation.step)
        assert len(annotation.rules) == len(annotation.expect)
        kept = msgspec.structs.replace(annotation, number=0, at_ns=0)
        self._append(annotation=kept)
        return msgspec.structs.replace(kept, number=len(self._lines))

    def remove(self, number: int) -> None:
        """Take one back. Raises `UsageError` where there is none of this number."""
        if number not in {each.number for each in self}:
            run = printable(self.recording.id)
            raise UsageError(f"{run} has no annotation {number}", next=f"playhead annotate {run}")
        self._append(removes=number)

    def _append(self, annotation: Annotation | None = None, removes: int | None = None) -> None:
        before = self._last or self.recording.head
        line = _Line(
            run=self.recording.id,
            before=before,
            at_ns=self._clock.wall_ns(),
            annotation=annotation,
            removes=removes,
        )
        text = msgspec.json.encode(line)
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab") as file:
                file.write(text + b"\n")
                file.flush()
                os.fsync(file.fileno())
        self._lines.append(line)
        self._last = sha256(text).hexdigest()

    def _read(self) -> None:
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return
        before = self.recording.head if content else ""
        for number, text in enumerate(content.splitlines(), start=1):
            try:
                line = msgspec.json.decode(text, type=_Line)
            except msgspec.MsgspecError as error:
                raise self._broken(f"line {number} cannot be read: {error}") from error
            if line.before != before:
                first = "they are of another recording" if number == 1 else "a line was changed or is gone"
                raise self._broken(f"line {number} does not follow what is before it: {first}")
            before = self._last = sha256(text).hexdigest()
            self._lines.append(line)

    def _broken(self, why: str) -> CorruptRecordingError:
        return CorruptRecordingError(
            f"the annotations in {printable(self.file)} do not hold: {why}",
            next=f"playhead verify {printable(self.recording.id)}",
        )


def annotations_of(recording: Recording, store: LocalStore) -> Annotations:
    """What is said of a recording: in the store for one of its runs, beside the file for any other."""
    return Annotations(recording, annotations_file(recording, store))


def annotations_file(recording: Recording, store: LocalStore | None = None) -> Path:
    """Where that is kept."""
    path = recording.path
    assert path is not None
    if store is not None and path.parent.absolute() == store.recordings.absolute():
        return store.beside("annotations", recording.id, ".jsonl")
    return path.with_name(path.name.removesuffix(LIVE_SUFFIX).removesuffix(SEALED_SUFFIX) + SUFFIX)


def carry_over(annotations: Sequence[Annotation], made: Recording, file: Path, dropped: Sequence[int]) -> None:
    """Write what was said of a recording anew for the one that takes its place, without the ``dropped`` steps."""
    file.unlink(missing_ok=True)
    new = Annotations(made, file)
    for each in annotations:
        if each.step in dropped:
            continue
        moved = each.step - sum(step < each.step for step in dropped) if each.step is not None else None
        new.add(msgspec.structs.replace(each, step=moved))
