"""``playhead record``: a program runs as it always does, and a recording is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from playhead.cli._options import example, open_store, store_option
from playhead.cli._output import error_lines, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead._program import Recorded


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
    from playhead._ids import new_id
    from playhead._program import record_program

    if not command:
        raise UsageError("say which program to record", next="playhead record -- python my_agent.py")
    run = run_id or new_id(kind)
    done = record_program(command, open_store(store), run=run, kind=kind, task=task)
    return tell_recorded(done, run)


def tell_recorded(done: Recorded, run: str) -> int:
    """Tell a person what became of a recording; the exit code of the program."""
    from playhead.eventlog import counted, printable

    if done.closed is None:
        assert done.failure is not None
        for line in error_lines(done.failure):
            say(line)
        return done.ended.exit_code or done.failure.exit_code
    if done.others:
        say(f"warning: {counted(done.others, 'more Python process')} ran beside the first and were not recorded")
    for gap in done.incomplete:
        say(f"warning: the recording is incomplete: {printable(gap)}")
    steps = counted(done.closed.steps, "step")
    say(f"recorded {printable(run)} ({done.closed.outcome}, {steps})  next: playhead show {printable(run)}")
    return done.ended.exit_code
