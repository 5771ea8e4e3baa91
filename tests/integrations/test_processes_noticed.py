"""Child processes are noticed, since what they observe is not in the recording."""

from __future__ import annotations

import ctypes.util
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import playhead


def test_a_child_of_the_program_is_noticed_and_a_look_at_the_machine_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Model SDKs describe the machine in a header, trio looks for a library: Python asks other programs for it."""
    monkeypatch.setattr(platform, "_uname_cache", None)
    with playhead.record(store=tmp_path) as run:
        platform.platform()
        ctypes.util.find_library("pthread")
    seen = playhead.load(run.id, store=tmp_path).finished
    assert seen is not None
    assert seen.unseen == {}
    with playhead.record(store=tmp_path) as run:
        subprocess.run([sys.executable, "-c", ""], check=True)
    seen = playhead.load(run.id, store=tmp_path).finished
    assert seen is not None
    assert seen.unseen == {"child process": 1}
