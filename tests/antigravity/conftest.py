"""Agents of google-antigravity with its real harness, against a scripted model server."""

from importlib.util import find_spec

import pytest

if find_spec("google") is None or find_spec("google.antigravity") is None:
    collect_ignore_glob = ["test_*.py"]

    def pytest_report_header() -> str:
        return "antigravity: google-antigravity is not installed for this Python, tests/antigravity is left out"


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to work in, without any key in the environment."""
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTIGRAVITY_HARNESS_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path
