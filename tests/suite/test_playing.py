"""Playing a folder of recordings against the present code."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from playhead.errors import ConfigurationError, UsageError
from playhead.suite import read_suite
from tests.cli.commands import environment
from tests.suite.projects import AGENT, Project, problems


def test_what_has_not_changed_holds_and_recordings_of_one_module_share_interpreters(project: Project) -> None:
    """As many as there are jobs, however many the recordings."""
    code, data = project.suite(jobs=1)
    assert (code, data["held"]) == (0, 3)
    assert project.lines("imports.log") == 1


def test_no_recording_finds_what_another_one_left(project: Project) -> None:
    """Each replay has the module as it is after its import: a cache in it does not make the suite flaky."""
    project.change("def close", "seen = []\n\n\ndef close")
    project.change("    notify(order, answer)\n", "    seen.append(notify(order, answer if not seen else 'again'))\n")
    code, data = project.suite(jobs=1)
    assert (code, data["held"]) == (0, 3)


def test_a_prompt_edit_fails_strict_with_the_step_and_passes_loose(project: Project) -> None:
    project.change("You are a shop.", "You are a friendly shop.")
    code, data = project.suite()
    assert (code, data["changed"]) == (1, 3)
    assert {problem["step"] for problem in problems(data)} == {2}
    assert all("{+friendly +}" in problem["message"] for problem in problems(data))
    code, data = project.suite(match="loose")
    assert (code, data["drifted"]) == (0, 3)
    assert "{+friendly +}" in data["results"][0]["drift"][0]


@pytest.mark.parametrize("match", ["strict", "loose"])
@pytest.mark.parametrize(
    ("before", "after", "step", "name"),
    [
        ("    notify(order, answer)\n", "", 3, "notify"),
        ("found = look_up(order)", 'found = {"status": "shipped"}', 1, "look_up"),
    ],
)
def test_a_dropped_tool_call_fails_strict_and_loose_with_the_step_named(
    project: Project, match: str, before: str, after: str, step: int, name: str
) -> None:
    project.change(before, after)
    code, data = project.suite(match=match)
    assert (code, data["changed"]) == (1, 3)
    problem = problems(data)[0]
    assert len(problems(data)) == 3
    assert (problem["kind"], problem["step"]) == ("unplayed", step)
    assert f"step {step}, tool {name}" in problem["message"] or f"step {step} ({name}" in problem["message"]


@pytest.mark.parametrize("match", ["strict", "loose"])
def test_a_new_tool_call_fails_strict_and_loose_at_the_line_of_the_agent(project: Project, match: str) -> None:
    project.change("    notify(order, answer)\n", "    notify(order, answer)\n    notify(order, 'once more')\n")
    code, data = project.suite(match=match)
    assert (code, data["changed"]) == (1, 3)
    assert "agent.py:" in problems(data)[0]["where"]


def test_another_result_fails_strict_and_is_told_in_loose(project: Project) -> None:
    project.change('{"answer": answer}', '{"answer": answer.upper()}')
    code, data = project.suite()
    assert (code, [problem["kind"] for problem in problems(data)]) == (1, ["result"] * 3)
    code, data = project.suite(match="loose")
    assert (code, data["drifted"]) == (0, 3)


@pytest.mark.parametrize("match", ["strict", "loose"])
def test_an_exception_that_was_not_there_fails(project: Project, match: str) -> None:
    """What the agent asks is as recorded, and only then does it fail: a success by its boundary alone."""
    project.change('    return {"answer": answer}', '    raise RuntimeError("after all was said")')
    code, data = project.suite(match=match)
    assert code == 1
    assert problems(data)[0]["kind"] == "outcome"
    assert "failure (RuntimeError) now" in problems(data)[0]["message"]


def test_a_match_can_be_said_for_some_recordings(project: Project) -> None:
    first, second, third = sorted(project.store())
    (project.folder / "runs" / "suite.toml").write_text(f'[recordings."{first}"]\nmatch = "loose"\n')
    project.change("You are a shop.", "You are a friendly shop.")
    code, data = project.suite()
    assert {each["name"]: each["outcome"] for each in data["results"]} == {
        first: "drifted",
        second: "changed",
        third: "changed",
    }
    assert code == 1


@pytest.mark.parametrize(
    "text", ['macth = "loose"', 'match = "lose"', "match =", '[recordings."shop-of-no-one"]\nmatch = "loose"']
)
def test_settings_that_are_not_usable_are_an_error_of_usage(project: Project, text: str) -> None:
    (project.folder / "runs" / "suite.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"suite\.toml"):
        read_suite(project.folder / "runs")


def test_nothing_to_play_is_no_success(project: Project) -> None:
    runs = project.folder / "runs"
    with pytest.raises(UsageError, match=r"no recording in .* has the name .*there is"):
        read_suite(runs, only=[project.store()[0][:-1]])
    shutil.rmtree(runs)
    for _ in range(2):
        assert project.type("suite", "runs").returncode == 2
        runs.mkdir(exist_ok=True)


def test_a_recording_that_was_changed_by_hand_is_not_played(project: Project) -> None:
    name = project.store()[0]
    path = project.folder / "runs" / f"{name}.playhead.jsonl"
    path.write_text(path.read_text().replace("shipped", "skipped"))
    code, data = project.suite()
    assert (code, data["broken"]) == (3, 1)
    assert "is not what was recorded" in problems(data)[0]["message"]


def test_a_module_that_cannot_be_imported_is_told_for_each_recording(project: Project) -> None:
    project.write("import nothing_of_this_name\n")
    code, data = project.suite()
    assert (code, data["broken"]) == (3, 3)
    assert all("nothing_of_this_name" in problem["message"] for problem in problems(data))


def test_a_replay_that_does_not_end_is_ended(project: Project) -> None:
    project.change("    found = look_up", "    while True:\n        pass\n    found = look_up")
    code, data = project.suite(limit_s=2, only=[project.store()[0]])
    assert (code, data["broken"]) == (3, 1)
    assert "more than 2 seconds" in problems(data)[0]["message"]


def test_a_process_that_dies_takes_no_other_recording_with_it(project: Project) -> None:
    project.change(
        "    found = look_up", "    import os\n    order == 'A-1' and os.kill(os.getpid(), 9)\n    found = look_up"
    )
    code, data = project.suite(jobs=1)
    assert (code, data["held"], data["broken"]) == (3, 2, 1)
    assert "SIGKILL" in problems(data)[0]["message"]


def test_a_module_that_starts_threads_is_played_in_processes_of_their_own(project: Project) -> None:
    """A fork would not have them."""
    project.write(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n" + AGENT
    )
    code, data = project.suite(jobs=1)
    assert (code, data["held"]) == (0, 3)
    assert project.lines("imports.log") == 4


def test_another_checkout_is_played_against_its_own_code(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "elsewhere" / "clone")
    shutil.copytree(project.folder / "runs", other.folder / "runs")
    code, data = other.suite()
    assert (code, data["held"]) == (0, 3)
    assert not (other.folder / ".playhead").exists()
    other.change("You are a shop.", "You are a friendly shop.")
    code, data = other.suite()
    assert code == 1
    assert str(other.folder) in problems(data)[0]["where"]
    shutil.rmtree(project.folder)
    other.write(AGENT)
    assert other.suite()[0] == 0


def test_recordings_of_whole_programs_and_of_main_modules_are_played(empty: Project) -> None:
    python = [sys.executable, "-m", "playhead.cli", "record", "--id", "whole-1", "--", "python", "agent.py", "2"]
    subprocess.run(python, cwd=empty.folder, env=environment(), check=True, capture_output=True)
    subprocess.run([sys.executable, "agent.py", "1"], cwd=empty.folder, env=environment(), check=True)
    runs = [word for name in empty.store() for word in ("--add", name)]
    assert empty.type("suite", "runs", *runs).returncode == 0
    empty.forget_logs()
    code, data = empty.suite()
    assert (code, data["held"]) == (0, 2), problems(data)
    empty.change("    notify(order, answer)\n", "")
    code, data = empty.suite(match="loose")
    assert (code, data["changed"]) == (1, 2)
    whole = next(each for each in data["results"] if each["name"] == "whole-1")
    assert [problem["step"] for problem in whole["problems"]] == [3, 6]


def test_what_was_recorded_under_a_random_hash_seed_is_played_under_one_that_stays(empty: Project) -> None:
    """Flaky is not allowed: the order of a set must not come out differently from one run of the suite to the next."""
    empty.write(AGENT.replace('return {"answer": answer}', 'return {"answer": list({str(n) for n in range(40)})}'))
    empty.record(1, PYTHONHASHSEED="random")
    first, second = empty.suite()[1], empty.suite()[1]
    assert problems(first) == problems(second)
