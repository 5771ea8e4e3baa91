"""Writing the recording that edits make of another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from playhead.editing._applying import Changes, edited_start
from playhead.editing._delaying import delay_events
from playhead.editing._edits import Adds, Asks, Edit, Ends, Says
from playhead.errors import CorruptRecordingError, UsageError
from playhead.eventlog import LogWriter, Recording, printable
from playhead.events import Event, Parent
from playhead.masking import Masker
from playhead.recorder import Copyist
from playhead.stores import Store


def derive(
    recording: Recording,
    edits: Sequence[Edit],
    *,
    run: str,
    store: Store,
    masker: Masker,
    others: Mapping[str, Recording] = MappingProxyType({}),
) -> Path:
    """Write what ``edits`` make of a recording into ``store``, as the run ``run``, and give its file.

    ``others`` are the recordings, by their ids, that answers are taken from. The recording itself is only read. Raises
    `UsageError` where there is nothing to change or an edit cannot be carried out, `CorruptRecordingError` where the
    chain of the recording does not hold: what is no evidence is not built on.
    """
    if not edits:
        raise UsageError("there is nothing to change: name an edit", next="playhead edit --help")
    found = recording.verify()
    if not found.ok and found.status != "torn":
        raise CorruptRecordingError(
            f"{printable(recording.id)} is not derived from: {found}", next=f"playhead verify {printable(recording.id)}"
        )
    changes = Changes(recording, masker, others)
    for edit in edits:
        changes.apply(edit)
    placeless = (Adds, Ends, Says)
    at_step = min((edit.at.step for edit in edits if not isinstance(edit, placeless) and edit.at.step), default=None)
    kept: list[Any] = [masker.value(_told(edit)) for edit in edits]
    edited_start(changes, run, Parent(run=recording.id, head=found.head, at_step=at_step, edits=kept))
    # What is new has placeholders of this store's key. Where the others are of another, none is named: then a replay
    # takes one placeholder for as good as another.
    same_key = recording.header.mask_key == masker.key_id
    log = store.create(run, recording.kind, task=recording.task, mask_key=masker.key_id if same_key else None)
    try:
        _write(changes, log, masker)
        return log.seal()
    except BaseException:
        log.abandon()
        log.path.unlink(missing_ok=True)
        raise


def _told(edit: Edit) -> Any:
    """An edit as the new recording lists it; a question stands there in full already, and is not told twice."""
    told = msgspec.to_builtins(edit)
    return {name: value for name, value in told.items() if name != "content"} if isinstance(edit, Asks) else told


def _write(changes: Changes, log: LogWriter, masker: Masker) -> None:
    copyist = Copyist(log, masker)
    events = delay_events(changes.recording, changes.delays, list(_planned(changes)), changes.new)
    kept = {event.seq for event in events}
    for event in changes.recording.events:
        if event.seq not in kept:
            copyist.leave_out(event)
    for event in events:
        copyist.copy(event)


def _planned(changes: Changes) -> Iterator[Event]:
    """The events in the recorded order, changed."""
    late = list(changes.late)
    for recorded in changes.recording.events:
        if recorded.kind in ("run.finished", "recording.sealed"):
            yield from late
            late.clear()
        yield from changes.before.get(recorded.seq, ())
        if recorded.seq not in changes.dropped:
            yield changes.event(recorded.seq)
    yield from late
