"""``playhead debug``: going through a run step by step, forwards and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from playhead.cli._options import example, match_option, open_store, split_step, store_option
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead._program import Match


@click.command("debug", **example("playhead debug triage-7f3a#7"))
@click.argument("run", metavar="RUN[#STEP]")
@match_option("questions")
@store_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(run: str, match: Match, store: str | None, command: tuple[str, ...]) -> int:
    """Go through a run step by step, forwards and back, with the agent's own variables at hand.

    The program is replayed and stopped before a step is answered: the first, or STEP. Going back replays it anew in a
    fresh process. Commands come from the terminal or, one a line, from a pipe; `help` lists them.
    """
    from playhead.cli._debugging import Debugging

    if os.name == "nt":
        raise UsageError("debug needs a Unix system", next=f"playhead replay {run} --break 1")
    name, step = split_step(run)
    place = open_store(store)
    recording = place.open(name)
    if not recording.steps:
        raise UsageError(f"run {recording.id} has no steps to stop at", next=f"playhead replay {recording.id}")
    first = step or 1
    recording.step(first)
    return Debugging(recording, place.path, match=match, command=command).run(first)
