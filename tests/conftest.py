"""What tests of several packages stand on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, max_examples=50)
settings.register_profile("exploring")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
# What decides whether a change is taken gives the same answer each time; `make test-all` goes where nobody has been.


@pytest.fixture
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which everything that the test records is kept: one of its own."""
    folder = tmp_path / "store"
    monkeypatch.setenv("PLAYHEAD_STORE", str(folder))
    return folder
