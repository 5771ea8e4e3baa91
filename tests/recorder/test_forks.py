"""Child processes: the parent's recording stays whole, and the child's own runs are its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from playhead.eventlog import is_held
from tests.recorder.programs import Program, answers, children

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

ALL = list(range(50))


@pytest.mark.parametrize(
    "end",
    ["os._exit(0)", "sys.exit(0)", "pass", "raise ValueError", "os.kill(os.getpid(), 9)", "os.execlp('true', 'true')"],
)
def test_a_forked_child_leaves_the_recording_of_its_parent_alone(end: str, tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        f"""
        parent = os.getpid()
        with recording() as run:
            for number in range(25):
                work(number)
            child = os.fork()
            if child == 0:
                for number in range(100):
                    work("child")
                {end}
            else:
                for number in range(25, 50):
                    work(number)
                os.waitpid(child, 0)
        assert (run.path is not None) == (os.getpid() == parent)
        """,
    )
    program.run()
    recording = program.load()
    assert answers(recording) == ALL
    assert recording.outcome == "success"
    assert recording.finished is not None
    assert recording.finished.unseen == {"child process": 1}


def test_a_forked_child_can_record_a_run_of_its_own(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        def agent(name):
            with recording(name):
                for number in range(50):
                    work(number)
        with recording():
            for number in range(3):
                child = os.fork()
                if child == 0:
                    agent(f"child-{number}")
                    os._exit(0)
            for number in range(50):
                work(number)
            for _ in range(3):
                os.wait()
        """,
    )
    program.run()
    for run in ("run-1", "child-0", "child-1", "child-2"):
        assert answers(program.load(run)) == ALL


def test_a_run_that_a_child_leaves_open_is_kept_too(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        with recording():
            work("parent")
            child = os.fork()
            if child == 0:
                recording("child").__enter__()
                for number in range(50):
                    work(number)
                os._exit(0)
            os.wait()
        """,
    )
    program.run()
    assert answers(program.load()) == ["parent"]
    assert answers(program.load("child")) == ALL
    assert program.load("child").outcome == "aborted"


def test_a_child_that_lives_on_does_not_keep_the_file_of_its_dead_parent(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        with recording():
            work(1)
            child = os.fork()
            if child == 0:
                print(os.getpid(), flush=True)
            time.sleep(60)
        """,
    )
    with program.start() as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        live = program.store / "recordings" / "run-1.playhead.jsonl"
        assert is_held(live)
        process.kill()
        process.wait()
        try:
            assert not is_held(live)
        finally:
            os.kill(child, signal.SIGKILL)


def test_forks_in_the_midst_of_heavy_recording_neither_hang_nor_tear(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        def go_on(kind):
            for number in range(500):
                work([kind, number, "x" * (number * 37 % 9000)])
        with recording():
            threads = [threading.Thread(target=go_on, args=(kind,)) for kind in range(4)]
            for thread in threads:
                thread.start()
            for number in range(20):
                child = os.fork()
                if child == 0:
                    work("child")
                    with recording(f"child-{number}"):
                        work("own, with a secret sk-proj-" + "a1B2" * 12)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            for thread in threads:
                thread.join()
        """,
    )
    program.run()
    kept = answers(program.load())
    assert sorted(value[:2] for value in kept if isinstance(value, list)) == [
        [k, n] for k in range(4) for n in range(500)
    ]
    assert len(kept) == 2000
    for number in range(20):
        assert len(answers(program.load(f"child-{number}"))) == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("kind", ["process", "pool", "executor"])
def test_workers_of_multiprocessing_are_recorded_beside_the_run_that_starts_them(
    kind: str, method: str, tmp_path: Path
) -> None:
    program = Program(
        tmp_path,
        f"""
        import multiprocessing, concurrent.futures
        context = multiprocessing.get_context("{method}")

        def job(number):
            work("outside every run")
            with recording(f"job-{{number}}"):
                for each in range(50):
                    work(each)
            return number

        if __name__ == "__main__":
            with recording():
                for number in range(25):
                    work(number)
                if "{kind}" == "process":
                    workers = [context.Process(target=job, args=(number,)) for number in range(2)]
                    for worker in workers:
                        worker.start()
                    for worker in workers:
                        worker.join()
                        assert worker.exitcode == 0
                elif "{kind}" == "pool":
                    with context.Pool(2) as pool:
                        assert sorted(pool.map(job, range(2))) == [0, 1]
                else:
                    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
                        assert sorted(pool.map(job, range(2))) == [0, 1]
                for number in range(25, 50):
                    work(number)
        """,
    )
    program.run()
    recording = program.load()
    assert answers(recording) == ALL
    assert recording.finished is not None
    assert recording.finished.incomplete == []
    assert recording.finished.unseen == {}
    assert len(children(recording)) == 2
    for child in children(recording):
        assert answers(program.load(child)) == ["outside every run", *ALL]


def test_the_workers_of_a_server_that_forks_first_share_a_new_store(tmp_path: Path) -> None:
    """As gunicorn does: the application is loaded, recorder and all, and then forked; each request is a run."""
    program = Program(
        tmp_path,
        """
        @playhead.agent(kind="request")
        def handle(number):
            return work(number)
        os.environ["PLAYHEAD_STORE"] = STORE
        workers = []
        for worker in range(6):
            child = os.fork()
            if child == 0:
                for number in range(5):
                    handle(worker * 5 + number)
                sys.exit(0)
            workers.append(child)
        assert all(os.waitpid(child, 0)[1] == 0 for child in workers)
        """,
    )
    program.run()
    runs = [file.name.removesuffix(".playhead") for file in (program.store / "recordings").iterdir()]
    assert len(runs) == 30
    assert sorted(str(answers(program.load(run))[0]) for run in runs) == sorted(map(str, range(30)))


def test_every_start_of_another_program_is_noticed_once(tmp_path: Path) -> None:
    program = Program(
        tmp_path,
        """
        import asyncio, subprocess
        async def wait():
            process = await asyncio.create_subprocess_exec("true")
            await process.wait()
        @playhead.tool
        def inside():
            subprocess.run(["true"])
        with recording():
            subprocess.run(["true", "--token=SECRET"])
            subprocess.Popen("true", shell=True, preexec_fn=lambda: None).wait()
            os.system("true")
            os.popen("true").read()
            os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
            os.spawnlp(os.P_WAIT, "true", "true")
            asyncio.run(wait())
            inside()
        """,
    )
    program.run()
    recording = program.load()
    assert recording.finished is not None
    assert recording.finished.unseen == {"child process": 7}
    assert len(children(recording)) == 4
    assert b"SECRET" not in b"".join(repr(event).encode() for event in recording)
