"""The project file, the lock and the commands agree with what is there."""

from __future__ import annotations

import os
import re
import sys

import playhead
from tests.repo.house import PACKAGE, ROOT, SRC, read_project

PLUGIN = "_playhead_pytest"


LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


def read_locks() -> list[str]:
    """The lines of all locks."""
    return [line for lock in LOCKS for line in lock.read_text(encoding="utf-8").splitlines()]


def read_pinned() -> set[str]:
    """The names of the pinned packages."""
    return {line.partition("==")[0] for line in read_locks() if "==" in line}


def normalise(requirement: str) -> str:
    """The name in a requirement, as an index spells it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[<>=;!~]", requirement)[0]).lower()


def test_every_dependency_is_pinned() -> None:
    project = read_project()
    asked = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    for group in project["dependency-groups"].values():
        asked += [entry for entry in group if isinstance(entry, str)]
    assert {normalise(entry) for entry in asked} - {"playhead"} - read_pinned() == set()


def test_the_lock_pins_exactly() -> None:
    assert [line for line in read_locks() if not re.match(r"[a-z0-9.-]+==[\w.!+]+( ; .+)?$", line)] == []


def test_every_package_stands_on_a_floor() -> None:
    contract = read_project()["tool"]["importlinter"]["contracts"][0]
    known = set(re.findall(r"\w+", " ".join(contract["layers"]))) | {"gateway", "integrations"}
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - known == set()


def test_the_version_is_written_once() -> None:
    assert "version" in read_project()["project"]["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", playhead.__version__)


def test_the_pytest_plugin_is_declared_if_it_is_there() -> None:
    """Declared without its file it would stop every pytest in the environment; undeclared it would never load."""
    declared = read_project()["project"].get("entry-points", {}).get("pytest11", {})
    there = (SRC / f"{PLUGIN}.py").exists()
    assert declared == ({"playhead": PLUGIN} if there else {})


def test_ci_runs_exactly_make_test() -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
    assert os.access(script, os.X_OK)


def test_this_interpreter_is_a_supported_one() -> None:
    assert f"Programming Language :: Python :: 3.{sys.version_info.minor}" in read_project()["project"]["classifiers"]
