"""A suite as tests of pytest."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.cli.commands import environment
from tests.suite.projects import Project


def run_pytest(project: Project, *words: str, plugins: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    chosen = [word for name in ("_playhead_pytest", *plugins) for word in ("-p", name)]
    env: Any = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    env = {name: value for name, value in env.items() if not name.startswith("PYTEST_X") and name != "PYTEST_ADDOPTS"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen, *words]
    return subprocess.run(command, cwd=project.folder, env=env, capture_output=True, text=True, timeout=120)


def test_each_recording_is_a_test_and_a_failure_names_the_step(project: Project) -> None:
    (project.folder / "test_other.py").write_text("def test_other(): pass\n")
    held = run_pytest(project, "--playhead-suite", "runs")
    assert held.returncode == 0, held.stdout
    assert "4 passed" in held.stdout
    project.change("    notify(order, answer)\n", "")
    name = project.store()[0]
    failed = run_pytest(project, "--playhead-suite", "runs", "-k", name)
    assert (failed.returncode, "1 failed, 3 deselected" in failed.stdout) == (1, True)
    assert "never asked: step 3, tool notify in lane main" in failed.stdout
    assert "Traceback" not in failed.stdout
    assert project.lines("live.log") == 0


def test_the_setting_holds_where_all_tests_are_run_and_in_parallel(project: Project) -> None:
    (project.folder / "pytest.ini").write_text("[pytest]\nplayhead_suite = runs\n")
    (project.folder / "test_other.py").write_text("def test_other(): pass\n")
    assert "4 passed" in run_pytest(project, "-n", "2", plugins=("xdist",)).stdout
    assert "1 passed" in run_pytest(project, "test_other.py").stdout


def test_a_folder_with_nothing_in_it_is_an_error(empty: Project) -> None:
    done = run_pytest(empty, "--playhead-suite", "runs")
    assert done.returncode == 4
    assert "no folder of recordings" in done.stderr
