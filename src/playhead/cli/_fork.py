"""``playhead fork``: a replay up to a step that then goes live, into a new recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from playhead.cli._options import as_json, example, match_option, normalisers_option, open_store, store_option
from playhead.cli._output import json_text, say

if TYPE_CHECKING:
    from playhead._program import Match
    from playhead.stores import LocalStore


@click.command("fork", **example("playhead fork triage-7f3a --at 12 --recorded tool"))
@click.argument("run")
@click.option("--at", type=click.IntRange(min=0), required=True, metavar="STEP", help="The last step that is recorded.")
@click.option("--live", metavar="BOUNDARIES", help="What goes live: of model,tool,http,wrap. Default: all.")
@click.option("--recorded", metavar="BOUNDARIES", help="What is answered from the recording, by what is asked.")
@click.option("--cross-version", is_flag=True, help="Ask models that the recording did not ask, too.")
@click.option(
    "--allow-side-effects", multiple=True, metavar="TOOL", help="Let this tool go live, though it changes something."
)
@click.option(
    "--reexecute",
    is_flag=True,
    help="Run the agent's other process again from the beginning, such as Antigravity's: it holds what it knows.",
)
@match_option("questions before the point")
@normalisers_option("as in a replay")
@click.option("--id", "new_id", metavar="ID", help="The id of the new recording.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(
    run: str,
    at: int,
    live: str | None,
    recorded: str | None,
    cross_version: bool,
    allow_side_effects: tuple[str, ...],
    reexecute: bool,
    match: Match,
    normalisers: tuple[Path, ...],
    new_id: str | None,
    store: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Replay a run up to a step, then go live, into a new recording.

    Up to and with step --at the program is answered from the recording; what it asks then is asked for real, but for
    what is --recorded. A tool with side effects is asked about at the terminal, and refused where there is none.
    Exit code 1: it did not come to that step, or was refused something.
    """
    return fork_program(
        open_store(store),
        run,
        at,
        live=_names(live),
        recorded=_names(recorded) or (),
        cross_version=cross_version,
        allowed=allow_side_effects,
        reexecute=reexecute,
        match=match,
        normalisers=normalisers,
        new_id=new_id,
        as_json=as_json,
        command=command,
    )


def _names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(name.strip().removesuffix("s") for name in text.split(",") if name.strip())


def fork_program(
    place: LocalStore,
    run: str,
    at: int,
    *,
    live: tuple[str, ...] | None = None,
    recorded: tuple[str, ...] = (),
    cross_version: bool = False,
    allowed: tuple[str, ...] = (),
    reexecute: bool = False,
    match: Match = "strict",
    normalisers: tuple[Path, ...] = (),
    new_id: str | None = None,
    report: str | None = None,
    as_json: bool = False,
    command: tuple[str, ...] = (),
) -> int:
    """Fork the program of a run, and tell what came of it."""
    from playhead._forks import choose_live
    from playhead._ids import new_id as make_id
    from playhead._program import ForkOrder, replay_program
    from playhead.cli._replay import print_report, write_report
    from playhead.editing import find_point
    from playhead.errors import RecordingExistsError
    from playhead.eventlog import counted, printable

    recording = place.open(run)
    find_point(recording, at)
    if new_id is not None and place.has(new_id):
        raise RecordingExistsError(
            f"there is a recording {printable(new_id)} already, and recordings are never overwritten",
            next=f"playhead show {printable(new_id)}",
        )
    made = new_id or make_id(recording.kind)
    order = ForkOrder(
        id=made, at=at, live=choose_live(live, recorded), reexecute=reexecute,
        cross_version=cross_version, allowed=tuple(allowed),
    )  # fmt: skip
    quiet = sys.stderr.fileno() if as_json else None
    done = replay_program(
        recording, place.path, match=match, command=command, normalisers=normalisers, stdout=quiet, fork=order
    )
    is_there = done.live is not None
    data = {"id": made if is_there else None, "parent": recording.id, "at": at, "live": done.live}
    text = json_text({**data, "report": done.report.to_dict(), "where": done.where})
    if report is not None:
        write_report(report, text)
    if as_json:
        click.echo(text, nl=False)
    elif done.report.divergence is not None or not is_there:
        print_report(done)
    else:
        click.echo(made)
    if is_there:
        say(f"live after step {at} of {recording.id}: {counted(done.live or 0, 'call')}")
        say(f"  next: playhead show {made}")
        say(f"        playhead diff {recording.id} {made}")
    return 0 if is_there and done.report.divergence is None else 1
