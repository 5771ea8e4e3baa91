"""Keeping, finding and listing runs in a folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from playhead._system import TickingClock
from playhead.errors import (
    AmbiguousRunError,
    NotARecordingError,
    RecordingExistsError,
    StoreError,
    StoreNotWritableError,
    UnknownRunError,
)
from playhead.eventlog import LogWriter
from playhead.events import RunFinished, encode_body
from playhead.stores import LocalStore, MemoryStore, Store, file_name
from tests.eventlog.runs import child_env


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path / ".playhead", clock=TickingClock())


def note(log: LogWriter, times: int = 1) -> LogWriter:
    for _ in range(times):
        log.append(kind="note.added", lane="main", at_ns=1, mono_ns=1, body=b'{"name":"n"}')
    log.commit()
    return log


def finish(log: LogWriter, outcome: str = "success", reason: str | None = None) -> Path:
    body = encode_body(RunFinished(outcome=outcome, reason=reason))  # type: ignore[arg-type]
    log.append(kind="run.finished", lane="main", at_ns=2, mono_ns=2, body=body)
    return log.seal()


def test_nothing_is_made_before_something_is_kept(store: LocalStore) -> None:
    assert list(store.list()) == []
    with pytest.raises(UnknownRunError):
        store.find("x")
    assert not store.path.exists()


def test_a_run_is_kept_where_the_layout_says(store: LocalStore) -> None:
    log = store.create("triage-1", "triage", task="T", mask_key="ab12")
    assert log.path == store.path / "recordings" / "triage-1.playhead.jsonl"
    assert log.header.mask_key == "ab12"
    large = b'{"value":"%b"}' % (b"x" * 100_000)
    log.append(kind="tool.returned", lane="main", at_ns=1, mono_ns=1, body=large)
    assert finish(log) == store.path / "recordings" / "triage-1.playhead"
    assert sorted(path.name for path in store.path.iterdir()) == [".gitignore", "blobs", "recordings"]
    assert store.open("triage-1").events[0].body.value == "x" * 100_000  # type: ignore[union-attr]


@pytest.mark.skipif(os.name == "nt", reason="no such permissions")
def test_a_store_is_its_owner_s_and_stays_out_of_git(store: LocalStore) -> None:
    store.create("a", "k").abandon()
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o700
    assert (store.path / ".gitignore").read_text() == "*\n"


def test_a_run_is_found_by_id_prefix_and_path(store: LocalStore, tmp_path: Path) -> None:
    sealed = finish(note(store.create("triage-7f3a", "triage")))
    live = note(store.create("search-11", "search")).path
    for name in ("triage-7f3a", "triage-7", "t", str(sealed), sealed):
        assert store.open(str(name)).id == "triage-7f3a"
    assert store.find("sea") == live
    copied = tmp_path / "copy.playhead"
    copied.write_bytes(sealed.read_bytes())
    assert store.open(str(copied)).path == copied


def test_a_whole_id_goes_before_longer_ones(store: LocalStore) -> None:
    for run in ("a", "ab", "abc"):
        store.create(run, "k").abandon()
    assert store.open("a").id == "a"
    assert store.open("abc").id == "abc"


def test_an_ambiguous_prefix_is_answered_with_the_runs_it_may_mean(store: LocalStore) -> None:
    for number in range(8):
        store.create(f"triage-{number}", "k").abandon()
    with pytest.raises(AmbiguousRunError) as caught:
        store.open("tri")
    assert str(caught.value).startswith("8 runs begin with 'tri': triage-0, triage-1")
    assert "and 3 more" in str(caught.value)
    assert caught.value.next == "playhead runs"


def test_an_unknown_run_is_answered_with_what_is_like_it(store: LocalStore) -> None:
    store.create("triage-7f3a", "k").abandon()
    with pytest.raises(UnknownRunError, match="there is triage-7f3a") as caught:
        store.open("triage-7f4a")
    assert caught.value.next == "playhead runs"
    with pytest.raises(UnknownRunError, match=r"\\x1b\[2J"):
        store.open("\x1b[2J")
    with pytest.raises(UnknownRunError):
        store.open("")
    with pytest.raises(UnknownRunError):
        store.open("/no/such/file.playhead")


def test_runs_are_listed_the_newest_first_with_how_they_stand(store: LocalStore) -> None:
    finish(note(store.create("good", "triage", task="T-1"), 3))
    finish(store.create("bad", "triage"), "failure", "HTTP 403")
    note(store.create("cut", "triage"), 2).abandon()
    going = note(store.create("going", "search"))
    listed = list(store.list())
    assert [(run.run, run.state, run.events, run.sealed) for run in listed] == [
        ("going", "recording", 1, False),
        ("cut", "aborted", 2, False),
        ("bad", "failure", 2, True),
        ("good", "success", 5, True),
    ]
    good, bad = listed[3], listed[2]
    assert (good.kind, good.task, bad.reason) == ("triage", "T-1", "HTTP 403")
    assert good.size == good.path.stat().st_size
    assert good.started_ns < bad.started_ns
    assert good.ended_ns > good.started_ns
    going.abandon()
    assert {run.run: run.state for run in store.list()}["going"] == "aborted"


def test_a_run_of_another_process_is_told_to_be_recording_while_that_lives(store: LocalStore) -> None:
    script = (
        "import sys; from playhead.stores import LocalStore; log = LocalStore(sys.argv[1]).create('other', 'k');"
        "log.append(kind='note.added', lane='main', at_ns=1, mono_ns=1, body=b'{}'); log.commit();"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=child_env(),
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        states = [run.state for run in store.list()]
        other.kill()
    assert states == ["recording"]
    assert [run.state for run in store.list()] == ["aborted"]


def test_what_cannot_be_read_is_listed_as_such_and_does_not_hide_the_others(store: LocalStore) -> None:
    path = finish(note(store.create("fine", "k")))
    (path.parent / "empty.playhead").write_bytes(b"")
    (path.parent / "other.playhead").write_bytes(b"hello\n")
    (path.parent / "later.playhead.jsonl").write_bytes(b'{"playhead":9,"run":"later"}\n')
    (path.parent / "notes.txt").write_bytes(b"not ours")
    listed = {run.run: run for run in store.list()}
    assert sorted(listed) == ["empty", "fine", "later", "other"]
    assert {run.state for name, run in listed.items() if name != "fine"} == {"unreadable"}
    assert "format 9" in str(listed["later"].reason)
    with pytest.raises(NotARecordingError):
        store.open("empty")


def test_a_list_reads_the_first_and_the_last_of_a_file_only(store: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """B100: listing reads headers only."""
    log = store.create("long", "k")
    for _ in range(100):
        log.append(
            kind="tool.returned",
            lane="main",
            at_ns=1,
            mono_ns=1,
            body=b'{"value":"%b"}' % os.urandom(30_000).hex().encode(),
        )
    finish(log)
    unpacked = []
    from playhead.eventlog import _compression, _ends, _reader

    real = _compression.new_decompressor

    def counting() -> object:
        class Counting:
            def decompress(self, data: bytes, max_length: int) -> bytes:
                text: bytes = real().decompress(data, max_length=max_length)
                unpacked.append(len(text))
                return text

        return Counting()

    monkeypatch.setattr(_ends, "new_decompressor", counting)
    monkeypatch.setattr(_reader, "new_decompressor", counting)
    assert [(run.state, run.events) for run in store.list()] == [("success", 102)]
    assert sum(unpacked) < 2000


def test_an_id_is_taken_once(store: LocalStore) -> None:
    path = finish(store.create("a", "k"))
    before = path.read_bytes()
    with pytest.raises(RecordingExistsError, match="already"):
        store.create("a", "k")
    assert path.read_bytes() == before


NAMES = [
    "foo/bar",
    "../../x",
    "a:b*c",
    "z" * 300,
    "é",
    "e\u0301",
    "",
    ".",
    "..",
    "CON",
    "nul",
    "A",
    "a",
    "foo-bar",
    "x.",
    "\ud800",
    "a\x00b",
]


def test_the_file_of_any_id_lies_in_the_folder_under_a_name_of_its_own(store: LocalStore) -> None:
    """B19."""
    names = [file_name(run) for run in NAMES]
    assert names == [file_name(run) for run in NAMES]
    assert len({name.casefold() for name in names}) == len(NAMES)
    for name in names:
        assert len(f".{name}.playhead.jsonl.tmp-12345678".encode()) < 200
        assert name.isascii()
        assert not set(name) & set('/\\:*?"<>|. ')
        assert name.upper() not in ("CON", "NUL", "PRN", "AUX")
    for run in NAMES:
        if run and run.isprintable():
            finish(store.create(run, "k"))
            assert store.open(run).id == run
    assert {path.parent for path in store.path.rglob("*.playhead")} == {store.recordings}


def test_a_store_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    store = LocalStore(tmp_path / "file" / ".playhead")
    for use in (lambda: store.create("a", "k"), store.mask_key):
        with pytest.raises(StoreNotWritableError) as caught:
            use()
        assert caught.value.next
    assert list(store.list()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_says_so_and_can_be_read(store: LocalStore) -> None:
    finish(store.create("a", "k"))
    key = store.mask_key()
    store.recordings.chmod(0o500)
    with pytest.raises(StoreNotWritableError, match="permission denied"):
        store.create("b", "k")
    assert store.open("a").id == "a"
    assert store.mask_key() == key


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everywhere")
def test_a_store_that_may_not_be_read_says_so(store: LocalStore) -> None:
    path = finish(store.create("a", "k"))
    path.chmod(0o000)
    with pytest.raises(StoreError, match="cannot be read"):
        store.open("a")
    assert [run.state for run in store.list()] == ["unreadable"]
    store.recordings.chmod(0o000)
    try:
        for use in (lambda: store.open("a"), lambda: list(store.list())):
            with pytest.raises(StoreError, match="cannot be read: permission denied") as caught:
                use()
            assert caught.value.next
    finally:
        store.recordings.chmod(0o700)


def test_the_mask_key_is_made_once_for_its_owner_only(store: LocalStore) -> None:
    key = store.mask_key()
    assert len(key) == 32
    assert LocalStore(store.path).mask_key() == key
    file = store.path / "keys" / "mask.key"
    if os.name != "nt":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["mask.key"]
    file.write_text("not a key")
    with pytest.raises(StoreError, match="is not a key"):
        store.mask_key()


def test_processes_that_begin_at_once_agree_on_the_mask_key(store: LocalStore) -> None:
    script = "import sys; from playhead.stores import LocalStore; print(LocalStore(sys.argv[1]).mask_key().hex())"
    command = [sys.executable, "-c", script, str(store.path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=child_env()) for _ in range(6)]
    assert len({process.communicate()[0] for process in running}) == 1


def test_a_store_in_memory_goes_away_with_the_object() -> None:
    store: Store = MemoryStore()
    assert isinstance(store, MemoryStore)
    path = store.path
    finish(note(store.create("a", "k")))
    assert store.open("a").outcome == "success"
    assert path.exists()
    del store
    assert not path.exists()
