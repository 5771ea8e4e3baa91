"""A program at a real terminal: what is typed, and what stands on the screen."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.commands import environment

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal:
    """``playhead`` with these words, whose input, output and errors are one terminal."""

    def __init__(self, folder: Path, *words: str, **added: str) -> None:
        self._ours, theirs = pty.openpty()
        self._program = subprocess.Popen(
            [sys.executable, "-m", "playhead.cli", *words],
            cwd=folder,
            env=environment(TERM="dumb", **added),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.screen = ""
        self._read = 0

    def read_until(self, text: str, *, within_s: float = 60) -> str:
        """What comes up to ``text``, from where it was read last."""
        end = time.monotonic() + within_s
        while text not in self.screen[self._read :]:
            if time.monotonic() > end or not self._take(end):
                raise AssertionError(f"{text!r} did not come: {self.screen[self._read :]!r}")
        at = self.screen.index(text, self._read) + len(text)
        found, self._read = self.screen[self._read : at], at
        return found

    def type_in(self, line: str, *, until: str) -> str:
        """Type a line; what is answered up to the next prompt ``until``."""
        os.write(self._ours, line.encode() + b"\n")
        return self.read_until(until).removeprefix(line).removesuffix(until).strip()

    def wait(self) -> int:
        """Read to the end; the exit code."""
        while self._take(time.monotonic() + 60):
            pass
        code = self._program.wait(60)
        os.close(self._ours)
        return code

    @property
    def rest(self) -> str:
        """What has not been read yet."""
        return self.screen[self._read :]

    def _take(self, end: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux, where nobody holds the other end any more
            return False
        self.screen += _COLOURS.sub("", data.decode(errors="replace")).replace("\r\n", "\n")
        return bool(data)
