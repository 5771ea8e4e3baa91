"""Erasing takes what was said and leaves what happened."""

from __future__ import annotations

import itertools
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playhead.errors import UsageError
from playhead.eventlog import BlobPlace, erase_body, open_recording, pack, verify
from playhead.events import ErasedBody
from tests.eventlog.runs import Run, live_run, plain_lines, sealed_run


def notes(folder: Path, count: int = 20) -> Path:
    run = Run(folder / "a")
    for number in range(count):
        run.add("note.added", b'{"name":"Ana %d"}' % number)
        if number % 5 == 4:
            run.log.commit()
    return run.log.seal(key=b"\x01" * 32)


def test_a_chain_with_erased_bodies_still_verifies(tmp_path: Path) -> None:
    """B96: every third of twenty is erased."""
    path = notes(tmp_path)
    before = verify(path)
    assert erase_body(path, range(0, 20, 3)) == path
    found = verify(path)
    assert str(found) == f"{before}; 7 erased"
    assert (found.head, found.count, found.key) == (before.head, before.count, before.key)
    recording = open_recording(path)
    for event in list(recording)[:20]:
        assert isinstance(event.body, ErasedBody) == (event.seq % 3 == 0)
    text = b"\n".join(plain_lines(path))
    assert [number for number in range(20) if b"Ana %d" % number in text] == [n for n in range(20) if n % 3]


@given(seqs=st.sets(st.integers(0, 10)))
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("make", [live_run, sealed_run])
def test_any_events_can_be_erased_in_any_form(
    tmp_path_factory: pytest.TempPathFactory, make: object, seqs: set[int]
) -> None:
    path = make(tmp_path_factory.mktemp("run"))  # type: ignore[operator]
    head = verify(path).head
    erase_body(path, seqs)
    found = verify(path)
    assert found.ok
    assert (found.head, found.erased) == (head, len(seqs))
    assert len(list(open_recording(path))) == found.count


def test_erasing_again_and_elsewhere_changes_nothing_else(tmp_path: Path) -> None:
    path = notes(tmp_path)
    original = path.read_bytes()
    skeleton = erase_body(path, [3], to=tmp_path / "skeleton.playhead.jsonl")
    assert path.read_bytes() == original
    again = erase_body(skeleton, [3, 4], to=tmp_path / "again.playhead")
    assert verify(again).erased == 2
    assert [file.name for file in tmp_path.iterdir() if "tmp" in file.name] == []


def test_an_edit_passed_off_as_an_erasure_is_refused(tmp_path: Path) -> None:
    """B96: the false prune."""
    lines = plain_lines(notes(tmp_path))
    at = next(n for n, line in enumerate(lines) if line.startswith(b'{"seq":7,'))
    prefix, _, _ = lines[at].partition(b',"body":')
    lines[at] = (
        prefix + b',"erased":"' + sha256(b'{"salt":"0123456789abcdef","name":"Eve"}').hexdigest().encode() + b'"}'
    )
    found = verify(b"\n".join(lines) + b"\n")
    assert found.status == "broken"
    assert found.breaks[0].first <= 7 <= found.breaks[0].last


def test_the_digest_of_an_erased_body_does_not_let_its_value_be_guessed(tmp_path: Path) -> None:
    """A four-digit number was said. Whoever holds the skeleton tries them all, with every digest in the file."""
    run = Run(tmp_path / "a")
    pin = run.part({"role": "user", "content": "1234"})
    run.add("model.requested", b'{"provider":"x","request":{"m":[{"$part":"%b"}]}}' % pin["$part"].encode())
    path = run.log.seal()
    erase_body(path, [0])
    left = b"\n".join(plain_lines(path))
    assert b"1234" not in left.partition(b'"erased"')[2][:200]
    guesses = itertools.product([f"{number:04}" for number in range(10_000)], (b"", b"salt"))
    for guess, salt in guesses:
        content = b'{"role":"user","content":"%b"}' % guess.encode()
        for text in (content, b'{"digest":"%b","content":%b}' % (pin["$part"].encode(), content)):
            digest = sha256(salt + text).hexdigest().encode()
            assert digest not in left
            assert digest[:32] not in left


def test_what_refers_to_an_erased_part_or_list_stays_readable(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    run.conversation(2)
    path = run.log.seal()
    recording = open_recording(path)
    parts = [event.seq for event in recording if event.kind == "part.kept"]
    erase_body(path, [parts[1]])
    messages = open_recording(path).context(5)["messages"]
    assert messages[1] == {"$t": "erased"}
    assert messages[2]["content"] == "result 0"
    asked = recording.steps[0].question.seq
    erase_body(path, [asked])
    messages = open_recording(path).context(5)["messages"]
    assert messages[:2] == [{"$t": "erased"}] * 2
    assert messages[3]["content"] == "result 1"


def test_blobs_inside_a_file_go_with_their_bodies(tmp_path: Path) -> None:
    run = Run(tmp_path / "a", blobs=BlobPlace(tmp_path / "blobs"))
    shared = b'{"value":"%b"}' % (b"shared " * 20_000)
    run.add("tool.returned", b'{"value":"%b"}' % (b"secret " * 20_000))
    run.add("tool.returned", shared)
    run.add("tool.returned", shared)
    packed = pack(run.log.seal(), tmp_path / "packed.playhead")
    erase_body(packed, [0, 1])
    assert b"secret" not in b"\n".join(plain_lines(packed))
    (tmp_path / "blobs").rename(tmp_path / "gone")
    assert open_recording(packed).events[2].body.value.startswith("shared")  # type: ignore[union-attr]
    assert verify(packed).ok


def test_what_cannot_be_erased_is_said(tmp_path: Path) -> None:
    path = sealed_run(tmp_path)
    before = path.read_bytes()
    count = verify(path).count
    for seqs, why in (([count], "none is number"), ([-1], "none is number"), ([count - 1], "seal")):
        with pytest.raises(UsageError, match=why) as caught:
            erase_body(path, seqs)
        assert caught.value.next
    run = Run(tmp_path / "b")
    with pytest.raises(UsageError, match="is being written"):
        erase_body(run.log.path, [0])
    assert path.read_bytes() == before
