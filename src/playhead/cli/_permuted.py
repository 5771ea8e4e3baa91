"""What came of a run in other orders, for a person and for a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from playhead.cli._permuting import MANY, Effect, Permuted
from playhead.cli._tracing import Teller
from playhead.eventlog import counted, printable


def as_data(found: Permuted, teller: Teller) -> dict[str, Any]:
    """All of it, for a program."""
    plain = msgspec.to_builtins
    tried = [
        {
            **plain(each.race),
            "steps": [teller.step(each.race.first), teller.step(each.race.second)],
            "kept": each.kept,
            "also": each.also,
            "effects": plain(each.effects),
        }
        for each in found.tried
    ]
    return {
        "run": found.recorded.report.run,
        "recorded": {**found.recorded.report.to_dict(), "where": found.recorded.where},
        "depends": bool(found.depends),
        "races": found.races,
        "one_sided": found.one_sided,
        "unsteady": found.unsteady,
        "kept": found.kept,
        "orders": tried,
    }


def print_orders(found: Permuted, teller: Teller) -> None:
    """Each order in which something came out otherwise, or that could not be kept, and the verdict."""
    if not found.recorded.report.ok:
        click.secho("the recorded order does not replay, so no other was tried", fg="red", bold=True)
        return
    click.echo(found.recorded.report.lines()[0])
    for each in found.tried:
        first, second = each.race.first, each.race.second
        if not each.kept:
            click.secho(f"the order of #{first} and #{second} could not be turned round", fg="yellow")
        elif each.effects:
            click.secho(f"outcome depends on the order of #{first} and #{second}", fg="red")
            click.echo(f"  {teller.line(first)}\n  {teller.line(second)}")
            for pair in each.also:
                click.echo(f"  turned round with them: #{pair[0]} and #{pair[1]}")
            click.echo(f"  with #{second} first:")
            for effect in each.effects:
                for line in _told(effect):
                    click.echo(f"    {line}")
    for line in _remarks(found):
        click.secho(line, fg="yellow")
    click.secho(_verdict(found), fg="red" if found.depends else "green" if found.kept else None, bold=True)


def _verdict(found: Permuted) -> str:
    """The last line."""
    races = f"{found.races} races or more" if found.races >= MANY else counted(found.races, "race")
    if not found.races:
        return "no races: no two exchanges could have ended in another order, so there is no other order to try"
    if not found.kept:
        return f"no other order could be tried ({races})"
    orders = counted(found.kept, "order")
    if found.depends:
        return f"the outcome depends on the order: it came out otherwise in {len(found.depends)} of {orders} ({races})"
    return f"the outcome did not depend on any of {orders} tried ({races})"


def _remarks(found: Permuted) -> Iterator[str]:
    """What limits the verdict."""
    if found.one_sided:
        pairs = counted(found.one_sided, "race")
        yield f"{pairs} not tried: one of the two was cancelled or erased, so it has no answer to be first with"
    names = {"output": "what it prints", "result": "its result", "error": "its error", "exit": "its exit code"}
    for what in found.unsteady:
        yield f"not compared, since it differs in each replay: {names.get(what, what)}"


def _told(effect: Effect) -> Iterator[str]:
    """An effect, line by line."""
    first, *more = effect.text.split("\n")
    yield printable(first if effect.step is None else f"step {effect.step}: {first}", limit=2000)
    yield from (printable(line, limit=2000) for line in more)
