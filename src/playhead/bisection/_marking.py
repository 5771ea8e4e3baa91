"""Searches by hand: a person looks at a step and says good or bad, as with ``git bisect``.

What was said is kept in a small file of the store, beside the recordings and never in them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from playhead._system import Clock, SystemClock
from playhead.bisection._search import Finding, Search, Verdict
from playhead.errors import StoreError, UsageError
from playhead.eventlog import Recording, printable, writing


class Mark(msgspec.Struct, frozen=True):
    """What a person said of a step, and when."""

    step: int
    verdict: Verdict
    at_ns: int


class _Kept(msgspec.Struct, frozen=True):
    run: str
    marks: tuple[Mark, ...] = ()
    version: Literal[1] = 1


class Marking:
    """The search by hand on one recording; it goes on until `forget_marks`, over any number of commands.

    ``file`` is where it is kept; `playhead.stores.LocalStore.beside` names one.
    """

    def __init__(self, recording: Recording, file: Path, *, clock: Clock | None = None) -> None:
        self.recording = recording
        self.file = file
        self._clock = clock or SystemClock()
        kept = self._read()
        self.begun = kept is not None
        self.marks: tuple[Mark, ...] = kept.marks if kept is not None else ()

    @property
    def search(self) -> Search:
        """The verdicts so far."""
        count = len(self.recording.steps)
        return Search(count, {mark.step: mark.verdict for mark in self.marks if mark.step <= count})

    @property
    def finding(self) -> Finding:
        """What is known by now; each step that was marked counts as a check."""
        search = self.search
        return search.finding(checks=len(search.marks))

    def start(self) -> None:
        """Begin. Raises `UsageError` where it was begun before: nothing that a person has said is thrown away."""
        run = printable(self.recording.id)
        if self.begun:
            raise UsageError(f"a search by hand on {run} is going on", next=f"playhead bisect {run} --reset (or --log)")
        if not len(self.recording.steps):
            raise UsageError(f"run {run} has no steps to search", next=f"playhead show {run}")
        self._write(())

    def mark(self, step: int, verdict: Verdict) -> None:
        """Keep a verdict on a step. Raises `UsageError` where there is no such step, or no search was begun."""
        self.require_begun()
        self.recording.step(step)
        self._write((*self.marks, Mark(step, verdict, self._clock.wall_ns())))

    def require_begun(self) -> None:
        """Raise `UsageError` where no search was begun."""
        if not self.begun:
            run = printable(self.recording.id)
            raise UsageError(f"no search by hand was begun on {run}", next=f"playhead bisect {run} --start")

    def _read(self) -> _Kept | None:
        try:
            content = self.file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return msgspec.json.decode(content, type=_Kept)
        except msgspec.MsgspecError as error:
            raise StoreError(
                f"{printable(self.file)} cannot be read: {error}",
                next=f"playhead bisect {printable(self.recording.id)} --reset",
            ) from error

    def _write(self, marks: tuple[Mark, ...]) -> None:
        content = msgspec.json.format(msgspec.json.encode(_Kept(self.recording.id, marks)), indent=1)
        with writing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            new = self.file.with_name(f"{self.file.name}.{os.getpid()}")
            new.write_bytes(content + b"\n")
            os.replace(new, self.file)
        self.begun, self.marks = True, marks


def forget_marks(file: Path) -> None:
    """End the search by hand that is kept in ``file``, also one that can no longer be read."""
    with writing(file):
        file.unlink(missing_ok=True)
