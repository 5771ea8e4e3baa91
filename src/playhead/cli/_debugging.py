"""A session of `playhead debug`: commands at a prompt, and one process after the other that is replayed for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program import Match, Replayed, Reply, Stopping, replay_program
from playhead.cli._debug_words import (
    HELP,
    describe_step,
    print_difference,
    print_returns,
    print_state,
    print_step_context,
    print_why,
)
from playhead.cli._driving import Driven, show_output
from playhead.cli._output import error_lines, say
from playhead.cli._replay import print_report
from playhead.cli._step import print_step
from playhead.cli._verbs import VERBS
from playhead.errors import PlayheadError, UsageError
from playhead.eventlog import Recording, printable
from playhead.stores import LocalStore

_SHORT: Final = {
    "n": "next",
    "b": "back",
    "g": "goto",
    "p": "print",
    "w": "where",
    "q": "quit",
    "l": "locals",
    "h": "help",
}
_GRACE_S: Final = 5.0
QUIT: Final = -1


class Debugging:
    """Where the person stands: before the answer of step ``at``, or after the last one where the program has ended."""

    def __init__(self, recording: Recording, store: Path, *, match: Match, command: Sequence[str] = ()) -> None:
        self._recording = recording
        self._store = store
        self._match = match
        self._command = command
        self._masker = make_masker(read_settings(store=str(store)), LocalStore(store).mask_key())
        self._last = len(recording.steps)
        self._at = 1
        self._driven: Driven | None = None
        self._printed = 0
        self._failed = False
        self._diverged = False
        self._lines = _read_lines()

    def run(self, step: int) -> int:
        """Begin before ``step``; the exit code."""
        say(f"{printable(self._recording.id)}: {self._last} steps; `help` lists what can be typed")
        target: int = step
        while target != QUIT:
            target = self._play(target)
        return 1 if self._diverged else 2 if self._failed else 0

    def _play(self, target: int) -> int:
        """Replay in a fresh process up to ``target``, and do there what is typed; where to go after that."""
        after: list[int] = []
        with Driven(show_output, known=self._printed) as driven:

            def meanwhile() -> None:
                self._driven = driven
                if self._arrive(driven.begin()):
                    after.append(self._prompt())
                driven.leave()

            done = replay_program(
                self._recording, self._store, match=self._match, command=self._command, meanwhile=meanwhile,
                stdin=subprocess.DEVNULL, stdout=driven.printer, stderr=driven.printer, limit_s=_GRACE_S,
                stopping=Stopping(breaks=(target,) if target else (), control=driven.control),
            )  # fmt: skip
            self._driven = None
            if not after or after[0] == 0:
                driven.drain()
            self._printed = max(self._printed, driven.printed)
        if after and after[0] != 0:
            return after[0]
        return self._end(done)

    def _arrive(self, reply: Reply | None) -> bool:
        """Tell where the program is stopped; ``False`` where it has ended."""
        if reply is None or reply.stopped is None:
            return False
        self._at = reply.stopped
        click.secho(describe_step(self._recording, self._at), bold=True)
        self._tell(reply.lines, indent=2)
        return True

    def _end(self, done: Replayed) -> int:
        """The program has ended by itself."""
        self._at = self._last + 1
        self._diverged = not done.report.ok
        print_report(done)
        return self._prompt()

    def _prompt(self) -> int:
        """Carry out commands until one needs a fresh process: its step, 0 for the end, or `QUIT`."""
        for line in self._lines:
            word, _, rest = line.strip().partition(" ")
            if not word:
                continue
            try:
                target = self._do(_SHORT.get(word, word), rest.strip())
            except PlayheadError as error:
                self._failed = self._failed or not sys.stdin.isatty()
                for text in error_lines(error):
                    say(text)
                continue
            if target is not None:
                return target
        return QUIT

    def _do(self, word: str, rest: str) -> int | None:
        match word:
            case "next" | "back":
                amount = _number(rest) if rest else 1
                return self._go(self._at + (amount if word == "next" else -amount))
            case "goto":
                return self._go(self._last + 1 if rest == "end" else self._recording.step(_number(rest)).step or 0)
            case "quit":
                return QUIT
            case "help":
                click.echo(HELP)
            case "locals" | "where" | "print":
                self._tell(self._ask(word, rest))
            case "edit" | "fork":
                self._call_verb(word, rest)
            case _:
                self._show(word, rest)
        return None

    def _show(self, word: str, rest: str) -> None:
        """What the recording itself knows."""
        step = min(self._at, self._last)
        shown: dict[str, Callable[[], Any]] = {
            "context": lambda: print_step_context(self._recording, step),
            "show": lambda: print_step(self._recording, self._recording.step(_number(rest) if rest else step)),
            "returns": lambda: print_returns(self._recording, self._at),
            "state": lambda: print_state(self._recording, step),
            "why": lambda: print_why(self._recording, step),
            "diff": lambda: print_difference(self._recording, *_numbers(rest)),
        }
        if word not in shown:
            raise UsageError(f"there is no command {printable(word)!r}", next="help")
        shown[word]()

    def _go(self, step: int) -> int | None:
        """Go on in the process that there is, or have a fresh one."""
        if step < 1:
            raise UsageError("steps count from 1", next="goto 1")
        driven, target = self._driven, 0 if step > self._last else step
        ahead = driven.at.ahead if driven is not None and driven.at is not None else ()
        if driven is None or driven.at is None or (target and (target <= self._at or target in ahead)):
            return target
        return None if self._arrive(driven.go(target)) else 0

    def _ask(self, word: str, rest: str) -> Sequence[str]:
        if word == "print" and not rest:
            raise UsageError("print needs an expression", next="print EXPR")
        if self._driven is None or self._driven.at is None:
            raise UsageError("the program has ended, and has no frames any more", next="back")
        return self._driven.ask(word, rest)

    def _call_verb(self, word: str, rest: str) -> None:
        """``edit`` and ``fork`` are verbs of their own, for the step where the program is stopped."""
        import shlex

        step = str(min(self._at, self._last))
        named, own = "--step" if word == "edit" else "--at", shlex.split(rest)
        words = [self._recording.id, *([] if named in own else [named, step]), *own]
        typed = f"playhead {word} {shlex.join(words)}"
        if word not in VERBS:
            raise UsageError(f"{word} is not a part of this version of playhead", next=typed)
        from playhead.cli._main import group

        say(typed)
        group.main([word, *words, "--store", str(self._store)], prog_name="playhead", standalone_mode=False)

    def _tell(self, lines: Sequence[str], *, indent: int = 0) -> None:
        for line in lines:
            for each in self._masker.text(line).split("\n"):
                click.echo(" " * indent + printable(each, limit=10_000))


def _read_lines() -> Iterator[str]:
    """What is typed, with a prompt at a terminal; what comes by a pipe is repeated, so that the answers can be read."""
    if sys.stdin.isatty():
        import readline  # noqa: F401

        while True:
            try:
                yield input("(playhead) ")
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:
                click.echo()
    else:
        for line in sys.stdin:
            click.echo(f"(playhead) {line.rstrip()}")
            yield line


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{printable(text)!r} is not the number of a step", next="goto 1")
    return int(text)


def _numbers(text: str) -> tuple[int, int]:
    words = text.split()
    if len(words) != 2:
        raise UsageError("diff takes two steps", next="diff 1 2")
    return _number(words[0]), _number(words[1])
