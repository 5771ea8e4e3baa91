"""What tests of several packages stand on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which everything that the test records is kept: one of its own."""
    folder = tmp_path / "store"
    monkeypatch.setenv("PLAYHEAD_STORE", str(folder))
    return folder
