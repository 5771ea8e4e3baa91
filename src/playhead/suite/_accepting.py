"""Accepting a change: what a recording becomes where the present code asks in other words, or not at all.

Nothing goes live, so only what the recording can answer is accepted: it is derived anew, with the questions of the
present code and the recorded answers, and names the one before as its parent.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from playhead.editing import Asks, Drops, Edit, Ends, Place, derive
from playhead.eventlog import SEALED_SUFFIX, Recording, pack, printable, read_header
from playhead.events import canonical
from playhead.masking import Masker
from playhead.player import Asked, ReplayReport
from playhead.stores import LocalStore, file_name


class Change(msgspec.Struct, frozen=True):
    """What is to be accepted: ``edits`` of the recording, in words, and ``dropped`` steps.

    Where ``why_not`` says something, it cannot be.
    """

    edits: tuple[Edit, ...] = ()
    words: tuple[str, ...] = ()
    dropped: tuple[int, ...] = ()
    why_not: str = ""


def find_change(
    recording: Recording,
    report: ReplayReport,
    asked: Sequence[Asked],
    *,
    runs: Sequence[Any],
    ended: str,
    uncaught: Any = None,
) -> Change:
    """What a loose replay of the present code would make of a recording.

    ``runs`` are the ends of the runs within, ``ended`` that of the process in words, ``uncaught`` the exception by it.
    """
    if report.divergence is not None and report.divergence.kind != "unplayed":
        first = report.divergence.message.partition("\n")[0]
        return Change(why_not=f"the recording has no answer to what is asked now: {first}")
    if any(child.report.drift or not child.report.ok for child in report.children):
        return Change(why_not="a child process asks something else, and its recording is not made anew here")
    words: list[str] = []
    drifted = {drift.seq for drift in report.drift}
    edits: list[Edit] = [Asks(at=Place(seq=each.seq), content=each.content) for each in asked if each.seq in drifted]
    for drift in report.drift:
        place = f"step {drift.step}" if drift.step is not None else f"event {drift.seq}"
        words += [f"~ {place} {drift.name} {each.path or '/'}: {each.words()}" for each in drift.differences[:20]]
    for left in report.unplayed:
        edits.append(Drops(at=Place(seq=left.seq)))
        place = f"step {left.step}" if left.step is not None else f"event {left.seq}"
        words.append(f"- {place} {left.boundary} {left.name} is not asked any more")
    ends, told = _end(recording, runs, ended, uncaught)
    dropped = tuple(left.step for left in report.unplayed if left.step is not None)
    return Change(edits=(*edits, *ends), words=(*words, *told), dropped=dropped)


def _end(recording: Recording, runs: Sequence[Any], ended: str, uncaught: Any) -> tuple[list[Edit], list[str]]:
    """How the run ends now, where that is otherwise than recorded."""
    finished, started = recording.finished, recording.started
    now: dict[str, Any] = next((run for run in runs if isinstance(run, dict)), {})
    if finished is None or started is None:
        return [], []
    if started.entry.is_command and ended != "exit code 0":
        outcome = "failure" if ended.startswith("exit code") else "aborted"
        now = {**now, "outcome": outcome, "reason": ended, "error": uncaught}
    elif not started.entry.is_command and not now:
        return [], []
    told = {name: now.get(name) for name in ("result", "reason", "error")}
    end = Ends(outcome=now.get("outcome", "success"), **told)
    words = []
    if (end.outcome, end.reason) != (finished.outcome, finished.reason):
        words.append(f"~ it ends as {_said(end)}, and ended as {_said(finished)}")
    if canonical(end.result) != canonical(finished.result):
        words.append("~ the result is another one")
    return ([end], words) if words else ([], [])


def _said(end: Any) -> str:
    return f"{end.outcome} ({printable(end.reason)})" if end.reason else str(end.outcome)


class Accepted:
    """A recording that was derived, in a folder of its own until it is put in the place of the one before."""

    def __init__(self, recording: Recording, change: Change, *, run: str, masker: Masker) -> None:
        self._folder = tempfile.mkdtemp(prefix="playhead-")
        store = LocalStore(self._folder)
        try:
            made = derive(recording, change.edits, run=run, store=store, masker=masker)
            assert recording.path is not None
            self.path = pack(made, Path(self._folder, recording.path.name), blobs=store.blobs)
        except BaseException:
            self.discard()
            raise

    def replace(self, path: Path) -> None:
        """Put it in the place of the recording before, at once and whole."""
        pack(self.path, path)

    def discard(self) -> None:
        """Take away what is not needed any more."""
        shutil.rmtree(self._folder, ignore_errors=True)


def keep_before(path: Path, store: LocalStore) -> str:
    """See that the recording at ``path`` is not lost when it is replaced; where it can be found then."""
    if _is_in_git(path):
        return f"git show HEAD:./{path.name}"
    run = read_header(path).run
    if store.locate(run) is None:
        store.recordings.mkdir(parents=True, exist_ok=True)
        pack(path, store.recordings / (file_name(run) + SEALED_SUFFIX), blobs=store.blobs)
    return f"playhead show {run}"


def _is_in_git(path: Path) -> bool:
    """Whether the file is committed as it is."""
    folder, name = str(path.resolve().parent), f"./{path.name}"
    try:
        for words in (["ls-files", "--error-unmatch", name], ["diff", "--quiet", "HEAD", "--", name]):
            subprocess.run(["git", "-C", folder, *words], capture_output=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
