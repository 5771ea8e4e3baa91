"""What `verify` says of each kind of loss."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from playhead.errors import NewerFormatError, NotARecordingError
from playhead.eventlog import Head, LogReader, open_recording, verify
from tests.eventlog.runs import Run, live_run, plain_lines, sealed_run

SECRET = b"\x07" * 32


def five(folder: Path) -> tuple[Path, list[Head]]:
    """A chain of five events, each committed, and the heads after each."""
    run = Run(folder / "a")
    heads = []
    for number in range(5):
        run.add("note.added", b'{"name":"n%d"}' % number)
        run.log.commit()
        heads.append(Head(run.log.count, run.log.head))
    run.log.abandon()
    return run.log.path, heads


def test_events_dropped_from_the_end_are_missed_against_a_head_kept_elsewhere(tmp_path: Path) -> None:
    """B92: remove the last two of five."""
    path, heads = five(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    unmarked = b"".join(lines[:-3])  # the fourth event without its mark
    assert verify(unmarked, expected=heads[-1]).status == "truncated"
    without_two = b"".join(line for line in lines if not line.startswith((b'{"seq":3', b'{"seq":4', b'{"mark":5')))
    found = verify(without_two, expected=heads[-1])
    assert found.status == "broken", "the fourth mark tells of an event that is not there"
    assert (found.breaks[0].first, found.breaks[0].last) == (3, 3)
    found = verify(b"".join(lines[:-5]) + lines[-5][:0], expected=heads[-1])
    assert "(expected 5, found 3)" in str(found)


def test_an_older_copy_is_called_rolled_back(tmp_path: Path) -> None:
    """B92: replace by an older copy of itself."""
    run = Run(tmp_path / "a")
    for _ in range(3):
        run.add("note.added", b"{}")
    run.log.commit()
    older = run.log.path.read_bytes()
    run.add("note.added", b"{}")
    run.add("note.added", b"{}")
    run.log.commit()
    kept = Head(run.log.count, run.log.head)
    assert str(verify(older, expected=kept)) == "rolled back (expected 5, found 3)"
    assert verify(run.log.path, expected=kept).proven


def test_an_emptied_or_removed_recording_is_told(tmp_path: Path) -> None:
    """B92: remove all; remove the file."""
    path, heads = five(tmp_path)
    emptied = b"".join(path.read_bytes().splitlines(keepends=True)[:2])
    assert "(expected 5, found 0)" in str(verify(emptied, expected=heads[-1]))
    path.write_bytes(b"")
    with pytest.raises(NotARecordingError, match="is empty"):
        verify(path, expected=heads[-1])
    path.unlink()
    assert verify(path, expected=heads[-1]).status == "missing"
    assert str(verify(path)) == "missing: there is no file"


def test_a_half_line_is_called_a_torn_tail(tmp_path: Path) -> None:
    """B92: cut the last line in half."""
    path, heads = five(tmp_path)
    data = path.read_bytes()
    found = verify(data[:-40])
    assert found.status == "torn"
    assert str(found).startswith("torn tail: 5 events hold")
    assert verify(data[:-40], expected=heads[-1]).status == "torn", "all five are there"
    assert verify(data[:-140], expected=heads[-1]).status == "truncated"


def test_without_a_head_or_a_seal_the_end_is_said_to_be_unproven(tmp_path: Path) -> None:
    """B92: without an outside head."""
    path, heads = five(tmp_path)
    found = verify(path)
    assert found.ok
    assert not found.proven
    assert str(found) == "ok: 5 events, not sealed, so the end is unproven"
    assert all(verify(path, expected=head).proven for head in heads)


def test_a_head_of_other_events_is_called_replaced(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    path, _ = five(tmp_path)
    _, others = five(tmp_path / "other")
    assert verify(path, expected=others[3]).status == "replaced"


def test_events_after_a_seal_are_a_break(tmp_path: Path) -> None:
    lines = plain_lines(sealed_run(tmp_path, cycles=1))
    count = verify(b"\n".join(lines) + b"\n").count
    more = lines[2].replace(b'{"seq":0', b'{"seq":%d' % count)
    found = verify(b"\n".join([*lines, more]) + b"\n")
    assert found.status == "broken"
    assert found.breaks[0].at == count
    assert "after the seal" in str(found)


def test_a_seal_that_says_something_else_is_a_break(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.started()
    run.add("recording.sealed", b'{"count":1,"head":"%b"}' % (b"0" * 64))
    run.log.commit()
    assert "the seal does not say" in str(verify(run.log.path))


def test_a_signature_names_its_key_and_cannot_be_moved(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.started()
    path = run.log.seal(key=SECRET)
    signed = verify(path)
    assert signed.key is not None
    assert str(signed) == f"ok: 2 events, sealed and signed by {signed.key}"
    seal = open_recording(path).events[-1].body
    forged = Run(tmp_path / "b")
    forged.add("note.added", b"{}")
    count, head = forged.log.count, forged.log.head
    forged.add(
        "recording.sealed",
        b'{"count":%d,"head":"%b","signature":"%b","key":"%b"}'
        % (count, head.encode(), seal.signature.encode(), seal.key.encode()),  # type: ignore[union-attr]
    )
    forged.log.commit()
    found = verify(forged.log.path)
    assert found.status == "broken"
    assert "signature" in str(found)


def test_a_damaged_compressed_file_is_broken_after_the_last_good_mark(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    for _ in range(40):
        run.add("tool.returned", b'{"value":"%b"}' % os.urandom(40_000).hex().encode())
        run.log.commit()
    data = bytearray(run.log.seal().read_bytes())
    data[len(data) // 2] ^= 0xFF
    found = verify(bytes(data))
    assert found.status == "broken"
    assert 5 < found.breaks[0].first < 35


def test_a_later_format_is_named_with_the_way_out(tmp_path: Path) -> None:
    lines = plain_lines(sealed_run(tmp_path))
    later = lines[0].replace(b'"playhead":1', b'"playhead":2').replace(b'"writer":"playhead ', b'"writer":"playhead 9.')
    for read in (verify, open_recording, LogReader):
        with pytest.raises(
            NewerFormatError, match=r"format 2, written by playhead 9\..*; this is playhead .* up to 1"
        ) as caught:
            read(later + b"\n")
        assert caught.value.next == "pip install --upgrade playhead"


def test_progress_counts_stored_bytes_up_to_all_of_them(tmp_path: Path) -> None:
    path = live_run(tmp_path)
    told: list[tuple[int, int]] = []
    verify(path, progress=lambda done, whole: told.append((done, whole)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
