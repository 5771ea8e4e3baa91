"""``playhead record``: the program as it always was, and a recording beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playhead.events import NoteAdded
from tests.cli.commands import AGENT, environment, load, record, type_in, write_agent


def test_a_program_is_recorded_without_a_change_to_it(tmp_path: Path) -> None:
    write_agent(tmp_path)
    done = record(tmp_path, "T-42")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "recorded run-1 (success, 2 steps)  next: playhead show run-1"
    recording = load(tmp_path)
    assert recording.outcome == "success"
    assert recording.sealed
    assert recording.verify().proven
    assert [step.question.body.name for step in recording.steps] == ["search", "refund"]
    assert {event.kind for event in recording} >= {"clock.read", "random.drawn", "tool.failed", "run.finished"}
    assert recording.started is not None
    assert recording.started.entry.argv == ["python", "agent.py", "T-42"]
    assert recording.started.entry.folder == str(tmp_path)


@pytest.mark.slow
def test_output_input_and_exit_code_are_the_program_s_own(tmp_path: Path) -> None:
    program = "import sys\nsys.stdout.write(sys.stdin.read().upper())\nsys.stderr.write('talk')\nsys.exit(5)\n"
    write_agent(tmp_path, program)
    done = record(tmp_path, input="a line\n")
    assert (done.stdout, done.returncode) == ("A LINE\n", 5)
    assert done.stderr.startswith("talk")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "code", "outcome", "reason"),
    [
        ("exit", 3, "failure", "exit code 3"),
        ("boom", 1, "failure", "exit code 1"),
        ("hard-exit", 7, "failure", "exit code 7"),
        ("SIGTERM", 143, "aborted", "SIGTERM"),
        ("SIGINT", 130, "aborted", "SIGINT"),
        ("SIGKILL", 137, "aborted", "SIGKILL"),
        ("SIGSEGV", 139, "aborted", "SIGSEGV"),
    ],
)
def test_whatever_ends_a_program_its_recording_is_whole_and_says_so(
    tmp_path: Path, word: str, code: int, outcome: str, reason: str
) -> None:
    write_agent(tmp_path)
    done = record(tmp_path, word)
    assert done.returncode == code
    recording = load(tmp_path)
    assert recording.verify().proven
    assert len(recording.steps) == 2
    assert recording.finished is not None
    assert (recording.outcome, recording.finished.reason) == (outcome, reason)
    assert type_in(tmp_path, "verify", "run-1").returncode == 0


@pytest.mark.slow
def test_what_comes_just_before_a_hard_exit_is_not_lost(tmp_path: Path) -> None:
    program = "import os, playhead\ntool = playhead.tool(lambda n: n, name='count')\n"
    for ending in ("os._exit(0)", "os.kill(os.getpid(), 15)"):
        write_agent(tmp_path, f"{program}for n in range(500): tool(n)\n{ending}\n")
        name = f"run-{ending[3:5].strip('_')}"
        record(tmp_path, run=name)
        assert len(load(tmp_path, name).steps) == 500


def test_an_uncaught_exception_is_kept_with_the_failure(tmp_path: Path) -> None:
    write_agent(tmp_path)
    done = record(tmp_path, "boom")
    assert "ValueError: boom" in done.stderr
    finished = load(tmp_path).finished
    assert finished is not None
    assert finished.error["class"] == "builtins:ValueError"
    assert "ValueError: boom" in type_in(tmp_path, "show", "run-1").stdout


def test_a_run_inside_the_program_gives_result_and_outcome(tmp_path: Path) -> None:
    body = "import playhead\nwith playhead.record(kind='inner') as run:\n    run.{}\n"
    write_agent(tmp_path, body.format("succeed({'answer': 42})"))
    record(tmp_path)
    finished = load(tmp_path).finished
    assert finished is not None
    assert (finished.outcome, finished.result) == ("success", {"answer": 42})
    write_agent(tmp_path, body.format("fail('no refund')"))
    assert record(tmp_path, run="run-2").returncode == 0
    finished = load(tmp_path, "run-2").finished
    assert finished is not None
    assert (finished.outcome, finished.reason) == ("failure", "no refund")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["module", "script", "shell", "code"])
def test_every_way_to_start_python_is_recorded(tmp_path: Path, form: str) -> None:
    write_agent(tmp_path)
    (tmp_path / "pack").mkdir()
    write_agent(tmp_path / "pack", name="__main__.py")
    script = write_agent(tmp_path, f"#!{sys.executable}\n{AGENT}", name="tool")
    script.chmod(0o755)
    commands = {
        "module": ["python", "-m", "pack"],
        "script": ["./tool"],
        "shell": ["sh", "-c", "echo first; python agent.py"],
        "code": ["python", "-c", AGENT],
    }
    done = type_in(tmp_path, "record", "--id", "run-1", "--", *commands[form])
    assert done.returncode == 0, done.stderr
    assert len(load(tmp_path).steps) == 2


@pytest.mark.slow
def test_a_launcher_that_puts_the_program_in_its_place_is_passed_through(tmp_path: Path) -> None:
    write_agent(tmp_path)
    for call in ("os.execvp('python', args)", "os.execve(sys.executable, args, dict(os.environ))"):
        write_agent(tmp_path, f"import os, sys\nargs = ['python', 'agent.py']\n{call}\n", name="launch.py")
        name = f"run-{len(call)}"
        done = type_in(tmp_path, "record", "--id", name, "--", "python", "launch.py")
        assert done.returncode == 0, done.stderr
        assert len(load(tmp_path, name).steps) == 2
        assert load(tmp_path, name).verify().proven


def test_a_sitecustomize_that_was_there_before_still_runs(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import os\nos.environ['CUSTOM'] = 'yes'\n")
    write_agent(tmp_path, "import os, sys\nprint(os.environ['CUSTOM'], sys.modules['sitecustomize'].__file__)\n")
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join([env["PYTHONPATH"], str(tmp_path / "site")])
    done = record(tmp_path, env=env)
    assert done.stdout.split() == ["yes", str(tmp_path / "site" / "sitecustomize.py")]


def test_the_program_finds_no_trace_of_how_it_was_started(tmp_path: Path) -> None:
    program = """
import os, signal, subprocess, sys
print([name for name in os.environ if name.startswith("PLAYHEAD")], os.environ["PYTHONPATH"])
print([place for place in sys.path if "startup" in place], "sitecustomize" in sys.modules)
print(signal.getsignal(signal.SIGTERM), sys.excepthook is sys.__excepthook__)
print(signal.signal(signal.SIGTERM, signal.SIG_IGN), signal.signal(signal.SIGTERM, signal.SIG_DFL), flush=True)
print(subprocess.run([sys.executable, "-c", "import os; print(os.environ['PYTHONPATH'])"]).returncode)
"""
    write_agent(tmp_path, program)
    with_us = record(tmp_path)
    without = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    ours = with_us.stdout.replace("True\n", "").replace("False\n", "")
    assert ours == without.stdout.replace("True\n", "").replace("False\n", "")


@pytest.mark.slow
def test_processes_that_the_program_starts_have_recordings_of_their_own_or_are_counted(tmp_path: Path) -> None:
    program = """
import asyncio, multiprocessing, os, subprocess, sys, playhead

def nothing(): pass

@playhead.tool
def inside(): subprocess.run(["true"])

if __name__ == "__main__":
    subprocess.run([sys.executable, "inner.py"], check=True)
    os.system("true")
    asyncio.run(asyncio.create_subprocess_exec("true"))
    for method in ("fork", "spawn"):
        process = multiprocessing.get_context(method).Process(target=nothing)
        process.start()
        process.join()
    inside()
"""
    write_agent(tmp_path, program)
    write_agent(tmp_path, name="inner.py")
    assert record(tmp_path).returncode == 0
    recording = load(tmp_path)
    assert [step.question.body.name for step in recording.steps] == ["inside"]
    assert recording.finished is not None
    assert recording.finished.unseen == {"child process": 2}
    started = [exchange.question.body.child for exchange in recording.exchanges if exchange.step is None]
    assert [child.lane for child in started] == [
        "main/inner.py#1",
        "main/create_subprocess_exec#1/true#1",
        "main/nothing#1",
        "main/nothing#2",
    ]
    inner = load(tmp_path, started[0].run)
    assert inner.started.starter.run == recording.id
    assert inner.outcome == "success"
    assert len(inner.steps) > 0


@pytest.mark.slow
def test_two_python_processes_of_one_command_are_told(tmp_path: Path) -> None:
    write_agent(tmp_path)
    done = type_in(tmp_path, "record", "--id", "run-1", "--", "sh", "-c", "python agent.py; python agent.py")
    assert "1 more Python process ran beside the first" in done.stderr
    recording = load(tmp_path)
    assert len(recording.steps) == 2
    assert recording.finished is not None
    assert recording.finished.unseen["Python processes beside the first"] == 1


@pytest.mark.slow
def test_a_forked_child_adds_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    program = """
import os, playhead
tool = playhead.tool(lambda n: n, name="count")
tool(1)
if os.fork() == 0:
    tool(2)
    os._exit(0)
os.wait()
tool(3)
"""
    write_agent(tmp_path, program)
    assert record(tmp_path).returncode == 0
    recording = load(tmp_path)
    assert recording.verify().proven
    assert [step.answer.body.value for step in recording.steps if step.answer] == [1, 3]


@pytest.mark.slow
def test_termination_of_the_recorder_reaches_the_program(tmp_path: Path) -> None:
    write_agent(tmp_path, "import time\nprint('ready', flush=True)\nfor _ in range(1200):\n    time.sleep(0.05)\n")
    words = [sys.executable, "-m", "playhead.cli", "record", "--id", "run-1", "--", "python", "agent.py"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(timeout=60) == 143
    finished = load(tmp_path).finished
    assert finished is not None
    assert (finished.outcome, finished.reason) == ("aborted", "SIGTERM")


@pytest.mark.slow
def test_ctrl_c_leaves_a_whole_recording(tmp_path: Path) -> None:
    write_agent(tmp_path, "import time\nprint('ready', flush=True)\nfor _ in range(1200):\n    time.sleep(0.05)\n")
    words = [sys.executable, "-m", "playhead.cli", "record", "--id", "run-1", "--", "python", "agent.py"]
    started = subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    with started as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        os.killpg(parent.pid, signal.SIGINT)  # what a terminal does: parent and child are sent it alike
        assert parent.wait(timeout=60) == 130
    assert load(tmp_path).verify().proven
    assert not list((tmp_path / ".playhead" / "recordings").glob("*.jsonl"))


@pytest.mark.slow
def test_a_recorder_that_is_killed_leaves_what_the_program_wrote(tmp_path: Path) -> None:
    program = """
import os, time, playhead
from playhead.recorder import drain_all
tool = playhead.tool(lambda n: n, name="count")
for n in range(10): tool(n)
drain_all()
print(os.getpid(), flush=True)
time.sleep(60)
"""
    write_agent(tmp_path, program)
    words = [sys.executable, "-m", "playhead.cli", "record", "--id", "run-1", "--", "python", "agent.py"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        os.kill(child, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while '"recording"' in type_in(tmp_path, "runs", "--json").stdout and time.monotonic() < deadline:
        time.sleep(0.05)
    recording = load(tmp_path)
    assert (len(recording.steps), recording.outcome) == (10, "aborted")


def test_versions_of_what_was_imported_later_are_kept(tmp_path: Path) -> None:
    (tmp_path / "somelib.py").write_text("__version__ = '1.2.3'\n")
    write_agent(tmp_path, "import somelib\n")
    record(tmp_path)
    recording = load(tmp_path)
    assert recording.started is not None
    kept = dict(recording.started.environment.packages)
    for note in (event.body for event in recording.of_kind("note.added")):
        if isinstance(note, NoteAdded) and note.name == "packages":
            kept |= note.details
    assert kept["somelib"] == "1.2.3"


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_reaches_the_program_once(tmp_path: Path) -> None:
    import pty

    program = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("ready", flush=True)
while not seen:  # it may come before anybody waits for it
    time.sleep(0.01)
time.sleep(0.5)
print("interrupted", len(seen), sys.stdin.isatty(), sys.stdout.isatty(), flush=True)
"""
    write_agent(tmp_path, program)
    words = [sys.executable, "-m", "playhead.cli", "record", "--id", "run-1", "--", "python", "agent.py"]
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execvpe(words[0], words, environment())
    seen = b""
    while b"recorded run-1" not in seen:
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            break
        if seen.endswith(b"ready\r\n"):
            os.write(terminal, b"\x03")
    os.waitpid(child, 0)
    os.close(terminal)
    assert b"interrupted 1 True True" in seen
    assert load(tmp_path).outcome == "success"
