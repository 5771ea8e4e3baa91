"""In the parent: a recorded program is started again, and every call is answered from the recording."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program._launching import Ended, launch
from playhead._program._mailbox import Mailbox
from playhead._program._orders import NOWHERE, RUNNER, ForkOrder, Order, Stopping, variables
from playhead.errors import CorruptRecordingError, NoReportError, UsageError
from playhead.eventlog import Recording, printable
from playhead.events import Entry, NoteAdded, RunStarted
from playhead.player import Asked, Others, ReplayReport
from playhead.recorder import read_code
from playhead.stores import LocalStore

Match = Literal["strict", "loose"]


class Replayed(msgspec.Struct, frozen=True):
    """A program that was replayed: the ``report``, and the line of its own code ``where`` it diverged.

    ``captured`` lists reads of clock and chance that could not be caught. ``runs`` are the results of the runs within,
    and ``uncaught`` the exception that ended the program. In another order than recorded, ``completed`` are the
    exchanges, by their questions, as they ended. ``asked`` is all that was asked, where that was wanted.
    """

    report: ReplayReport
    ended: Ended
    where: str | None = None
    captured: tuple[str, ...] = ()
    runs: tuple[Any, ...] = ()
    uncaught: Any = None
    completed: tuple[int, ...] = ()
    live: int | None = None
    """Of a fork that came to its point: how many calls went live."""
    asked: tuple[Asked, ...] = ()


def replay_program(
    recording: Recording,
    store: Path,
    *,
    match: Match,
    command: Sequence[str] = (),
    normalisers: Sequence[Path] = (),
    stdout: int | None = None,
    stderr: int | None = None,
    hash_seed: str | None = None,
    instead: Sequence[int] | None = None,
    limit_s: float | None = None,
    stopping: Stopping = NOWHERE,
    stdin: int | None = None,
    meanwhile: Callable[[], None] | None = None,
    fork: ForkOrder | None = None,
    moved: Entry | None = None,
    attentive: bool = False,
    reexecute: bool = False,
) -> Replayed:
    """Start the program of a recording again, or ``command``, under replay; nothing goes live.

    ``normalisers`` are files. ``hash_seed`` is another one than recorded, and ``instead`` another order of all moments.
    After ``limit_s`` seconds the program is ended. ``stopping`` says where to stop, ``fork`` where to go live, and
    ``meanwhile`` is called while it runs. ``moved`` is the entry where its files have moved since; ``attentive`` asks
    for all that was asked; with ``reexecute`` another process of it runs again. Raises `UsageError` where the recording
    does not say what to start, `ProgramNotStartedError`, and `NoReportError` where the program died before its report.
    """
    started, path = find_start(recording, command)
    if moved is not None:
        started = msgspec.structs.replace(started, entry=moved)
    entry = _commanded(started.entry, command)
    _check_able(recording, stopping, reexecute=reexecute or (fork is not None and fork.reexecute))
    program = RUNNER if entry.form == "gateway" else tuple(command) or _program(recording.id, entry)
    seed = hash_seed or started.environment.hash_seed
    with Mailbox.make() as mailbox:
        order = replay_order(
            path, entry, store, mailbox, match=match, normalisers=normalisers,
            rearranged=instead is not None, stopping=stopping, fork=fork, attentive=attentive, reexecute=reexecute,
        )  # fmt: skip
        if instead is not None:
            mailbox.rearrange(instead)
        added = variables(order, path=program is not RUNNER)
        folder = None if command and moved is None else entry.folder
        added |= {"PYTHONHASHSEED": seed} if seed else {}
        streams: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        ended = launch(program, added, folder=folder, limit_s=limit_s, meanwhile=meanwhile, **streams)
        masker = make_masker(read_settings(store=str(store)), LocalStore(store).mask_key())
        return receive(mailbox, ended, recording, started, [masker.text(word) for word in command])


def replay_order(
    path: Path,
    entry: Entry,
    store: Path,
    mailbox: Mailbox,
    *,
    match: Match,
    normalisers: Sequence[Path] = (),
    **how: Any,
) -> Order:
    """What is asked of the process that replays the recording at ``path``; ``how`` are further fields of `Order`."""
    return Order(
        mode="replay",
        run=str(path.absolute()),
        store=str(store.absolute()),
        mailbox=str(mailbox.path),
        entry=entry,
        match=match,
        normalisers=tuple(str(file.absolute()) for file in normalisers),
        **how,
    )


def find_start(recording: Recording, command: Sequence[str] = ()) -> tuple[RunStarted, Path]:
    """How the run began, and its file; a child process does not begin by itself."""
    started = recording.started
    if started is None or recording.path is None:
        raise CorruptRecordingError(
            f"{printable(recording.id)} does not say what was run", next=f"playhead verify {printable(recording.id)}"
        )
    if started.starter is not None and not command:
        run, starter = printable(recording.id), printable(started.starter.run)
        raise UsageError(
            f"{run} is a child process of {starter}: it is replayed together with that, which starts it again",
            next=f"playhead replay {starter}",
        )
    return started, recording.path


def _check_able(recording: Recording, stopping: Stopping, *, reexecute: bool) -> None:
    """Raise `UsageError` here and now where the program could only be told that it cannot do what is asked."""
    for step in stopping.steps:
        recording.step(step)
    if reexecute:
        Others(recording)


def _commanded(entry: Entry, command: Sequence[str]) -> Entry:
    """The entry that the process which is started is told: behind a gateway another command can be run as well."""
    if entry.form != "gateway" or not command:
        return entry
    return msgspec.structs.replace(entry, argv=list(command), folder=os.getcwd())


def _program(run: str, entry: Entry) -> tuple[str, ...]:
    """What to start, by how the run was entered."""
    if entry.form == "program" and entry.argv:
        return tuple(entry.argv)
    if entry.form == "call":
        return RUNNER
    if _is_script(entry):
        return sys.executable, *entry.argv
    raise UsageError(
        f"{printable(run)} was recorded in a block of {printable(shlex.join(entry.argv) or 'a program')}, which does "
        "not say how it was started: say which program to run",
        next=f"playhead replay {printable(run)} -- python my_agent.py",
    )


def _is_script(entry: Entry) -> bool:
    """Whether the program of a recorded block is a file that Python can be given, and not one that leads to others."""
    path = Path(entry.folder or ".", entry.argv[0]) if entry.argv else Path()
    leads = path.name == "__main__.py" or "site-packages" in path.parts
    return path.suffix == ".py" and not leads and path.is_file()


def receive(
    mailbox: Mailbox, ended: Ended, recording: Recording, started: RunStarted, command: Sequence[str] = ()
) -> Replayed:
    """What a program that was replayed left in its mailbox. Raises `NoReportError` where that is nothing."""
    said = mailbox.read_report()
    if said is None:
        if mailbox.failure is not None:
            why = mailbox.failure
        elif not mailbox.claimed:
            why = f"the program ({ended}) started no Python that could be replayed"
        else:
            why = f"the program ended ({ended}) before it could report"
        run = printable(recording.id)
        raise NoReportError(f"there is no report of the replay of {run}: {why}", next=f"playhead show {run}")
    report = msgspec.convert(said["report"], ReplayReport)
    if mailbox.others:
        report.unseen["Python processes beside the first"] = mailbox.others
    report.warnings += _program_changes(started.entry, command)
    report.warnings += _code_changes(recording, started)
    if report.stopped_at is None and (report.divergence is None or report.divergence.kind == "unplayed"):
        report.warnings += _end_changes(recording, ended)
    return Replayed(
        report,
        ended,
        said.get("where"),
        tuple(said.get("captured", ())),
        tuple(said.get("runs", ())),
        said.get("uncaught"),
        tuple(said.get("completed", ())),
        said.get("live"),
        msgspec.convert(said.get("asked", ()), tuple[Asked, ...]),
    )


def _program_changes(entry: Entry, command: Sequence[str]) -> list[str]:
    if not command or _is_same(entry, command):
        return []
    recorded = " ".join(entry.argv) or entry.call or "nothing by name"
    return [f"another program: {' '.join(command)} now, {recorded} when recorded"]


def _is_same(entry: Entry, command: Sequence[str]) -> bool:
    """Whether a command line runs what was recorded; the interpreter's own name does not matter."""
    if entry.form == "gateway":
        return list(command) == entry.argv
    argv = entry.argv[1:] if entry.form == "program" else entry.argv
    if not argv:
        return list(command) == list(entry.argv)
    arguments = argv[1:]
    named = {Path(word).name for word in command}
    return Path(argv[0]).name in named and list(command[len(command) - len(arguments) :]) == arguments


def _code_changes(recording: Recording, started: RunStarted) -> list[str]:
    then = started.environment.code
    for event in recording.of_kind("note.added"):
        if isinstance(event.body, NoteAdded) and event.body.name == "code" and isinstance(event.body.details, dict):
            then = event.body.details
    now = read_code(started.entry.folder or os.getcwd()) if then else {}
    if not now or then.get("commit") == now.get("commit"):
        return []
    return [f"the code is at commit {str(now['commit'])[:10]} now, {str(then.get('commit'))[:10]} when recorded"]


def _end_changes(recording: Recording, ended: Ended) -> list[str]:
    """Where a program ended otherwise than when it was recorded."""
    finished, started = recording.finished, recording.started
    if finished is None or started is None:
        return []
    if not started.entry.is_command:
        return [] if str(ended) == "exit code 0" else [f"the program ended with {ended}"]
    then = finished.process_end
    return [] if str(ended) == then else [f"the program ended with {ended} now, with {then} when recorded"]
