"""Child processes whose inside is not seen are noticed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import ctypes.util, json, platform, subprocess, sys
import playhead

def look_at_the_machine():
    platform.platform()
    ctypes.util.find_library("pthread")

def start_a_child():
    subprocess.run([sys.executable, "-I", "-c", ""], check=True)

unseen = []
for program in (look_at_the_machine, start_a_child):
    with playhead.record(store="store") as run:
        program()
    unseen.append(playhead.load(run.id, store="store").finished.unseen)
print(json.dumps(unseen))
"""


def test_a_child_of_the_program_is_noticed_and_a_look_at_the_machine_is_not(tmp_path: Path) -> None:
    """Model SDKs describe the machine in a header, trio looks for a library: Python asks other programs for it.

    In a process of its own, since a run also lists what other modules of its process have captured.
    """
    (tmp_path / "agent.py").write_text(PROGRAM)
    ended = subprocess.run(
        [sys.executable, "agent.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == [{}, {"child process": 1}]
