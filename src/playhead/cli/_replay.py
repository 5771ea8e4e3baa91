"""``playhead replay``: the recorded program runs again, and every call is answered from the recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, match_option, normalisers_option, open_store, store_option
from playhead.cli._output import json_text, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead._program import Match, Replayed
    from playhead.player import ReplayReport
    from playhead.stores import LocalStore

_COLOURS = {
    "warning": "yellow",
    "drift": "cyan",
    "order": "cyan",
    "ambiguous": "yellow",
    "never": "red",
    "connection": "red",
    "not": "yellow",
}
"""By the first word of a line."""


@click.command("replay", **example("playhead replay triage-7f3a --match loose"))
@click.argument("run")
@match_option("questions")
@normalisers_option("as `playhead doctor --write-normalisers` writes them")
@click.option(
    "--permute",
    type=click.IntRange(min=1),
    metavar="N",
    help="Replay in N other orders as well, to see whether the outcome depends on a race.",
)
@click.option(
    "--break",
    "breaks",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="STEP",
    help="Stop in the debugger before this step is answered; can be given several times.",
)
@click.option("--until", type=click.IntRange(min=1), metavar="STEP", help="Replay to this step, and end there.")
@click.option(
    "--listen",
    type=click.IntRange(1, 65535),
    metavar="PORT",
    help="With --break: wait for an editor to attach there (debugpy), and stop in that.",
)
@click.option(
    "--live-after",
    type=click.IntRange(min=0),
    metavar="STEP",
    help="Go live after this step: `playhead fork RUN --at STEP`, which has more to choose.",
)
@click.option(
    "--reexecute",
    is_flag=True,
    help="Run the recorded agent's other process again, such as Antigravity's: models and tools answer as recorded.",
)
@click.option("--report", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report there, as JSON.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(
    run: str,
    match: Match,
    normalisers: tuple[Path, ...],
    permute: int | None,
    breaks: tuple[int, ...],
    until: int | None,
    listen: int | None,
    live_after: int | None,
    reexecute: bool,
    report: str | None,
    store: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Run a recorded program again, offline: every call is answered from the recording.

    --break stops in pdb, or what PYTHONBREAKPOINT names, at the agent's own line; `playhead.here` knows more there.
    Nothing goes live. Without PROGRAM, what was recorded is started again, in its folder. Exit code 1: it diverged,
    or in strict left something out, also where the program passed over that; with --permute also: its outcome
    depends on a race.
    """
    from playhead._program import Stopping, replay_program

    stopping = Stopping(breaks, until, listen)
    if permute is not None and stopping.steps:
        raise UsageError(
            "--permute replays to the end, in many orders", next=f"playhead replay {run} --permute {permute}"
        )
    if reexecute and (permute is not None or stopping.steps or live_after is not None):
        raise UsageError(
            "--reexecute replays to the end, once and in real time", next=f"playhead replay {run} --reexecute"
        )
    if listen is not None and not breaks:
        raise UsageError("--listen says where to stop", next=f"playhead replay {run} --break 1 --listen {listen}")
    place = open_store(store)
    how: dict[str, Any] = {"match": match, "command": command, "normalisers": normalisers}
    if live_after is not None:
        if permute is not None or stopping.steps:
            then = f"playhead fork {run} --at {live_after}"
            raise UsageError("a fork has one order, and goes on to its end", next=then)
        from playhead.cli._fork import fork_program

        return fork_program(place, run, live_after, report=report, as_json=as_json, **how)
    if permute is not None:
        return _permute(place, run, permute, report, as_json, **how)
    quiet = sys.stderr.fileno() if as_json else None
    done = replay_program(place.open(run), place.path, stdout=quiet, stopping=stopping, reexecute=reexecute, **how)
    text = json_text({**done.report.to_dict(), "where": done.where})
    if report is not None:
        write_report(report, text)
    if as_json:
        click.echo(text, nl=False)
    else:
        print_report(done)
    return 0 if done.report.ok else 1


def _permute(place: LocalStore, run: str, most: int, report: str | None, as_json: bool, **how: Any) -> int:
    from playhead.causality import read_graph
    from playhead.cli._permuted import as_data, print_orders
    from playhead.cli._permuting import permute
    from playhead.cli._tracing import Teller

    recording = place.open(run)
    graph = read_graph(recording)
    found = permute(recording, graph, place.path, most=most, **how)
    teller = Teller(recording, graph)
    text = json_text(as_data(found, teller))
    if report is not None:
        write_report(report, text)
    if as_json:
        click.echo(text, nl=False)
    else:
        if not found.recorded.report.ok:
            print_report(found.recorded)
        print_orders(found, teller)
    return 0 if found.recorded.report.ok and not found.depends else 1


def write_report(path: str, text: str) -> None:
    """Write a report to a file."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {path}: {error.strerror}", next="playhead replay RUN --report FILE"
        ) from error


def print_report(done: Replayed) -> None:
    """Tell a person what a replay found."""
    from playhead.eventlog import printable

    report = done.report
    lines = [line for text in report.lines() for line in text.split("\n")]
    told = report.divergence.message.count("\n") + 1 if report.divergence is not None else 0
    for number, line in enumerate(lines):
        colour = "red" if number >= len(lines) - told else _COLOURS.get(line.partition(" ")[0].rstrip(":"))
        click.secho(printable(line, limit=4000), fg=colour)
    if done.where is not None:
        click.echo(f"  asked at {printable(done.where)}")
    verdict, colour = _verdict(report)
    click.secho(verdict, fg=colour, bold=True)
    if report.divergence is not None and report.divergence.next:
        say(f"  next: {printable(report.divergence.next)}")


def _verdict(report: ReplayReport) -> tuple[str, str]:
    if not report.ok:
        if report.divergence is not None and report.divergence.kind == "refused":
            return "refused", "red"
        step = report.divergence.step if report.divergence is not None else None
        return ("diverged" if step is None else f"diverged at step {step}"), "red"
    if report.stopped_at is not None:
        return f"stopped at step {report.stopped_at}", "green"
    if report.identical:
        return "identical in all that was seen", "green"
    return "held, with the differences above", "green"
