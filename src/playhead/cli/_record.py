"""``playhead record``: a program runs as it always does, and a recording is kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from playhead.cli._options import example, open_store, store_option
from playhead.cli._output import error_lines, say
from playhead.cli._words import count
from playhead.errors import PlayheadError, ProgramNotStartedError, UsageError

if TYPE_CHECKING:
    from playhead._program import Ended, Mailbox
    from playhead.stores import LocalStore


@click.command(
    "record",
    context_settings={"allow_interspersed_args": False},
    **example("playhead record --kind triage -- python my_agent.py T-42"),
)
@click.option("--kind", default="run", show_default=True, help="Groups runs, and begins their ids.")
@click.option("--task", help="Your own id of what was to be done.")
@click.option("--id", "run_id", help="The id of the run. Default: a new one.")
@store_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="-- PROGRAM [ARGS]...")
def command(kind: str, task: str | None, run_id: str | None, store: str | None, command: tuple[str, ...]) -> int:
    """Run a program and keep a recording of it, without a change to the program.

    The first Python process that PROGRAM starts is recorded: its models, tools, HTTP, clock and chance. Its
    input, output, signals and exit code are its own.
    """
    from playhead._program import Mailbox, Order, choose_hash_seed, launch, variables
    from playhead._runs import new_id
    from playhead.events import Entry

    if not command:
        raise UsageError("say which program to record", next="playhead record -- python my_agent.py")
    place = open_store(store)
    run = run_id or new_id(kind)
    _try_out(place, run, kind)
    with Mailbox.make() as mailbox:
        order = Order(
            mode="record",
            run=run,
            kind=kind,
            task=task,
            store=str(place.path.absolute()),
            mailbox=str(mailbox.path),
            entry=Entry(form="program", argv=list(command), folder=os.getcwd()),
        )
        ended = launch(command, {**variables(order), "PYTHONHASHSEED": choose_hash_seed()})
        try:
            _close(place, run, ended, mailbox, command)
        except PlayheadError as error:
            for line in error_lines(error):
                say(line)
            return ended.exit_code or error.exit_code
    return ended.exit_code


def _try_out(place: LocalStore, run: str, kind: str) -> None:
    """Find out before the program runs whether a recording of this name can be kept."""
    place.mask_key()
    log = place.create(run, kind)
    log.abandon()
    log.path.unlink()


def _close(place: LocalStore, run: str, ended: Ended, mailbox: Mailbox, command: tuple[str, ...]) -> None:
    from playhead._program import close_recording

    if mailbox.failure is not None or not mailbox.claimed:
        why = mailbox.failure or f"{Path(command[0]).name} started no Python that could be recorded"
        raise ProgramNotStartedError(
            f"nothing was recorded: {why}",
            next=f"playhead record -- {sys.executable} my_agent.py",
        )
    said = mailbox.read_report() or {}
    closed = close_recording(place.find(run), ended, gaps=said.get("gaps"), others=mailbox.others)
    if mailbox.others:
        say(f"warning: {count(mailbox.others, 'more Python process')} ran beside the first and were not recorded")
    for gap in said.get("gaps", {}).get("incomplete", ()):
        say(f"warning: the recording is incomplete: {gap}")
    say(f"recorded {run} ({closed.outcome}, {count(closed.steps, 'step')})  next: playhead show {run}")
