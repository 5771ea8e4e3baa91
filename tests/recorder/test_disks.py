"""A disk that is full, forbidden or slow: the program goes on, and what is missing is said."""

from __future__ import annotations

import os
import subprocess
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.errors import PlayheadWarning, StoreNotWritableError
from playhead.eventlog import Header, LogWriter, open_recording, verify
from playhead.recorder import Writer
from tests.recorder.programs import Program, answers

FILLING = """
import warnings
{before}
with recording(durability="{durability}") as run:
    for number in range(600):
        assert work([number, os.urandom(1500).hex()])[0] == number
        if number % 100 == 99:
            time.sleep(0.15)
    run.succeed("done")
    assert run.outcome == "success"
print(run.outcome, run.path, len(run.incomplete), run.incomplete)
"""


@pytest.mark.parametrize("durability", ["group", "every"])
def test_a_file_that_may_not_grow_ends_the_recording_and_not_the_program(durability: str, tmp_path: Path) -> None:
    pytest.importorskip("resource")
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))"
    program = Program(tmp_path, FILLING.format(before=limit, durability=durability))
    out, err = program.run()
    check_full(program, out, err)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize("durability", ["group", "every"])
def test_a_full_disk_ends_the_recording_and_not_the_program(durability: str, tmp_path: Path, tiny_disk: Path) -> None:
    program = Program(tmp_path, FILLING.format(before="", durability=durability))
    program.store = tiny_disk / "store"
    program.command[-1] = str(program.store)
    out, err = program.run()
    check_full(program, out, err)


def check_full(program: Program, out: str, err: str) -> None:
    assert out.startswith("success None 2 (")
    assert err.count("playhead cannot write the recording any more") == 1
    assert err.count("is incomplete") == 1
    assert "next: playhead show run-1" in err
    recording = program.load()
    assert recording.outcome == "aborted"
    kept = [value[0] for value in answers(recording) if isinstance(value, list)]
    assert kept == list(range(len(kept)))
    assert 10 < len(kept) < 600


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount")
def test_a_store_that_may_only_be_read_is_told_before_the_run_begins(tiny_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    check_refused(tiny_disk / "store")


def test_a_store_that_cannot_be_made_is_told_before_the_run_begins(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    check_refused(tmp_path / "file" / "store")


def check_refused(store: Path) -> None:
    begun = False
    with pytest.raises(StoreNotWritableError) as told, playhead.record(store=store):
        begun = True
    assert not begun
    assert told.value.next
    assert str(store.parent) in str(told.value)
    with playhead.record(store=store.parent.parent / "other") as run:  # and nothing of it is left standing
        playhead.now()
    assert run.outcome == "success"


def test_a_disk_that_has_room_again_at_the_end_gets_the_end_and_what_is_missing(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    program = Program(
        tmp_path,
        """
        import resource
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, most[1]))
        with recording() as run:
            for number in range(100):
                work([number, "x" * 300])
            time.sleep(0.3)
            work("lost")
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
        print(run.outcome, run.path)
        """,
    )
    out, err = program.run()
    assert out.startswith("success /")
    assert "is incomplete" in err
    recording = program.load()
    assert recording.outcome == "success"
    assert recording.finished is not None
    assert len(recording.finished.incomplete) == 2
    assert "lost" not in answers(recording)


class SlowLog(LogWriter):
    """A file on a disk that takes nothing until it is let."""

    let = threading.Event()
    stuck = threading.Event()

    def flush(self) -> None:
        self.stuck.set()
        assert self.let.wait(60)
        super().flush()


@pytest.fixture
def slow_log(tmp_path: Path) -> SlowLog:
    SlowLog.let, SlowLog.stuck = threading.Event(), threading.Event()
    return SlowLog(tmp_path / "run-1", Header(run="run-1", kind="test", created_ns=1))


def note(log: LogWriter, text: str) -> None:
    log.append(kind="note.added", lane="main", at_ns=1, mono_ns=1, body=b'{"name":"%b"}' % text.encode())


def test_a_slow_disk_holds_the_program_back_once_memory_is_used_up_and_loses_nothing(slow_log: SlowLog) -> None:
    writer = Writer(slow_log)
    chunk, put = 1 << 20, 0
    reached = threading.Event()

    def go_on() -> None:
        nonlocal put
        for _ in range(200):
            writer.put((note, slow_log, "x"), chunk)
            put += 1
            if put == 60:
                reached.set()

    program = threading.Thread(target=go_on)
    writer.put((note, slow_log, "first"))
    assert slow_log.stuck.wait(60)
    program.start()
    assert reached.wait(60)
    program.join(0.5)
    assert program.is_alive()
    assert 60 <= put <= 70
    slow_log.let.set()
    program.join(60)
    assert put == 200
    writer.close(slow_log.seal)
    assert writer.failure is None
    assert len(open_recording(slow_log.path)) == 202


def test_a_fork_does_not_wait_for_a_slow_disk(slow_log: SlowLog) -> None:
    writer = Writer(slow_log)
    writer.put((note, slow_log, "first"))
    assert slow_log.stuck.wait(60)
    for _ in range(1000):
        writer.put((note, slow_log, "waiting"))
    child = os.fork()
    if child == 0:
        os._exit(0 if writer.is_orphan else 1)
    assert os.waitpid(child, 0)[1] == 0
    slow_log.let.set()
    writer.close(slow_log.seal)
    assert len(open_recording(slow_log.path)) == 1002
    assert verify(slow_log.path).ok


def test_exit_waits_for_a_slow_disk_and_an_abrupt_end_only_so_long(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        from playhead.eventlog import LogWriter
        let = threading.Event()
        flush = LogWriter.flush
        def slow(self):
            let.wait()
            flush(self)
        block = recording()
        block.__enter__()
        LogWriter.flush = slow
        for number in range(50):
            work(number)
        threading.Timer(1.0, let.set).start()
        if "abruptly" in sys.argv:
            os._exit(0)
        """,
    )
    program.run()
    assert answers(program.load()) == list(range(50))


def test_a_warning_that_is_an_error_reaches_nobody_but_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = LogWriter(tmp_path / "run-1", Header(run="run-1", kind="test", created_ns=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlayheadWarning)
        writer = Writer(log)
        for _ in range(3):
            writer.put((fail, ValueError("bad")))
            writer.put((fail, OSError(28, "full")))
        writer.drain()
        assert writer.failure is not None
        assert writer.lost == 5
        writer.close(lambda: None)
    log.abandon()
    said = capfd.readouterr().err
    assert said.count("could not keep an event") == 1
    assert said.count("cannot write the recording any more") == 1


def fail(error: Exception) -> Any:
    raise error
