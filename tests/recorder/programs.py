"""Small programs that record, run as processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import playhead
from playhead.eventlog import Recording, verify
from tests.eventlog.runs import child_env

START = """
import atexit, gc, os, signal, sys, threading, time, weakref
import playhead

STORE = sys.argv[1]

@playhead.tool
def work(number):
    return number

def recording(id="run-1", **about):
    return playhead.record(store=STORE, id=id, **about)

"""


class Program:
    """A program in a folder of its own; its recordings are in ``store`` there."""

    def __init__(self, folder: Path, code: str) -> None:
        self.store = folder / "store"
        file = folder / "program.py"
        file.write_text(START + dedent(code))
        self.command = [sys.executable, str(file), str(self.store)]

    def start(self) -> subprocess.Popen[str]:
        """Let it run; what it says comes through pipes."""
        return subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=child_env(),
        )  # fmt: skip

    def run(self, *, status: int = 0) -> tuple[str, str]:
        """Run it to its end, which has to be with ``status``; what it said on stdout and stderr."""
        with self.start() as process:
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == status, err
        return out, err

    def load(self, run: str = "run-1") -> Recording:
        """A recording that it made, whole as far as it goes."""
        recording = playhead.load(run, store=self.store)
        assert recording.path is not None
        assert verify(recording.path).status == "ok"
        assert [event.seq for event in recording] == list(range(len(recording)))
        return recording


def answers(recording: Recording) -> list[object]:
    """What the tools of a recording returned, in the order of their questions; unanswered ones are not there."""
    found: list[object] = []
    for exchange in recording.exchanges:
        if getattr(exchange.question.body, "child", None) is not None:
            continue
        assert exchange.answer is None or exchange.answer.of == exchange.question.seq
        if exchange.answer is not None:
            found.append(getattr(exchange.answer.body, "value", None))
    return found


def children(recording: Recording) -> list[str]:
    """The runs of the child processes that the program of a recording started."""
    asked = (getattr(exchange.question.body, "child", None) for exchange in recording.exchanges)
    return [child.run for child in asked if child is not None]
