"""A live recording whose writer has ended can be gone on with and sealed by another process."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.errors import CorruptRecordingError, RecordingExistsError, StoreNotWritableError
from playhead.eventlog import Header, LogWriter, open_recording, verify


def begin(folder: Path, count: int = 3) -> LogWriter:
    log = LogWriter(folder / "run-1", Header(run="run-1", kind="run", created_ns=1))
    for number in range(count):
        note(log, f"n{number}")
    log.commit()
    return log


def note(log: LogWriter, name: str) -> None:
    log.append(kind="note.added", lane="main", at_ns=1, mono_ns=1, body=b'{"name":"%b"}' % name.encode())


@given(before=st.integers(0, 5), after=st.integers(0, 5), torn=st.binary(max_size=40).filter(lambda b: b"\n" not in b))
@settings(max_examples=40, deadline=None)
def test_what_was_written_before_and_after_makes_one_chain(
    tmp_path_factory: pytest.TempPathFactory, before: int, after: int, torn: bytes
) -> None:
    log = begin(tmp_path_factory.mktemp("live"), before)
    log.abandon()
    with log.path.open("ab") as file:
        file.write(torn)
    resumed = LogWriter.resume(log.path)
    assert (resumed.count, resumed.head, resumed.size) == (log.count, log.head, log.size)
    for number in range(after):
        note(resumed, f"m{number}")
    path = resumed.seal()
    found = verify(path)
    assert found.ok
    assert found.proven
    names = [f"n{number}" for number in range(before)] + [f"m{number}" for number in range(after)]
    assert [event.body.name for event in open_recording(path).events[:-1]] == names
    assert not log.path.exists()


def test_a_recording_that_is_still_written_is_not_taken_over(tmp_path: Path) -> None:
    log = begin(tmp_path)
    with pytest.raises(StoreNotWritableError, match="still being written"):
        LogWriter.resume(log.path)
    note(log, "more")
    log.seal()


def test_a_damaged_recording_is_not_gone_on_with(tmp_path: Path) -> None:
    log = begin(tmp_path)
    log.abandon()
    data = log.path.read_bytes().replace(b'"n1"', b'"n9"')
    log.path.write_bytes(data)
    with pytest.raises(CorruptRecordingError):
        LogWriter.resume(log.path)
    assert log.path.read_bytes() == data


def test_one_that_was_sealed_but_not_compressed_is_compressed(tmp_path: Path) -> None:
    """A crash between the seal and the move into place leaves the seal in the live file."""
    log = begin(tmp_path)
    log._final.mkdir()  # so that the compressed file cannot take its place
    with pytest.raises(StoreNotWritableError):
        log.seal()
    log.abandon()
    log._final.rmdir()
    path = LogWriter.resume(log.path).seal()
    assert verify(path).proven
    assert open_recording(path).count == 4


def test_resuming_never_replaces_another_recording(tmp_path: Path) -> None:
    log = begin(tmp_path)
    log.seal()
    with pytest.raises(RecordingExistsError):
        LogWriter(tmp_path / "run-1", log.header)
