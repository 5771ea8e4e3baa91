"""Steps that another process asked for, behind its conversation with the program, on the command line."""

from __future__ import annotations

from pathlib import Path

from tests.cli.commands import record, type_in, write_agent

AGENT = """
import playhead
from playhead.boundary import Arguments, Call, cross, current_lane, in_lane

def asked(lane, boundary, name):
    cross(lane, Call(boundary, name, Arguments(asked, (), {})), lambda: "said")

root = current_lane().root
behind = root.child("worker", by="worker", behind=True)
with in_lane(behind):
    asked(behind, "tool", "count")
"""


def test_a_step_behind_a_conversation_is_edited_for_a_replay_that_runs_again_and_not_offered_to_stop_at(
    tmp_path: Path,
) -> None:
    write_agent(tmp_path, AGENT)
    write_agent(tmp_path, "def never(prefix):\n    return False\n", "checks.py")
    assert record(tmp_path).returncode == 0
    edited = type_in(tmp_path, "edit", "run-1", "--id", "other", "--step", "1", "--returns", '"else"')
    assert "next: playhead replay other --reexecute\n" in edited.stderr
    found = type_in(tmp_path, "bisect", "run-1", "--check", "checks.py:never")
    assert found.returncode == 1
    assert "playhead edit run-1 --step 1" in found.stderr + found.stdout
    assert "--break" not in found.stderr + found.stdout


def test_a_run_without_another_process_cannot_be_run_again(tmp_path: Path) -> None:
    write_agent(tmp_path, "import playhead\nplayhead.wrap('count', len)('tea')\n")
    assert record(tmp_path).returncode == 0
    for words in (["replay", "run-1"], ["fork", "run-1", "--at", "0"]):
        done = type_in(tmp_path, *words, "--reexecute")
        assert done.returncode == 2
        assert "none to run again" in done.stderr
