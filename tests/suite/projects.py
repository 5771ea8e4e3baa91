"""A project with an agent and a folder of its recordings, for the tests of suites."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from playhead._program import play_suite
from playhead.cli._main import run
from playhead.cli._suite import as_data
from playhead.stores import LocalStore
from playhead.suite import read_suite
from tests.cli.commands import environment, type_in

AGENT = """
import sys
import uuid

import playhead

with open("imports.log", "a") as log:
    log.write("imported\\n")

PROMPT = "You are a shop."


@playhead.model
def ask(prompt, said):
    open("live.log", "a").write("asked\\n")
    return f"answer to {said[-1]}"


@playhead.tool
def look_up(order):
    open("live.log", "a").write("looked\\n")
    return {"order": order, "status": "shipped", "id": uuid.uuid4().hex}


@playhead.tool
def notify(order, text):
    open("live.log", "a").write("notified\\n")
    return "sent"


def close():
    return None


@playhead.agent(kind="shop")
def shop(order):
    found = look_up(order)
    answer = ask(PROMPT, [f"where is {order}?", found["status"]])
    notify(order, answer)
    return {"answer": answer}


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        shop(f"A-{number}")
"""

RUN = "import sys, agent\nfor n in range(int(sys.argv[1])): agent.shop(f'A-{n}')"


class Project:
    """A folder with `agent.py`, its store, and the suite ``runs``."""

    def __init__(self, folder: Path, agent: str = AGENT) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text("")
        self.write(agent)

    def copy(self, folder: Path) -> Project:
        """The same in another folder, as another checkout has it, with the store."""
        shutil.copytree(self.folder, folder)
        return Project(folder, (folder / "agent.py").read_text())

    def write(self, agent: str) -> None:
        """Have another agent."""
        (self.folder / "agent.py").write_text(agent)

    def change(self, before: str, after: str) -> None:
        """Change the agent at one place."""
        text = (self.folder / "agent.py").read_text()
        assert text.count(before) == 1, before
        self.write(text.replace(before, after))

    def record(self, count: int = 1, **added: str) -> list[str]:
        """Run the agent so often, live, and add the recordings to the suite; gives their names."""
        known = set(self.store())
        env = environment(**added)
        subprocess.run([sys.executable, "-c", RUN, str(count)], cwd=self.folder, env=env, check=True)
        new = sorted(set(self.store()) - known)
        done = self.type("suite", "runs", *[word for name in new for word in ("--add", name)])
        assert done.returncode == 0, done.stderr
        self.forget_logs()
        return new

    def store(self) -> list[str]:
        """The ids of the runs in the store."""
        return [path.name.removesuffix(".playhead") for path in self.folder.glob(".playhead/recordings/*.playhead")]

    def forget_logs(self) -> None:
        """Forget what was imported and what went live so far."""
        for name in ("imports.log", "live.log"):
            (self.folder / name).unlink(missing_ok=True)

    def lines(self, name: str) -> int:
        """How many lines a log has."""
        path = self.folder / name
        return len(path.read_text().splitlines()) if path.exists() else 0

    def type(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run ``playhead`` here: in this process, unless ``options`` say how another one is to be started."""
        if options:
            return type_in(self.folder, *words, stdin=subprocess.DEVNULL, **options)
        out, err = io.StringIO(), io.StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            run([*words, *(("--jobs", "1") if words[0] == "suite" else ())])
        code = ended.value.code
        assert isinstance(code, int)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def suite(self, *, match: Any = None, only: Sequence[str] = (), **how: Any) -> tuple[int, dict[str, Any]]:
        """Play the suite as the command line does; exit code and data. Nothing has gone live."""
        runs = self.folder / "runs"
        how.setdefault("jobs", 1)
        store = LocalStore(self.folder / ".playhead")
        summary = play_suite(read_suite(runs, match=match, only=only), store, folder="runs", **how)
        assert self.lines("live.log") == 0
        return summary.exit_code, as_data(summary)


def problems(data: dict[str, Any]) -> list[dict[str, Any]]:
    """All that a suite fails by."""
    return [problem for result in data["results"] for problem in result.get("problems", ())]
