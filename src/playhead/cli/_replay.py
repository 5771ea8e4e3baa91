"""``playhead replay``: the recorded program runs again, and every call is answered from the recording."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import CorruptRecordingError, NoReportError, UsageError

if TYPE_CHECKING:
    from playhead._program import Ended, Mailbox
    from playhead.eventlog import Recording
    from playhead.events import Entry, RunStarted
    from playhead.player import ReplayReport

Match = Literal["strict", "loose"]


@click.command(
    "replay",
    context_settings={"allow_interspersed_args": True},
    **example("playhead replay triage-7f3a --match loose"),
)
@click.argument("run")
@click.option(
    "--match",
    type=click.Choice(["strict", "loose"]),
    default="strict",
    show_default=True,
    help="Whether questions must be equal, or only the same in other words.",
)
@click.option(
    "--report", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Write the report as JSON."
)
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(
    run: str, match: Match, report: str | None, store: str | None, as_json: bool, command: tuple[str, ...]
) -> int:
    """Run a recorded program again, offline: every call is answered from the recording.

    Nothing goes live. Without PROGRAM, what was recorded is started again, in its folder. Exit code 1: it
    diverged, or in strict left something out, also where the program passed over that.
    """
    place = open_store(store)
    recording = place.open(run)
    found, _ = replay_outside(recording, str(place.path), match=match, command=command, quiet=as_json)
    if report is not None:
        _write(report, found)
    if as_json:
        print_json(found.to_dict())
    else:
        _print_report(found)
    return 0 if found.ok else 1


def replay_outside(
    recording: Recording,
    store: str,
    *,
    match: Match,
    command: tuple[str, ...] = (),
    quiet: bool = False,
    hash_seed: str | None = None,
) -> tuple[ReplayReport, list[str]]:
    """Replay a recording in a process of its own; gives its report and the reads that could not be caught.

    ``quiet`` sends what the program prints to stderr; ``hash_seed`` is another one than recorded. Raises
    `NoReportError` where there is no report.
    """
    from playhead._program import Mailbox, Order, launch, variables

    started = recording.started
    if started is None or recording.path is None:
        raise CorruptRecordingError(f"{recording.id} does not say what was run", next=f"playhead verify {recording.id}")
    program, entry = _program(recording.id, started, command)
    with Mailbox.make() as mailbox:
        order = Order(
            mode="replay",
            run=str(recording.path.absolute()),
            store=os.path.abspath(store),
            mailbox=str(mailbox.path),
            entry=entry,
            match=match,
        )
        seed = hash_seed or started.environment.hash_seed
        added = {**variables(order), **({"PYTHONHASHSEED": seed} if seed else {})}
        folder = None if command else started.entry.folder
        ended = launch(program, added, folder=folder, stdout=sys.stderr.fileno() if quiet else None)
        return _receive(mailbox, ended, recording, command)


def _program(run: str, started: RunStarted, command: tuple[str, ...]) -> tuple[tuple[str, ...], Entry]:
    """What to start, by how the run was entered."""
    entry = started.entry
    if command:
        return command, entry
    if entry.form == "program" and entry.argv:
        return tuple(entry.argv), entry
    if entry.form == "call":
        return (sys.executable, "-m", "playhead._program"), entry
    recorded = " ".join(entry.argv) or "my_agent.py"
    raise UsageError(
        f"{run} was recorded in a block of a program: say which program to run, there is no entry point to call",
        next=f"playhead replay {run} -- python {recorded}",
    )


def _receive(
    mailbox: Mailbox, ended: Ended, recording: Recording, command: tuple[str, ...]
) -> tuple[ReplayReport, list[str]]:
    import msgspec

    from playhead.player import ReplayReport

    said = mailbox.read_report()
    if said is None:
        if mailbox.failure is not None:
            why = mailbox.failure
        elif not mailbox.claimed:
            why = f"the program ({ended}) started no Python that could be replayed"
        else:
            why = f"the program ended ({ended}) before it could report"
        raise NoReportError(
            f"there is no report of the replay of {recording.id}: {why}", next=f"playhead show {recording.id}"
        )
    report = msgspec.convert(said["report"], ReplayReport)
    if mailbox.others:
        report.unseen["Python processes beside the first"] = mailbox.others
    report.warnings += _warnings(recording, ended, command, report)
    return report, list(said.get("captured", ()))


def _warnings(recording: Recording, ended: Ended, command: tuple[str, ...], report: ReplayReport) -> list[str]:
    """What is not as it was recorded and is no crossing: the program, its code, how it ended."""
    started = recording.started
    assert started is not None
    found = []
    entry = started.entry
    if command and not _same_program(entry, command):
        recorded = " ".join(entry.argv) or entry.call or "nothing by name"
        found.append(f"another program: {' '.join(command)} now, {recorded} when recorded")
    finished = recording.finished
    if entry.form == "program" and not command and report.divergence is None and finished is not None:
        now = "success" if ended.signal is None and ended.code == 0 else str(ended)
        then = finished.reason if finished.reason and finished.reason.startswith(("exit code", "SIG")) else "success"
        if now != then:
            found.append(f"the program ended with {now} now, {then} when recorded")
    return found + _code_changes(started)


def _code_changes(started: RunStarted) -> list[str]:
    from playhead.recorder import read_code

    then = started.environment.code
    now = read_code(started.entry.folder or os.getcwd())
    if not then or not now or then.get("commit") == now.get("commit"):
        return []
    return [f"the code is at commit {str(now['commit'])[:10]} now, {str(then.get('commit'))[:10]} when recorded"]


def _same_program(entry: Entry, command: tuple[str, ...]) -> bool:
    """Whether a command line runs what was recorded; the interpreter's own name does not matter."""
    argv = entry.argv[1:] if entry.form == "program" else entry.argv
    if not argv:
        return list(command) == list(entry.argv)
    named = [Path(word).name for word in command]
    return Path(argv[0]).name in named and list(command[-len(argv) + 1 :] if len(argv) > 1 else ()) == argv[1:]


def _write(path: str, report: ReplayReport) -> None:
    import json

    try:
        Path(path).write_text(json.dumps(report.to_dict(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {path}: {error.strerror}", next="give another FILE"
        ) from error


def _print_report(report: ReplayReport) -> None:
    from playhead.eventlog import printable

    colours: dict[str, Any] = {
        "warning": "yellow",
        "drift": "cyan",
        "order": "cyan",
        "ambiguous": "yellow",
        "never": "red",
        "connection": "red",
        "not": "yellow",
    }
    lines = report.lines()
    tail = report.divergence.message.split("\n") if report.divergence is not None else []
    for line in lines[: len(lines) - bool(tail)]:
        click.echo(click.style(printable(line, limit=4000), fg=colours.get(line.split(" ")[0].rstrip(":"))))
    for line in tail:
        click.echo(click.style(printable(line, limit=4000), fg="red"))
    verdict, colour = _verdict(report)
    click.echo(click.style(verdict, fg=colour, bold=True))
    if report.divergence is not None and report.divergence.next:
        say(f"  next: {printable(report.divergence.next)}")


def _verdict(report: ReplayReport) -> tuple[str, str]:
    if not report.ok:
        step = report.divergence.step if report.divergence is not None else None
        return ("diverged" if step is None else f"diverged at step {step}"), "red"
    if report.identical:
        return "identical in all that was seen", "green"
    return "held, with the differences above", "green"
