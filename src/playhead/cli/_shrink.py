"""``playhead shrink``: the shortest recording with which an agent still fails."""

from __future__ import annotations

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError


@click.command("shrink", **example("playhead shrink triage-7f3a"))
@click.argument("run")
@click.option("--check", "named", metavar="FUNCTION", help="What is good: module:function or file.py:function.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(run: str, named: str | None, store: str | None, as_json: bool, command: tuple[str, ...]) -> int:
    """Make the shortest recording of a run with which the agent still fails, and print its id.

    Exchanges are left out, and the agent replayed with the rest, for as long as it fails as it did: with the same
    outcome and error, or with --check answering no. The recording itself stays as it is. Exit code 1: it does not fail.
    """
    from playhead._ids import new_id
    from playhead.bisection import shrink
    from playhead.cli._judging import CameOut, Stage, judge_of
    from playhead.editing import Drops, Place, derive
    from playhead.eventlog import counted, printable

    place = open_store(store)
    recording = place.open(run)
    name = printable(recording.id)
    stage = Stage(place, command)
    judge = judge_of(named) if named else None
    first = stage.play(recording)
    if first.diverged is not None:
        raise UsageError(f"{name} does not replay: {first.diverged}", next=f"playhead replay {name}")

    def fails(came: CameOut) -> bool:
        if came.diverged is not None:
            return False
        if judge is not None:
            return not judge(came)
        return came.outcome != "success" and (came.outcome, _class(came)) == (first.outcome, _class(first))

    with stage.deriving(recording, {}) as write:
        found = shrink(recording, write=write, fails=lambda mixed: fails(stage.play(mixed)))
    if found.recording is None:
        click.echo(f"{name} does not fail when it is replayed")
        say(f"  next: playhead shrink {name} --check checks.py:function")
        return 1
    kept = {each.question.seq for each in found.exchanges}
    gone = [Drops(at=Place(seq=each.seq)) for each in recording.questions if each.seq not in kept]
    short = recording.id
    if gone:
        short = new_id(recording.kind)
        derive(recording, gone, run=short, store=place, masker=stage.masker)
    if as_json:
        print_json({"run": recording.id, "shrunk": short, "exchanges": len(kept), "tries": found.tries,
                    "of": len(recording.questions)})  # fmt: skip
        return 0
    click.echo(printable(short))
    say(f"{counted(len(kept), 'exchange')} of {len(recording.questions)} are enough ({counted(found.tries, 'replay')})")
    say(f"  next: playhead show {printable(short)}")
    return 0


def _class(came: object) -> str:
    """The class of the error that ended it, however it is worded."""
    error = getattr(came, "error", None)
    return str(error.get("class", "")) if isinstance(error, dict) else ""
