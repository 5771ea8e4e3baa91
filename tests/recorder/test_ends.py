"""However a program ends, nothing is lost, the file opens, and the outcome is what happened."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

import playhead
from playhead.errors import PlayheadError
from playhead.eventlog import is_held
from tests.recorder.programs import Program, answers

ALL = list(range(50))


@pytest.mark.parametrize(
    ("end", "status", "outcome", "reason"),
    [
        ("pass", 0, "success", None),
        ("sys.exit()", 0, "success", None),
        ("sys.exit(0)", 0, "success", None),
        ("sys.exit(3)", 3, "failure", "SystemExit"),
        ("sys.exit('no')", 1, "failure", "SystemExit"),
        ("raise ValueError('bad')", 1, "failure", "ValueError"),
        ("raise KeyboardInterrupt", -signal.SIGINT, "aborted", "KeyboardInterrupt"),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(30)", -signal.SIGINT, "aborted", "KeyboardInterrupt"),
        ("run.succeed('done'); raise ValueError('late')", 1, "failure", "ValueError"),
        ("run.fail('no use'); sys.exit(0)", 0, "failure", "no use"),
    ],
)
def test_a_run_that_its_block_ends_is_sealed_with_its_outcome(
    end: str, status: int, outcome: str, reason: str | None, tmp_path: Path
) -> None:
    program = Program(
        tmp_path,
        f"""
        with recording() as run:
            for number in range(50):
                work(number)
            {end}
        """,
    )
    program.run(status=status)
    recording = program.load()
    assert answers(recording) == ALL
    assert recording.outcome == outcome
    assert recording.finished is not None
    assert recording.finished.reason == reason
    assert recording.finished.incomplete == []
    assert recording.path is not None
    assert recording.path.suffix == ".playhead"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("os._exit(7)", 7),
        ("threading.Thread(target=os._exit, args=(7,)).start(); time.sleep(30)", 7),
        ("os.abort()", -getattr(signal, "SIGABRT", 6)),
        ("os.execv(sys.executable, [sys.executable, '-c', ''])", 0),
        ("os.execlp(sys.executable, 'python', '-c', 'raise SystemExit(4)')", 4),
        ("open_run = block; sys.exit(3)", 3),
        ("run.succeed('done')", 0),
        ("raise ValueError", 1),
        ("threading.Thread(target=lambda: [work(n) for n in iter(int, 1)], daemon=True).start()", 0),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="no exec and no signals")
def test_a_run_left_open_by_an_abrupt_end_has_everything_and_is_aborted(end: str, status: int, tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        f"""
        block = recording()
        run = block.__enter__()
        for number in range(50):
            work(number)
        {end}
        """,
    )
    program.run(status=status)
    recording = program.load()
    assert answers(recording)[:50] == ALL
    assert recording.outcome == "aborted"
    assert recording.path is not None
    assert not is_held(recording.path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_from_outside_ends_the_run_as_aborted(number: signal.Signals, tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        with recording():
            for number in range(50):
                work(number)
            while True:
                work(-1)
                time.sleep(0.001)
        """,
    )
    with program.start() as process:
        try:
            while not has_answered(program, 50):
                time.sleep(0.01)
            process.send_signal(number)
            assert process.wait(timeout=60) == -number
        finally:
            process.kill()
    recording = playhead.load("run-1", store=program.store)
    assert answers(recording)[:50] == ALL
    assert recording.outcome == "aborted"
    assert (recording.finished is not None) == (number == signal.SIGINT)


def has_answered(program: Program, crossings: int) -> bool:
    try:
        return len(answers(playhead.load("run-1", store=program.store))) >= crossings
    except PlayheadError:
        return False


def test_what_crosses_while_the_interpreter_ends_is_kept(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        class Held: pass
        held = Held()
        weakref.finalize(held, work, "finalizer made before")
        atexit.register(work, "registered before")
        block = recording(durability=os.environ.get("EVERY"))
        block.__enter__()
        atexit.register(work, "registered after")
        later = Held()
        weakref.finalize(later, work, "finalizer made after")
        work("main")
        """,
    )
    _, err = program.run()
    assert err == ""
    expected = {"main", "registered before", "registered after", "finalizer made before", "finalizer made after"}
    assert set(answers(program.load())) == expected


def test_what_crosses_after_all_that_harms_nothing(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        class Late:
            def __init__(self): self.ring = self
            def __del__(self): work("late")
        late = Late()
        block = recording()
        block.__enter__()
        threading.Thread(target=lambda: [work(n) for n in iter(int, 1)], daemon=True).start()
        work("main")
        """,
    )
    _, err = program.run()
    assert "Error" not in err
    assert "main" in answers(program.load())


def test_a_run_can_begin_and_end_in_a_function_called_at_exit(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        def last():
            with recording("run-2"):
                for number in range(50):
                    work(number)
        atexit.register(last)
        with recording():
            work(1)
        """,
    )
    program.run()
    assert answers(program.load()) == [1]
    recording = program.load("run-2")
    assert answers(recording) == ALL
    assert recording.outcome == "success"


def test_threads_that_outlive_a_run_do_not_disturb_its_end_nor_the_next_run(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        def go_on():
            while True:
                work("daemon")
        with recording():
            threading.Thread(target=go_on, daemon=True).start()
            for number in range(50):
                work(number)
        with recording("run-2"):
            for number in range(50):
                work(number)
        """,
    )
    _, err = program.run()
    assert err == ""
    recording = program.load()
    assert [value for value in answers(recording) if value != "daemon"] == ALL
    assert recording.outcome == "success"
    assert answers(program.load("run-2")) == ALL


def test_a_task_that_outlives_its_run_can_begin_another_one(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        import asyncio
        async def go_on(over):
            await over.wait()
            with recording("run-2"):
                work("second")
        async def main():
            over = asyncio.Event()
            with recording():
                task = asyncio.create_task(go_on(over))
                await asyncio.sleep(0)
                work("first")
            over.set()
            await task
        asyncio.run(main())
        """,
    )
    program.run()
    assert answers(program.load()) == ["first"]
    assert answers(program.load("run-2")) == ["second"]


@pytest.mark.skipif(os.name == "nt", reason="no interval timers")
@pytest.mark.parametrize("times", [8, pytest.param(24, marks=pytest.mark.sweep)])
def test_an_interrupt_at_any_moment_ends_only_the_program(times: int, tmp_path: Path) -> None:
    """Ctrl-C while the program hands over, waits for the disk, or closes: what is there is whole."""
    program = Program(
        tmp_path,
        f"""
        import random
        for count in range({times}):
            try:
                with recording(f"run-{{count}}", durability="every" if count % 2 else "group"):
                    signal.signal(signal.SIGALRM, signal.default_int_handler)
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.02))
                    for number in range(20 if count % 4 < 2 else 20_000):
                        work(number)
            except KeyboardInterrupt:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        """,
    )
    _, err = program.run()
    # The interpreter itself drops an interrupt that comes while it forgets a thread, and says so.
    assert all("_weakrefset.py" in part for part in err.split("Exception ignored in: ")[1:]), err
    assert "playhead" not in err
    for count in range(times):
        recording = program.load(f"run-{count}")
        kept = answers(recording)
        if kept and kept[-1] is None:  # the interrupt is how the last one ended
            assert "KeyboardInterrupt" in repr(recording.exchanges[-1].answer)
            kept.pop()
        assert kept == list(range(len(kept)))
