"""In the parent: starting a command with an order, and waiting for its end without standing in its way."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from playhead._system import ENVIRONMENT, random_bytes
from playhead.errors import ProgramNotStartedError
from playhead.eventlog import printable

_FORWARDED: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_OURS_TOO: Final = ("SIGINT", "SIGQUIT")
"""What a terminal sends to parent and child alike: the child decides what becomes of it."""

_GRACE_S: Final = 10.0


class Ended(msgspec.Struct, frozen=True):
    """How a command ended: with an exit ``code``, or by the ``signal`` of this name; ``late``: we sent that."""

    code: int
    signal: str | None = None
    late: bool = False

    @property
    def exit_code(self) -> int:
        """The code that a shell would give."""
        return self.code if self.signal is None else 128 + self.code

    def __str__(self) -> str:
        return self.signal or f"exit code {self.code}"


def launch(
    command: Sequence[str],
    added: dict[str, str],
    *,
    folder: str | None = None,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    limit_s: float | None = None,
    meanwhile: Callable[[], None] | None = None,
    attend: Callable[[subprocess.Popen[bytes]], None] | None = None,
) -> Ended:
    """Run ``command`` to its end with its environment as it is here and ``added``.

    Its input, output, terminal and process group are those of this process; signals reach it. ``meanwhile`` is
    called while it runs, and ``attend`` is given the child; ``limit_s`` seconds after that it is ended. Raises
    `ProgramNotStartedError` where it cannot be started.
    """
    environment = {**ENVIRONMENT, **added}
    with _passing_signals() as started:
        try:
            child = subprocess.Popen(
                list(command),
                env=environment,
                cwd=folder,
                close_fds=False,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                restore_signals=True,
            )
        except (OSError, ValueError) as error:
            raise not_started(command, error, folder) from error
        started(child)
        if attend is not None:
            attend(child)
        if meanwhile is not None:
            meanwhile()
        code, late = _await(child, limit_s)
    if code >= 0:
        return Ended(code, late=late)
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return Ended(-code, name, late)


def _await(child: subprocess.Popen[bytes], limit_s: float | None) -> tuple[int, bool]:
    """The code with which a child ends, and whether it had to be made to."""
    try:
        return child.wait(limit_s), False
    except subprocess.TimeoutExpired:
        child.terminate()
    try:
        return child.wait(_GRACE_S), True
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait(), True


def choose_hash_seed() -> str:
    """A seed for the order of sets, so that a replay can have the same: the environment's, or a random one."""
    named = ENVIRONMENT.get("PYTHONHASHSEED")
    if named and named != "random":
        return named
    return str(int.from_bytes(random_bytes(4)))


@contextmanager
def _passing_signals() -> Iterator[Any]:
    """While a child runs, signals are its own affair."""
    child: list[subprocess.Popen[bytes]] = []
    if threading.current_thread() is not threading.main_thread():  # only that one can take signals
        yield child.append
        return

    early: list[int] = []

    def forward(number: int, frame: Any) -> None:
        if number == signal.SIGINT and _in_foreground():
            return
        if child:
            child[0].send_signal(number)
        else:
            early.append(number)  # the child may run already, and who starts it be about to learn of it

    def started(process: subprocess.Popen[bytes]) -> None:
        child.append(process)
        for number in early:
            process.send_signal(number)

    before: dict[int, Any] = {}
    for name in (*_FORWARDED, *_OURS_TOO):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, forward)
    try:
        yield started
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether the terminal sends its Ctrl-C to our process group, and so to the child as well."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except (OSError, AttributeError):
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def not_started(command: Sequence[str], error: Exception, folder: str | None) -> ProgramNotStartedError:
    """Why a command could not be started, and what to type instead."""
    name = command[0]
    if folder is not None and not os.path.isdir(folder):
        return ProgramNotStartedError(
            f"the program was recorded in {printable(folder)}, which is not there",
            next="playhead replay RUN -- python my_agent.py",
        )
    path = shutil.which(name) or name
    if name.endswith(".py") and os.path.exists(name):
        why, then = f"{printable(name)} is a Python file and cannot be run by itself", ["python", *command]
    elif isinstance(error, FileNotFoundError) and not os.path.exists(path):
        why, then = f"there is no program {printable(name)}", ["python", "my_agent.py"]
    elif isinstance(error, PermissionError):
        why, then = f"{printable(path)} may not be run by this user", ["python", *command]
    else:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        why, then = f"{printable(name)} could not be started: {reason.lower()}", ["python", "my_agent.py"]
    return ProgramNotStartedError(
        f"{why}; nothing was recorded", next=f"playhead record -- {printable(' '.join(then[:2]))}"
    )
