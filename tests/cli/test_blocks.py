"""``playhead replay`` of what ``with playhead.record()`` recorded inside a program that starts as it always does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import environment, type_in, write_agent

PROGRAM = """
import sys
import playhead


@playhead.tool
def look(number):
    open("live", "a").write("x")
    return number * 2


if "early" in sys.argv:
    look(0)
if "never" in sys.argv:
    sys.exit()
for number in (1, 2):
    with playhead.record(kind="loop", task=f"T-{number}", id=None if "again" in sys.argv else f"loop-{number}") as run:
        look(number)
        run.succeed(number)
    if "replays" in sys.argv:
        with playhead.replay(playhead.load(run.id)) as replay:
            look(number)
        print(replay.report)
        break
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a program that has run once, by itself, and recorded two of its blocks."""
    write_agent(tmp_path, PROGRAM)
    command = [sys.executable, "agent.py"]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True)
    (tmp_path / "live").unlink()
    return tmp_path


def replay(project: Path, run: str, *words: str) -> tuple[int, dict[str, Any]]:
    done = type_in(project, "replay", run, "--json", *(("--", "python", "agent.py", *words) if words else ()))
    assert not (project / "live").exists()
    report: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, report


def test_the_program_of_a_block_is_started_again_and_stopped_where_the_recording_has_ended(project: Path) -> None:
    code, report = replay(project, "loop-1")
    assert (code, report["answered"]) == (0, 1)
    assert "stopped at tool look in lane main/loop#1" in report["warnings"][0]


def test_a_program_may_replay_its_own_recording_while_it_is_replayed(tmp_path: Path) -> None:
    write_agent(tmp_path, PROGRAM.replace("import sys\n", "import sys; sys.argv.append('replays')\n"))
    first = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert "replayed loop-1 (strict): 1 exchange" in first.stdout
    (tmp_path / "live").unlink()
    done = type_in(tmp_path, "replay", "loop-1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(first.stdout)
    assert "identical in all that was seen" in done.stdout
    assert not (tmp_path / "live").exists()


@pytest.mark.parametrize(
    ("run", "word", "cause"),
    [
        ("loop-1", "early", "this was asked before the block playhead.record(kind='loop') began"),
        ("loop-1", "never", "the program ended before the block playhead.record(kind='loop') began"),
        pytest.param(
            *("loop-2", "again", "this was asked before the block playhead.record(kind='loop') began"),
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_what_lies_outside_of_the_block_is_not_answered_and_said_to_lie_there(
    project: Path, run: str, word: str, cause: str
) -> None:
    code, report = replay(project, run, word)
    assert code == 1
    assert report["divergence"]["causes"][0].startswith(cause)
    assert "only what lies inside of it is recorded" in report["divergence"]["message"]


def test_a_program_that_does_not_say_how_it_was_started_has_to_be_named(tmp_path: Path) -> None:
    code = "import playhead\nwith playhead.record(id='block-1'):\n    playhead.now()\n"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment(), check=True)
    done = type_in(tmp_path, "replay", "block-1")
    assert done.returncode == 2
    assert "say which program to run\n  next: playhead replay block-1 -- python my_agent.py\n" in done.stderr
