"""In the parent, after the program: how it ended is written, and the recording is sealed.

So whatever ended the program, SIGKILL and a crash of the interpreter among them, the recording has an end.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from playhead._program._launching import Ended
from playhead._system import SystemClock
from playhead.eventlog import LogWriter, Recording, counted, escape, open_recording
from playhead.events import NoteAdded, RunFinished
from playhead.masking import Masker

Outcome = Literal["success", "failure", "aborted"]


class Closed(msgspec.Struct, frozen=True):
    """A recording that is whole: its file, the outcome of its run, and how many steps it has."""

    path: Path
    outcome: Outcome
    steps: int


def close_recording(
    path: Path, ended: Ended, masker: Masker, *, gaps: dict[str, Any] | None, others: int = 0
) -> Closed:
    """Write the end of the run at ``path``, past ``masker``, and seal it.

    ``gaps`` is what the program said is missing, ``None`` where it could not say; ``others`` counts Python
    processes that were not recorded. Raises `StoreNotWritableError` or `CorruptRecordingError`; what was recorded
    is then as the program left it.
    """
    with open_recording(path) as recording:
        steps = len(recording.steps)
        already = recording.finished
        finished = already or _finish(recording, ended, gaps, others)
    log = LogWriter.resume(path)
    try:
        if already is None:
            log.append(
                kind="run.finished",
                lane="main",
                at_ns=SystemClock.wall_ns(),
                mono_ns=SystemClock.mono_ns(),
                body=msgspec.json.encode(escape(masker.value(msgspec.to_builtins(finished)))),
            )
        return Closed(log.seal(), finished.outcome, steps)
    finally:
        log.abandon()


def _finish(recording: Recording, ended: Ended, gaps: dict[str, Any] | None, others: int) -> RunFinished:
    inner: dict[str, Any] = {}
    error: Any = None
    unseen: dict[str, int] = {}
    for event in recording.of_kind("note.added"):
        match event.body:
            case NoteAdded(name="inner run", details=dict(details)):
                inner = details
            case NoteAdded(name="uncaught", details=dict(details)):
                error = details.get("error")
            case NoteAdded(name=name) if gaps is None and name not in ("packages", "code"):
                unseen[name] = unseen.get(name, 0) + 1
            case _:
                pass
    if ended.signal is None and ended.code == 0:
        outcome = inner.get("outcome", "success")
        reason, error = inner.get("reason"), inner.get("error")
    else:
        outcome = "failure" if ended.signal is None else "aborted"
        reason = str(ended)
    incomplete = list((gaps or {}).get("incomplete", ()))
    if recording.torn is not None and recording.torn.bytes:
        incomplete.append(f"{counted(recording.torn.bytes, 'byte')} at the end, torn off when the program died")
    unseen |= (gaps or {}).get("unseen", {})
    if others:
        unseen["Python processes beside the first"] = others
    return RunFinished(
        outcome=outcome,
        result=inner.get("result"),
        reason=reason,
        error=error,
        incomplete=incomplete,
        unseen=unseen,
    )
