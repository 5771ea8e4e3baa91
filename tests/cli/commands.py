"""The real command line, in a process of its own, as a person would type it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import playhead

SOURCE = Path(playhead.__file__ or "").parent.parent

AGENT = """
import os, random, signal, sys, time, uuid
from datetime import datetime

import playhead
from playhead.recorder import drain_all


@playhead.tool
def search(query):
    return [query, uuid.uuid4().hex]


@playhead.tool
def refund(amount):
    raise PermissionError(f"{amount} needs a manager")


print(datetime.now().isoformat(), random.random(), time.time())
print(search("parcel"))
try:
    refund(249)
except PermissionError as error:
    print("refused:", error)
for word in sys.argv[1:]:
    if word == "boom":
        raise ValueError("boom")
    if word == "exit":
        sys.exit(3)
    if word == "hard-exit":
        sys.stdout.flush()
        os._exit(7)
    if word.startswith("SIG"):
        sys.stdout.flush()
        if word in ("SIGKILL", "SIGSEGV"):
            drain_all()  # these end a process before anything could be written
        os.kill(os.getpid(), getattr(signal, word))
"""


def environment(**added: str) -> dict[str, str]:
    """The environment of a shell in which the tested playhead and its Python come first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLAYHEAD_", "COV_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {**kept, "PATH": path, "PYTHONPATH": str(SOURCE), "NO_COLOR": "1", "COLUMNS": "120", **added}


def type_in(folder: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``playhead`` with these words in a folder."""
    options.setdefault("env", environment())
    options.setdefault("timeout", 120)
    options.setdefault("capture_output", True)
    return subprocess.run([sys.executable, "-m", "playhead.cli", *words], cwd=folder, text=True, **options)


def write_agent(folder: Path, text: str = AGENT, name: str = "agent.py") -> Path:
    """Put a program into a folder."""
    path = folder / name
    path.write_text(text)
    return path


def record(folder: Path, *words: str, run: str = "run-1", **options: Any) -> subprocess.CompletedProcess[str]:
    """Record the agent of a folder under a known id."""
    return type_in(folder, "record", "--id", run, "--", "python", "agent.py", *words, **options)


def load(folder: Path, run: str = "run-1") -> playhead.Recording:
    """The recording of a run in a folder's own store."""
    return playhead.load(run, store=folder / ".playhead")
