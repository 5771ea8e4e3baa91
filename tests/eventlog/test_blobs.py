"""Large bodies beside the recording, and inside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from playhead.errors import BlobError, StoreNotWritableError
from playhead.eventlog import BlobPlace, open_recording, pack, verify
from playhead.events import PartKept, ToolReturned
from tests.eventlog.runs import Run, plain_lines

LARGE = b'{"value":"%b"}' % (b"0123456789" * 10_000)


def run_with_blob(folder: Path) -> Path:
    run = Run(folder / "recordings" / "a", blobs=BlobPlace(folder / "blobs"))
    run.add("tool.returned", b'{"value":"small"}')
    run.add("tool.returned", LARGE)
    run.add("tool.returned", LARGE)
    return run.log.seal()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "recordings").mkdir()
    return run_with_blob(tmp_path)


def blob_of(path: Path) -> Path:
    (blob,) = (path.parent.parent / "blobs").rglob("*.zst")
    return blob


def test_a_large_body_is_kept_once_beside_the_recording_and_read_back(path: Path) -> None:
    recording = open_recording(path)
    for seq in (1, 2):
        body = recording.events[seq].body
        assert isinstance(body, ToolReturned)
        assert body.value == "0123456789" * 10_000
    assert blob_of(path).stat().st_size < 2000
    assert max(map(len, plain_lines(path))) < 400
    assert verify(path).ok


def test_a_missing_blob_is_told_with_run_and_event(path: Path) -> None:
    blob_of(path).unlink()
    recording = open_recording(path)
    assert recording.events[0].body == ToolReturned(value="small")
    with pytest.raises(BlobError, match="of event 1 of run triage-7f3a is missing") as caught:
        recording.events[1]
    assert caught.value.next == "playhead verify triage-7f3a"
    assert caught.value.facts["seq"] == 1
    found = verify(path)
    assert found.status == "broken"
    assert [broken.at for broken in found.breaks] == [1, 2]


@pytest.mark.parametrize("how", ["flip", "cut", "empty", "other", "longer"])
def test_an_altered_blob_is_told(path: Path, how: str) -> None:
    from playhead.eventlog._compression import compress

    blob = blob_of(path)
    data = blob.read_bytes()
    changed = {
        "flip": data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        "cut": data[: len(data) // 2],
        "empty": b"",
        "other": compress(LARGE.replace(b"9", b"8"), level=3),
        "longer": compress(LARGE * 50, level=3),
    }
    blob.write_bytes(changed[how])
    with pytest.raises(BlobError, match="of event 2 of run triage-7f3a was altered"):
        open_recording(path).events[2]
    assert verify(path).status == "broken"


def test_a_recording_moved_away_from_its_blobs_says_so(path: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    moved = path.rename(tmp_path / "elsewhere" / "deep" / path.name)
    with pytest.raises(BlobError, match="is missing"):
        list(open_recording(moved))
    with pytest.raises(BlobError, match="is missing"):
        list(open_recording(moved.read_bytes()))
    assert len(list(open_recording(moved, blobs=BlobPlace(tmp_path / "blobs")))) == 4


@pytest.mark.parametrize("name", ["packed.playhead", "packed.playhead.jsonl"])
def test_a_packed_recording_needs_nothing_beside_it(path: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "alone").mkdir()
    packed = pack(path, tmp_path / "alone" / name)
    events = list(open_recording(path))
    assert list(open_recording(packed.read_bytes())) == events
    found = verify(packed.read_bytes())
    assert found.ok
    assert found.head == verify(path).head
    again = pack(packed, tmp_path / "alone" / f"again-{name}")
    assert again.read_bytes() == packed.read_bytes()


def test_a_changed_blob_inside_a_packed_recording_is_found(path: Path, tmp_path: Path) -> None:
    packed = pack(path, tmp_path / "packed.playhead.jsonl")
    data = packed.read_bytes()
    lines = data.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"blob"'))
    for changed in (
        data.replace(b"0123456789" * 3, b"0123456780" * 3, 1),
        b"\n".join(lines[:at] + lines[at + 1 :]) + b"\n",
        b"\n".join(lines[: at + 1] + lines[at:]) + b"\n",
    ):
        assert verify(changed).status == "broken"
    with pytest.raises(BlobError):
        list(open_recording(data.replace(b"0123456789" * 3, b"0123456780" * 3, 1)))


@pytest.mark.parametrize("digest", ["../../../etc/passwd", "/etc/passwd", "a" * 63, "A" * 64, "", "a" * 64 + "\n"])
def test_a_digest_that_is_a_path_opens_nothing(tmp_path: Path, digest: str) -> None:
    with pytest.raises(ValueError, match="not a digest"):
        BlobPlace(tmp_path).path(digest)


def test_a_part_in_a_blob_is_found_without_opening_it_for_others(tmp_path: Path) -> None:
    run = Run(tmp_path / "a", blobs=BlobPlace(tmp_path / "blobs"))
    image = run.part({"image": "A" * 100_000})
    small = run.part({"text": "small"})
    run.add("tool.called", b'{"name":"t","arguments":[{"$part":"%b"}]}' % small["$part"].encode())
    run.add("tool.called", b'{"name":"t","arguments":[{"$part":"%b"}]}' % image["$part"].encode())
    recording = open_recording(run.log.seal())
    assert recording.events[3].body.arguments[0]["image"] == "A" * 100_000  # type: ignore[union-attr]
    assert isinstance(recording.events[0].body, PartKept)
    next((tmp_path / "blobs").rglob("*.zst")).unlink()
    assert open_recording(recording.path).events[2].body.arguments == [{"text": "small"}]  # type: ignore[union-attr, arg-type]


def test_a_place_where_no_blob_can_be_kept_is_said_before_the_event_is_counted(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_text("a file")
    run = Run(tmp_path / "a", blobs=BlobPlace(tmp_path / "blobs"))
    with pytest.raises(StoreNotWritableError):
        run.add("tool.returned", LARGE)
    assert run.log.count == 0
    run.add("tool.returned", b"{}")
    run.log.commit()
    assert verify(run.log.path).ok
