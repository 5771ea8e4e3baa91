"""Projects with recordings, which are made once and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import environment
from tests.suite.projects import Project


@pytest.fixture(scope="session")
def _recorded(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("recorded") / "project")
    project.record(3)
    return project


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with an agent that has not run yet."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    return Project(tmp_path / "project")


@pytest.fixture
def project(_recorded: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with three recordings of its agent in the suite ``runs``."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    return _recorded.copy(tmp_path / "project")
