"""Where the store of a project is."""

from __future__ import annotations

from pathlib import Path

import pytest

from playhead.stores import find_store


@pytest.fixture(autouse=True)
def _unnamed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAYHEAD_STORE", raising=False)


def test_it_is_beside_the_project(tmp_path: Path) -> None:
    inside = tmp_path / "src" / "deep"
    inside.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    assert find_store(inside) == tmp_path / ".playhead"


def test_one_that_is_there_goes_before_one_that_could_be(tmp_path: Path) -> None:
    inside = tmp_path / "packages" / "one"
    inside.mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (inside / "pyproject.toml").touch()
    assert find_store(inside) == inside / ".playhead"
    (tmp_path / ".playhead").mkdir()
    assert find_store(inside) == tmp_path / ".playhead"
    (inside / ".playhead").mkdir()
    assert find_store(inside) == inside / ".playhead"


def test_a_folder_of_that_name_beside_no_project_is_not_taken(tmp_path: Path) -> None:
    """Such as one in the home folder."""
    inside = tmp_path / "project"
    inside.mkdir()
    (tmp_path / ".playhead").mkdir()
    (inside / ".git").mkdir()
    assert find_store(inside) == inside / ".playhead"


def test_outside_a_project_it_is_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_store() == tmp_path / ".playhead"


def test_the_environment_can_name_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLAYHEAD_STORE", "~/kept")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_store(tmp_path) == tmp_path / "kept"
