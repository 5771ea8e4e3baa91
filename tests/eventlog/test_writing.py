"""What the writer writes, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from playhead.errors import RecordingExistsError, StoreNotWritableError
from playhead.eventlog import Header, LogWriter, is_held, open_recording, read_header, verify
from tests.eventlog.runs import Run, child_env, live_run, plain_lines, sealed_run


def test_the_lines_are_those_of_the_format(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    asked = run.add("tool.called", b'{"name":"search"}', lane='task "1"')
    run.add("tool.returned", b'{"value":1}', of=asked)
    run.log.commit()
    header, start, first, second, mark = run.log.path.read_bytes().splitlines()
    assert header.startswith(b'{"playhead":1,"run":"triage-7f3a","kind":"triage","writer":"playhead ')
    head = sha256(header).digest()
    assert json.loads(start) == {"mark": 0, "count": 0, "head": head.hex()}
    assert first.startswith(b'{"seq":0,"kind":"tool.called","lane":"task \\"1\\"","at_ns":')
    assert b',"of":0,"body":{"salt":"' in second
    for line in (first, second):
        prefix, _, body = line.partition(b',"body":')
        head = sha256(head + prefix + sha256(body[:-1]).digest()).digest()
    assert json.loads(mark) == {"mark": 1, "count": 2, "head": head.hex()}
    assert run.log.head == head.hex()


def test_every_line_is_strict_json(tmp_path: Path) -> None:
    """B71, the file's part."""

    def refuse(token: str) -> None:
        raise AssertionError(token)

    for line in plain_lines(sealed_run(tmp_path)):
        json.loads(line, parse_constant=refuse)


def test_a_lane_name_that_is_no_unicode_text_is_kept_readable(tmp_path: Path) -> None:
    """B70, the file's part."""
    run = Run(tmp_path / "a")
    run.add("note.added", b'{"name":"x"}', lane="thread.ok \ud83e end")
    run.add("note.added", b'{"name":"y"}')
    run.log.commit()
    recording = open_recording(run.log.path)
    assert recording.lanes == ("thread.ok \\ud83e end", "main")
    assert verify(run.log.path).ok


def test_salts_are_never_the_same(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    for _ in range(1000):
        run.add("note.added", b"{}")
    run.log.commit()
    salts = [json.loads(line)["body"]["salt"] for line in run.log.path.read_bytes().splitlines() if b'"body"' in line]
    assert len(set(salts)) == 1000
    assert {len(salt) for salt in salts} == {16}


def test_a_line_end_in_a_body_does_not_end_its_line(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.add("tool.returned", b'{\r\n  "value": "a\\nb"\n}')
    run.log.commit()
    recording = open_recording(run.log.path)
    assert recording.events[0].body.value == "a\nb"  # type: ignore[union-attr]
    assert recording.verify().ok


@pytest.mark.parametrize("kind", ["", "tool", "Tool.called", 'a.b","x', "tool.called\n", "a." + "b" * 100])
def test_a_kind_that_is_none_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match="kind"):
        Run(tmp_path / "a").add(kind, b"{}")


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b'{"$blob":"00","size":1}'])
def test_a_body_that_is_none_is_refused(tmp_path: Path, body: bytes) -> None:
    with pytest.raises(ValueError, match="body"):
        Run(tmp_path / "a").add("tool.called", body)


@pytest.mark.parametrize("of", [0, 1, -1])
def test_an_answer_to_what_was_not_asked_before_is_refused(tmp_path: Path, of: int) -> None:
    with pytest.raises(ValueError, match="before"):
        Run(tmp_path / "a").add("tool.returned", b"{}", of=of)


def test_an_event_waits_in_memory_until_it_is_written(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.started()
    assert len(open_recording(run.log.path)) == 0
    run.log.flush()
    assert len(open_recording(run.log.path)) == 1
    assert run.log.size == run.log.path.stat().st_size


def test_with_durability_every_it_does_not_wait(tmp_path: Path) -> None:
    run = Run(tmp_path / "a", durability="every")
    run.started()
    assert len(open_recording(run.log.path)) == 1


def test_sealing_leaves_one_compressed_file(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["triage-7f3a.playhead"]
    assert path.read_bytes().startswith(b"\x28\xb5\x2f\xfd")
    assert read_header(path).run == "triage-7f3a"


@pytest.mark.parametrize("make", [live_run, sealed_run])
@pytest.mark.parametrize("suffix", ["", ".playhead", ".playhead.jsonl"])
def test_a_recording_is_never_overwritten(tmp_path: Path, make: object, suffix: str) -> None:
    path = make(tmp_path)  # type: ignore[operator]
    before = path.read_bytes()
    with pytest.raises(RecordingExistsError) as caught:
        LogWriter(tmp_path / f"triage-7f3a{suffix}", Header(run="triage-7f3a", kind="k", created_ns=1))
    assert caught.value.next == "playhead show triage-7f3a"
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [before]


@pytest.mark.parametrize("place", ["missing/a", "file/a"])
def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreNotWritableError, match=r"cannot write to .*a\.playhead\.jsonl") as caught:
        Run(tmp_path / place)
    assert caught.value.next


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StoreNotWritableError, match="permission denied"):
        Run(tmp_path / "a")


def test_the_live_file_is_held_while_its_writer_lives(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    assert is_held(run.log.path)
    run.log.abandon()
    assert not is_held(run.log.path)


FULL = """
import resource, sys
from pathlib import Path
from playhead.errors import StoreNotWritableError
from tests.eventlog.runs import Run

run = Run(Path(sys.argv[1]) / "a")
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
committed = 0
try:
    while True:
        run.add("tool.returned", b'{"value":"%d"}' % committed)
        run.log.commit()
        committed = run.log.count
except StoreNotWritableError as error:
    assert "it is full" in str(error), error
print(committed, run.log.path.stat().st_size == run.log.size)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if sys.argv[2] == "again":
    run.log.seal()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
@pytest.mark.parametrize("then", ["gave up", "again"])
def test_on_a_full_disk_what_was_committed_stays_readable(tmp_path: Path, then: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path), then], capture_output=True, text=True, check=True, env=child_env()
    )
    committed, clean = done.stdout.split()
    assert int(committed) > 20
    assert clean == "True", "nothing half written is left in the file"
    (path,) = tmp_path.iterdir()
    recording = open_recording(path)
    assert recording.torn is None
    assert len(recording) == int(committed) + (2 if then == "again" else 0)
    assert recording.verify().ok
