"""``playhead blame``: which answers of a failing run made it fail, by a passing run of the same agent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.bisection import Blamed, Difference
    from playhead.cli._judging import Stage
    from playhead.eventlog import Exchange, Recording

_MOST = 12


@click.command("blame", **example("playhead blame triage-7f3a triage-91c2"))
@click.argument("failing")
@click.argument("passing")
@click.option("--check", "named", metavar="FUNCTION", help="What is good: module:function or file.py:function.")
@click.option("--save", is_flag=True, help="Keep the failing run with those answers of the passing one, as a new run.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(
    failing: str,
    passing: str,
    named: str | None,
    save: bool,
    store: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Find the fewest answers that, taken from a passing run, make a failing run of the same agent pass.

    The agent is replayed with mixtures of both runs, offline. Good is what comes out as in the passing run: its
    outcome, else its error, exit code, result or output, the first that differs; or what --check says of it. Exit code
    1: the answers are not what makes it fail.
    """
    from playhead.bisection import blame
    from playhead.cli._judging import Stage, judge_by, judge_of
    from playhead.eventlog import printable

    place = open_store(store)
    bad, good = place.open(failing), place.open(passing)
    if bad.id == good.id:
        raise UsageError("a run is not blamed by itself", next=f"playhead runs --kind {bad.kind}")
    if bad.kind != good.kind:
        raise UsageError(
            f"the runs are of different agents: {printable(bad.kind)} and {printable(good.kind)}",
            next=f"playhead runs --kind {printable(bad.kind)}",
        )
    if named is None and bad.outcome == "success" != good.outcome:
        raise UsageError(
            f"{printable(bad.id)} did not fail, and {printable(good.id)} did: the failing run comes first",
            next=f"playhead blame {printable(good.id)} {printable(bad.id)}",
        )
    stage = Stage(place, command)
    by, judge = ("check", judge_of(named)) if named else judge_by(stage.play(bad), stage.play(good))
    if named and not judge(stage.play(good)):
        raise UsageError(
            f"{good.id} is not good either by {named} when it is replayed",
            next=f"playhead replay {good.id} --match loose",
        )
    with stage.deriving(bad, {good.id: good}) as write:
        found = blame(bad, good, write=write, passes=lambda mixed, order: judge(stage.play(mixed, order)))
        saved = _save(found, bad, good, stage, store) if save and found.kind == "found" else None
    if as_json:
        print_json(_as_data(found, bad, good, by, saved))
    else:
        _print(found, bad, good, by)
        if saved is not None:
            say(f"the mixture was kept as {saved}\n  next: playhead replay {saved} --match loose")
    return 0 if found.kind == "found" else 1


def _save(found: Blamed, failing: Recording, passing: Recording, stage: Stage, store: str | None) -> str:
    """Keep the mixture as it was played: without what was not asked for, and with the end that it comes to."""
    from playhead._ids import new_id
    from playhead.bisection import edits_played
    from playhead.editing import Ends, derive

    assert found.mixture is not None
    if any(each.what == "order" for each in found.differences):
        raise UsageError(
            "an order cannot be kept as a recording: there its answers came in the recorded one",
            next=f"playhead blame {failing.id} {passing.id}",
        )
    came = stage.play(found.mixture, found.order)
    outcome: Any = came.outcome
    end = Ends(outcome=outcome, result=came.result, reason=came.reason, error=came.error)
    edits = [*edits_played(found, failing, came.unplayed), end]
    place, run = open_store(store), new_id(failing.kind)
    derive(failing, edits, run=run, store=place, masker=stage.masker, others={passing.id: passing})
    return run


def _print(found: Blamed, failing: Recording, passing: Recording, by: str) -> None:
    from playhead.eventlog import counted, printable

    bad, good = printable(failing.id), printable(passing.id)
    replays = counted(found.replays, "replay")
    match found.kind:
        case "alike":
            click.echo("both runs were given the same: what makes one fail is in the code, or was not recorded")
            say(f"  next: playhead diff {bad} {good}")
        case "passes":
            click.echo(f"{bad} does not fail when it is replayed ({replays}): the code is another one by now")
            say(f"  next: playhead replay {bad}")
        case "fails":
            click.echo(f"it fails even with all that {good} was given ({replays}): the code is another one by now,")
            click.echo("or the runs are of different agents")
            say(f"  next: playhead diff {bad} {good}")
        case "found":
            amount = counted(len(found.differences), "difference")
            click.secho(f"{amount} of {found.among} made {bad} fail ({replays}, judged by its {by}):", bold=True)
            for each in found.differences:
                for line in _lines(each, good):
                    click.echo(line)
            step = next((each.before.step for each in found.differences if each.before and each.before.step), None)
            say(f"  next: playhead show {bad}" + (f"#{step}" if step else " --graph"))


def _lines(found: Difference, passing: str) -> Iterator[str]:
    from playhead.eventlog import counted, printable
    from playhead.player import differences

    name = printable(found.name)
    if found.what == "order":
        pairs = [f"#{one} before #{other}" for one, other in found.swapped[:_MOST]]
        yield f"the order of answers: {', '.join(pairs)}, and the other way round in {passing}"
        return
    if found.what == "reads":
        yield f"{counted(len(found.edits), 'read')} of {name}"
        return
    assert found.before is not None
    where = _place(found.before)
    if found.after is None:
        yield f"{where} {name}: not asked in {passing}"
        return
    yield f"{where} {name}: answered otherwise at {_place(found.after)} of {passing}"
    places = list(differences(_given(found.before), _given(found.after)))
    for each in places[:_MOST]:
        yield f"  {each.path or '/'}: {printable(each.words(), limit=600)}"
    if len(places) > _MOST:
        yield f"  … and {counted(len(places) - _MOST, 'place')} more"


def _place(exchange: Exchange) -> str:
    return f"step {exchange.step}" if exchange.step is not None else f"event {exchange.question.seq}"


def _given(exchange: Exchange) -> Any:
    """What the program was given: the value, or the error, or of HTTP the status and the body."""
    body: Any = exchange.answer.body if exchange.answer is not None else None
    told = {name: getattr(body, name, None) for name in ("status", "content", "items", "value", "error")}
    told = {name: value for name, value in told.items() if value is not None}
    return next(iter(told.values())) if len(told) == 1 else told


def _as_data(found: Blamed, failing: Recording, passing: Recording, by: str, saved: str | None) -> dict[str, Any]:
    return {
        "failing": failing.id,
        "passing": passing.id,
        "kind": found.kind,
        "judged_by": by,
        "replays": found.replays,
        "among": found.among,
        "differences": [
            {
                "what": each.what,
                "name": each.name,
                "step": each.before.step if each.before else None,
                "passing_step": each.after.step if each.after else None,
                "swapped": each.swapped,
            }
            for each in found.differences
        ],
        "saved": saved,
    }
