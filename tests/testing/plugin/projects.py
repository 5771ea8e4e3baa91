"""Projects with tests of their own, on which pytest is run in another process."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import playhead

SOURCES = str(Path(playhead.__file__).parent.parent)
AGENT = '''
import os
import playhead

@playhead.tool
def fetch(number):
    """Leaves a trace whenever it really runs."""
    with open(os.environ["LIVE"], "a") as file:
        file.write(f"{number}\\n")
    if os.environ.get("BREAK_AT") == str(number):
        raise ConnectionError("the service is down")
    return {"number": number, "drawn": os.urandom(4).hex()}
'''


class Project:
    """A folder with tests, and what the tool of its agent has really done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.live_file = folder.parent / f"{folder.name}-live.txt"
        folder.mkdir()
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "agent.py").write_text(AGENT)

    def write(self, **files: str) -> None:
        """Write test files; ``agent`` and ``pytest`` are imported in each."""
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"import pytest\nfrom agent import fetch\n{text}", encoding="utf-8")

    def pytest(self, *arguments: str, plugins: tuple[str, ...] = (), **environment: str) -> Outcome:
        """Run pytest on the project."""
        chosen = [part for name in ("_playhead_pytest", *plugins) for part in ("-p", name)]
        ended = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *chosen, *arguments],
            cwd=self.folder,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "PLAYHEAD_"))},
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTHONPATH": os.pathsep.join([SOURCES, str(self.folder)]),
                "LIVE": str(self.live_file),
                "COLUMNS": "200",
                "PYTHONDONTWRITEBYTECODE": "1",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return Outcome(ended)

    def record(self, *arguments: str, **environment: str) -> Outcome:
        """Record the marked tests."""
        return self.pytest("--playhead=record", *arguments, **environment)

    @property
    def live(self) -> list[str]:
        """What the tool has been called with, really, since the last look."""
        if not self.live_file.exists():
            return []
        lines = self.live_file.read_text().split()
        self.live_file.unlink()
        return lines

    @property
    def recordings(self) -> list[Path]:
        """The recordings of tests, wherever they are in the project."""
        return sorted(path for path in self.folder.rglob("*.playhead.jsonl") if ".playhead" not in path.parts)

    @property
    def kept(self) -> list[Path]:
        """The runs that are kept in the store of the project."""
        return sorted((self.folder / ".playhead" / "recordings").glob("*.playhead*"))


class Outcome:
    """How an inner pytest ended."""

    def __init__(self, ended: subprocess.CompletedProcess[str]) -> None:
        self.code = ended.returncode
        self.text = ended.stdout + ended.stderr
        last = next((line for line in reversed(ended.stdout.splitlines()) if " in " in line), "")
        self.counts = {
            word.rstrip("s"): int(count) for count, word in re.findall(r"(\d+) (\w+)", last.partition(" in ")[0])
        }

    def section(self, title: str) -> list[str]:
        """The lines under a heading that names ``title``, up to the next heading."""
        lines = self.text.splitlines()
        start = next(at for at, line in enumerate(lines) if title in line and line[:2] in ("==", "__"))
        end = next(at for at in range(start + 1, len(lines)) if lines[at][:2] in ("==", "__"))
        return lines[start + 1 : end]


def next_command(text: str) -> list[str]:
    """The words of the command after ``next:`` in an output."""
    line = next(line for line in text.splitlines() if line.strip("E ").startswith("next: "))
    return shlex.split(line.partition("next: ")[2])
