"""Recording a test. The recording takes its place only when the test has passed, at once and whole."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from playhead._ids import new_id
from playhead._runs import Recorder
from playhead.boundary import current_lane
from playhead.errors import PlayheadError, StoreNotWritableError, UsageError
from playhead.eventlog import Recording, open_recording, pack, shown_path, writing
from playhead.events import Entry
from playhead.testing._plugin._places import Place, safe_name
from playhead.testing._plugin._tests import RecordedTest

KIND = "pytest"
"""The kind of the runs of tests."""

BODY_ENDED = "the test's body ended"
"""The note that parts what the test did from what its fixtures did afterwards."""

_READS = ("clock.read", "random.drawn")


class TestRecording(RecordedTest):
    """A test that is being recorded, into the store of the project until it has passed."""

    __test__ = False  # pytest, collecting a module that imports this, is not to take it for a test class
    mode: Literal["record", "replay"] = "record"

    def __init__(self, item: pytest.Item, place: Place) -> None:
        super().__init__(item, place)
        settings = msgspec.structs.replace(self._settings, store=str(self._store.path.absolute()))
        # A folder or command of this machine would only make noise in a file that is kept in git.
        entry = Entry(form="block", argv=["pytest", item.nodeid])
        name = safe_name(place.path.name.split(".")[0])
        self._recorder = Recorder(KIND, entry, settings, new_id(name), task=place.test, policy=None, tools=())
        self.run = self._recorder.__enter__()
        lane = current_lane()
        assert lane is not None
        self._lane = lane
        self._session: Any = lane.session
        self._hold(lane)

    def end_body(self, *, failed: bool) -> None:
        """Part what the test did from what its fixtures do afterwards."""
        self._session.note(self._lane, "note.added", {"name": BODY_ENDED})

    def end(self) -> None:
        """Seal the run; put it in its place if the test passed.

        Raises `StoreNotWritableError` where it cannot be kept, `UsageError` where nothing was recorded. What stood
        in its place is then still there.
        """
        self._held.close()
        if self._failed:
            self._session.missed[f"rest of the test, which failed ({type(self._error).__name__})"] = 1
        self._recorder.__exit__(type(self._error) if self._error is not None else None, self._error, None)
        made = self.run.path
        if not self._passed:
            self._tell_kept(made)
            return
        if made is None:
            raise StoreNotWritableError(
                f"the recording of {self._item.name} could not be written to {shown_path(self._store.path)}; "
                f"{self._before}",
                next="playhead doctor",
            )
        self._check_worth(made)
        self._put_in_place(made)

    def _tell_kept(self, made: Path | None) -> None:
        if made is not None and self._failed:
            self.told.append(
                f"{self._item.nodeid} failed while it was recorded; {self._before}. The run is kept as {self.run.id}\n"
                f"  next: playhead show {self.run.id}"
            )

    @property
    def _before(self) -> str:
        there = self.path.exists()
        return f"{shown_path(self.path)} is as it was" if there else "there is no recording of it yet"

    def _check_worth(self, made: Path) -> None:
        """A recording of nothing would pass for ever and prove nothing."""
        with open_recording(made, blobs=self._store.blobs) as recording:
            empty = not len(recording.exchanges) and not any(len(recording.of_kind(kind)) for kind in _READS)
            lost = not len(recording.exchanges) and self.path.exists()
        if empty or lost:
            raise UsageError(
                f"{self._item.name} asked for nothing that could be recorded (no model, tool or HTTP call); "
                f"{self._before}. The run is kept as {self.run.id}",
                next=f"take @pytest.mark.playhead away, or see playhead show {self.run.id}",
            )

    def _put_in_place(self, made: Path) -> None:
        try:
            with writing(self.path.parent):
                self.path.parent.mkdir(parents=True, exist_ok=True)
            pack(made, self.path, blobs=self._store.blobs)
        except PlayheadError as error:
            error.message = f"{error.message}; {self._before}. The run is kept as {self.run.id}"
            error.next = f"playhead show {self.run.id}"
            raise
        os.unlink(made)
        self.told.append(f"recorded {shown_path(self.path)}")


def body_ended(recording: Recording) -> int | None:
    """The ``seq`` of the event at which the test's body had ended, or ``None`` where none says so."""
    ends: Iterable[int] = (
        event.seq for event in recording.of_kind("note.added") if getattr(event.body, "name", "") == BODY_ENDED
    )
    return next(iter(ends), None)
