"""Where the program stands to the recorded block or call: before it, in it, or after it."""

from __future__ import annotations

from typing import Literal

from playhead.eventlog import Recording
from playhead.masking import Masker
from playhead.player._explaining import with_cause
from playhead.player._report import Divergence


class Entrance:
    """Where a replay has come to. A program that was recorded as a whole, or a block that is replayed, is in it."""

    def __init__(self, recording: Recording, masker: Masker) -> None:
        self._recording = recording
        self._masker = masker
        self._place: Literal["anywhere", "awaited", "inside", "left"] = "anywhere"

    @property
    def is_outside(self) -> bool:
        """Whether what is asked now lies outside of what was recorded."""
        return self._place in ("awaited", "left")

    @property
    def was_left(self) -> bool:
        """Whether the program has left the recorded run behind."""
        return self._place == "left"

    def wait(self) -> None:
        """What the program asks for before the recorded block or call begins lies outside of it."""
        started = self._recording.started
        if started is not None and not started.entry.is_command:
            self._place = "awaited"

    def claim(self, kind: str, call: str | None, task: str | None) -> str | None:
        """The recorded run's id for the first run inside the replay that has its entry: it is that run itself."""
        started, recorded = self._recording.started, self._recording.task
        if self._place in ("inside", "left") or started is None or self._recording.kind != kind:
            return None
        if started.entry.is_command or (started.entry.call not in (None, call)):
            return None
        if task is not None and recorded is not None and self._masker.text(task) != recorded:
            return None
        self._place = "inside"
        return self._recording.id

    def leave(self) -> None:
        """The recorded block or call has ended, and the program goes on."""
        self._place = "left"

    def explain(self, found: Divergence) -> Divergence:
        """``found``, with the cause that the program is not where the recorded run was."""
        started = self._recording.started
        if started is None or not self.is_outside or (self.was_left and found.kind == "unplayed"):
            return found
        entry = started.entry.call or f"the block playhead.record(kind={self._recording.kind!r})"
        where = f"after {entry} had ended" if self.was_left else f"before {entry} began"
        what = "the program ended" if found.kind == "unplayed" else "this was asked"
        return with_cause(found, f"{what} {where}, and only what lies inside of it is recorded")
