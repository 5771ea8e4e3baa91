"""The demo, as a person types it and as a program reads it."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import playhead

NEEDS_OPENAI = pytest.mark.skipif(find_spec("openai") is None, reason="openai is not installed")


def run(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a Python command in ``folder``, whose temporary files are there too."""
    sources = str(Path(playhead.__file__).parent.parent)
    wanted = {"PYTHONPATH": sources, "TMPDIR": str(folder), "COLUMNS": "120", **environment}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **wanted},
        capture_output=True,
        text=True,
        check=False,
    )


@NEEDS_OPENAI
def test_all_of_it_comes_out_as_told_and_the_recording_stays_to_go_on_with(tmp_path: Path) -> None:
    hostile = {"OPENAI_BASE_URL": "http://127.0.0.1:1", "TRIAGE_PROMPT": "v2", "PLAYHEAD_STORE": str(tmp_path / "no")}
    store = tmp_path / "kept"
    ended = run("-m", "playhead.cli", "demo", "--json", "--store", str(store), folder=tmp_path, **hostile)
    told = json.loads(ended.stdout)
    assert (ended.returncode, told["ok"]) == (0, True), ended.stdout + ended.stderr
    steps = {step["name"]: step for step in told["steps"]}
    assert list(steps) == ["record", "show", "strict", "patched", "loose"]
    assert steps["record"]["hits"] == 5
    assert (steps["strict"]["equal_output"], steps["strict"]["connections"]) == (True, 0)
    assert (steps["patched"]["exit_code"], steps["patched"]["paths"]) == (1, ["/messages/0/content"])
    assert (steps["loose"]["exit_code"], steps["loose"]["drift"]) == (0, [1, 3, 5, 7, 9])
    with playhead.load(told["run"], store=store) as recording:
        assert recording.outcome == "failure"
        assert len(recording.steps) == 9
        assert recording.verify().sealed
    assert not (tmp_path / "no").exists()


@NEEDS_OPENAI
@pytest.mark.sweep
def test_a_person_is_told_each_step_its_command_and_what_to_type_next(tmp_path: Path) -> None:
    ended = run("-m", "playhead.testing.demo", folder=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for told in (
        "$ playhead record --kind triage -- python agent.py",
        "$ TRIAGE_PROMPT=v2 playhead replay triage-",
        "/messages/0/content: ",
        "[-Be generous: a happy customer comes back-]{+Never promise what no tool has confirmed+}",
        "diverged at step 1",
        "drift at step 9",
        "All of it came out as told.",
    ):
        assert told in ended.stdout
    lines = ended.stdout.partition("Go on by yourself:\n")[2].replace("   $ ", "")
    typed = run(
        "-c", f"import subprocess, sys; sys.exit(subprocess.call({'set -e;' + lines!r}, shell=True))", folder=tmp_path
    )
    assert typed.returncode == 0, typed.stdout + typed.stderr
    assert "step 8 of 9 · tool issue_refund" in typed.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


def test_without_the_sdk_the_demo_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['openai'] = None; from playhead.testing.demo.__main__ import main; sys.exit(main([]))"
    )
    ended = run("-c", code, folder=tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "next: pip install 'playhead[demo]'" in ended.stderr
    assert list(tmp_path.iterdir()) == []
