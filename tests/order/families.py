"""Programs that start children, each run as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import playhead
from playhead.eventlog import Recording
from playhead.stores import LocalStore
from tests.eventlog.runs import child_env

FRAME = """
import asyncio, json, multiprocessing, os, random, signal, subprocess, sys, time
import concurrent.futures
import playhead

@playhead.tool
def look_up(key):
    time.sleep(random.random() * 0.02)
    return f"value of {key}"

def start(*words, **about):
    return subprocess.Popen([sys.executable, "child.py", *words], **about)

def ready(*words):
    child = start(*words, stdout=subprocess.PIPE)
    child.stdout.readline()
    return child

def output(*words):
    return subprocess.run([sys.executable, "child.py", *words], stdout=subprocess.PIPE, text=True).stdout

"""

DRIVER = """
if __name__ == "__main__":
    mode, store, name = sys.argv[1:4]
    if mode == "record":
        with playhead.record(id=name, store=store):
            given = agent()
        print("GIVEN " + json.dumps(given))
    else:
        replay = playhead.replay(name, store=store, match=mode)
        error = None
        given = None
        try:
            with replay:
                given = agent()
        except playhead.errors.PlayheadError as raised:
            error = raised.message
        print("GIVEN " + json.dumps(given))
        print("REPORT " + json.dumps({**replay.report.to_dict(), "error": error}))
"""


class Family:
    """A program and the children that it starts, in a folder of their own; each call is a process of its own."""

    def __init__(self, folder: Path, agent: str, child: str = "") -> None:
        self.folder = folder
        self.change(agent, child)

    def change(self, agent: str, child: str) -> None:
        (self.folder / "agent.py").write_text(FRAME + dedent(agent) + DRIVER)
        (self.folder / "child.py").write_text(FRAME + dedent(child))

    def record(self, name: str = "run-1") -> Any:
        return self._run("record", name)["GIVEN"]

    def replay(self, name: str = "run-1", *, match: str = "strict") -> tuple[Any, dict[str, Any]]:
        said = self._run(match, name)
        return said["GIVEN"], said["REPORT"]

    def load(self, name: str = "run-1") -> Recording:
        return playhead.load(name, store=self.folder / "store")

    def children(self, name: str = "run-1") -> list[Recording]:
        asked = [exchange.question.body for exchange in self.load(name).exchanges]
        runs = [body.child.run for body in asked if getattr(body, "child", None) is not None]
        made = [summary.run for summary in LocalStore(self.folder / "store").list()]
        return [self.load(run) for run in runs if run in made]

    def _run(self, mode: str, name: str) -> dict[str, Any]:
        command = [sys.executable, "agent.py", mode, "store", name]
        ended = subprocess.run(
            command, cwd=self.folder, env=child_env(), capture_output=True, text=True, check=False, timeout=100
        )
        said = {}
        for line in ended.stdout.splitlines():
            head, _, rest = line.partition(" ")
            if head in ("GIVEN", "REPORT"):
                said[head] = json.loads(rest)
        assert "GIVEN" in said, ended.stderr
        return said
