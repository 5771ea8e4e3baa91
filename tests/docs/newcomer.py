"""A newcomer's shell, and pages of commands that are typed into it as they stand."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import playhead

BLOCK = re.compile(r'^```(\w+)(?: title="([\w.]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
TIME = re.compile(r"\d\d:\d\d:\d\d")
_PROVIDED = ("PLAYHEAD_", "OPENAI_", "GEMINI_", "GOOGLE_", "ANTIGRAVITY_", "PYTEST_")
ANYTHING = re.compile(r" ?… ?")


class Shell:
    """A bash that is fed one block of commands after the other."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._output = folder.parent / "output.txt"
        self._file = self._output.open("wb")
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._read = 0

    def do(self, commands: str) -> tuple[str, int]:
        """What a block of commands says, and the exit code of the last of them."""
        mark = f"done {uuid.uuid4().hex}"
        assert self._bash.stdin is not None
        self._bash.stdin.write(f"{commands}\necho {mark} $?\n".encode())
        self._bash.stdin.flush()
        said = self.wait_for(mark + r" (\d+)\n", within_s=300)
        return said.partition(mark)[0], int(said.split()[-1])

    def wait_for(self, pattern: str, *, within_s: float = 60) -> str:
        """The output from where it was read last, up to the end of what matches ``pattern``."""
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            new = self._output.read_bytes()[self._read :].decode()
            if found := re.search(pattern, new):
                self._read += len(new[: found.end()].encode())
                return new[: found.end()]
            time.sleep(0.02)
        raise AssertionError(f"{pattern!r} did not come in {within_s} s: {new}")

    def close(self) -> None:
        """End the shell and everything that it has started."""
        os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.wait()
        self._file.close()


@contextmanager
def open_shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in an empty folder, with the commands of this checkout and a ``pip`` that only says what it is asked."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, runs in {
        "python": f'exec "{sys.executable}" "$@"',
        "playhead": f'exec "{sys.executable}" -m playhead.cli "$@"',
        "pytest": f'exec "{sys.executable}" -m pytest -p _playhead_pytest "$@"',
        "pip": 'echo "pip $*"',
    }.items():
        (commands / name).write_text(f"#!/bin/sh\n{runs}\n")
        (commands / name).chmod(0o755)
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    kept = {name: text for name, text in os.environ.items() if not name.startswith(_PROVIDED)}
    ours = {
        "PATH": f"{commands}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": str(Path(playhead.__file__).parent.parent),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "COLUMNS": "100",
        "HOME": str(home),
        "TMPDIR": str(tmp_path),
    }
    running = Shell(folder, {**kept, **ours})
    try:
        yield running
    finally:
        running.close()


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def missing(wanted: str, said: str) -> list[str]:
    """The lines of ``wanted`` that do not stand in ``said`` in this order; ``…`` is anything, times are any time."""
    at = 0
    lost = []
    for line in wanted.splitlines():
        pattern = ANYTHING.sub("\0", TIME.sub("\1", line.strip()))
        pattern = re.escape(pattern).replace("\0", ".*").replace("\1", TIME.pattern)
        found = re.compile(pattern).search(said, at)
        at = found.end() if found else at
        lost += [] if found else [line]
    return lost


def follow(page: Path, tmp_path: Path, *, port: int, fails: tuple[str, ...]) -> list[str]:
    """Do what a page says, block by block, in a shell; what each block that the page shows the words of said.

    Programs are saved under their titles, commands typed, and what the page shows has to be what is said. ``port`` is
    the one that the page names. A block of commands ends with exit code 1 where one of ``fails`` is in it, else 0.
    """
    text = page.read_text(encoding="utf-8").replace(str(port), str(free_port()))
    blocks = [match.groups() for match in BLOCK.finditer(text)]
    assert text.count("\n```") == 2 * len(blocks)
    said, shown = "", []
    with open_shell(tmp_path) as shell:
        for kind, title, content in blocks:
            if kind == "python":
                (tmp_path / "project" / title).write_text(content, encoding="utf-8")
            elif kind == "sh":
                said, code = shell.do(content)
                assert code == any(each in content for each in fails), said
                if content.endswith("&\n"):
                    said += shell.wait_for(r"listens at \S+\n")
            else:
                assert missing(content, said) == [], said
                shown.append(said)
    return shown
