"""A project of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from playhead.testing import ModelServer, Text
from tests.testing.plugin.projects import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(tmp_path / "project")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says one thing."""
    with ModelServer(lambda request: Text("The order is on its way.")) as running:
        yield running
