"""Replaying a test from its recording, after a look at whether that is one, is whole, and is the test's own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import pytest

from playhead._children import ReplayedChildren
from playhead._configuration import Settings, host_matcher
from playhead._masking import make_masker
from playhead._normalisers import load_normalisers
from playhead._replays import Replay
from playhead._system import random_bytes
from playhead.errors import (
    CorruptRecordingError,
    DivergenceError,
    ForeignRecordingError,
    NewerFormatError,
    PlayheadError,
    PlayheadWarning,
    UnknownRunError,
)
from playhead.eventlog import Exchange, Recording, open_recording, printable, shown_path
from playhead.masking import Masker
from playhead.player import ReplayReport, ReplaySession
from playhead.providers import decode_content
from playhead.stores import LocalStore
from playhead.testing._plugin._places import Place
from playhead.testing._plugin._recording import body_ended
from playhead.testing._plugin._tests import RecordedTest

_NO_BODY: Final = (204, 205, 304)
_SHOWN: Final = 3


class TestReplay(RecordedTest):
    """A test that is answered from its recording; nothing goes live."""

    __test__ = False  # pytest, collecting a module that imports this, is not to take it for a test class
    mode: Literal["record", "replay"] = "replay"

    def __init__(self, item: pytest.Item, place: Place) -> None:
        super().__init__(item, place)
        self._recording = self._open()
        children = ReplayedChildren(self._recording, self._settings, self._store, match=place.match)
        self._session = ReplaySession(
            self._recording,
            masker=_masker(self._settings, self._store.path),
            match=place.match,
            normalisers=(*load_normalisers(self._settings), *place.normalisers),
            ignored_hosts=host_matcher(self._settings.ignore_hosts),
            errands=children,
        )
        self._replay = Replay(self._recording, self._session, settings=self._settings, children=children)
        self._replay.__enter__()
        self._hold(self._replay.lane)

    @property
    def report(self) -> ReplayReport:
        """What was answered, forgiven, left out."""
        return self._session.report

    @property
    def failure(self) -> PlayheadError | None:
        """The divergence, also where the test or a library in it swallowed it."""
        return self._session.failure

    def end_body(self, *, failed: bool) -> None:
        """Raise what the test swallowed or left out; later only where its fixtures have recorded calls to come."""
        ended = body_ended(self._recording)
        late = ended is not None and any(each.question.seq > ended for each in self._recording.exchanges)
        if not late and not failed:
            self._session.end(raising=True)
        elif self.failure is not None and not failed:
            raise self.failure

    def end(self) -> None:
        """Stop answering. Raises what was left out, where that could not be told before."""
        self._held.close()
        told = self._failed or self.failure is not None
        error = self.failure or self._error or DivergenceError("")
        try:
            self._replay.__exit__(*((type(error), error, None) if told else (None, None, None)))
        finally:
            self._recording.close()
        if self._passed and (self.report.drift or self.report.unplayed):
            warnings.warn(PlayheadWarning(_forgiven(self._item, self.report)), stacklevel=2)

    def _open(self) -> Recording:
        if not self.path.exists():
            raise UnknownRunError(
                f"there is no recording of {self._item.name}: {shown_path(self.path)} does not exist",
                next=self.record_command,
                facts={"path": str(self.path), "test": self._place.test},
            )
        try:
            recording = open_recording(self.path)
            self._check(recording)
        except PlayheadError as error:
            if not isinstance(error, NewerFormatError | ForeignRecordingError):
                error.next = self.record_command
            raise
        return recording

    def _check(self, recording: Recording) -> None:
        name = shown_path(self.path)
        if recording.task != self._place.test:
            raise ForeignRecordingError(
                f"{name} is the recording of {printable(recording.task or f'run {recording.id}')}, "
                f"not of {self._place.test}",
                next=self.record_command,
                facts={"recorded": recording.task, "asked": self._place.test},
            )
        found = recording.verify()
        if found.breaks or not found.sealed:
            why = str(found.breaks[0]) if found.breaks else "it has no seal: its end is missing"
            raise CorruptRecordingError(f"{name} is not what was recorded: {why}", facts={"path": str(self.path)})
        for lost in _lost_contents(recording):
            raise CorruptRecordingError(f"{name} has lost something that was recorded: {lost}")


@cache
def _masker(settings: Settings, store: Path) -> Masker:
    """The masker with the key of the store. A store that has none gets none: to replay, any key will do."""
    key = LocalStore(store).mask_key() if (store / "keys" / "mask.key").exists() else random_bytes(32)
    return make_masker(settings, key)


def _lost_contents(recording: Recording) -> Iterator[str]:
    """Answers without the content that their own headers speak of: a test on them would prove nothing."""
    for exchange in recording.exchanges:
        answer: Any = exchange.answer.body if exchange.answer is not None else None
        status = getattr(answer, "status", None)
        if status is None or not 200 <= status < 300 or status in _NO_BODY or _was_left(answer):
            continue
        if getattr(exchange.question.body, "method", "") == "HEAD" or _has_content(answer.content):
            continue
        headers = {name.lower(): value for name, value in answer.headers}
        length, kind = headers.get("content-length"), headers.get("content-type", "")
        chunked = length is None and (exchange.question.kind == "model.requested" or "stream" in kind)
        if chunked or (length or "0") != "0":
            yield f"the reply of {_place(exchange)} has no content; {kind.partition(';')[0] or 'it'} was lost"


def _was_left(answer: Any) -> bool:
    """Whether the program did not read the answer to its end; SDKs leave a stream at its closing mark."""
    verdict = getattr(answer, "verdict", None) or {}
    return bool(answer.end != "complete" and verdict.get("kind", "left") == "left")


def _has_content(content: Any) -> bool:
    return bool(content) and any(map(len, decode_content(content)))


def _place(exchange: Exchange) -> str:
    return f"step {exchange.step}" if exchange.step is not None else f"event {exchange.question.seq}"


def _forgiven(item: pytest.Item, report: ReplayReport) -> str:
    """What a loose replay let pass, so that it is not hidden."""
    paths = [each.path or "/" for drift in report.drift for each in drift.differences]
    names = [each.name for each in report.unplayed]
    drift, unasked = (", ".join(map(printable, each[:_SHOWN])) for each in (paths, names))
    parts = [
        f"with drift at {drift}" + _more(paths) if paths else "",
        f"never asking for {unasked}" + _more(names) if names else "",
    ]
    return f"{item.nodeid} was replayed {' and '.join(filter(None, parts))}"


def _more(listed: list[str]) -> str:
    return f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
