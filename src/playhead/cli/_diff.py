"""``playhead diff``: two recordings side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json
from playhead.cli._words import duration

if TYPE_CHECKING:
    from playhead.comparison import Change, Comparison
    from playhead.player import Difference

_SHOWN = 12
_LONG = 600
_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


@click.command("diff", **example("playhead diff triage-7f3a triage-91c0"))
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@store_option
@as_json
def command(before: str, after: str, store: str | None, as_json: bool) -> int:
    """Compare two recordings: what was asked, what was answered, how it ended.

    Timings, headers and ids that are only named otherwise do not count. Exit code 1: they differ.
    """
    import msgspec

    from playhead.comparison import compare

    place = open_store(store)
    found = compare(place.open(before), place.open(after))
    if as_json:
        print_json({**msgspec.to_builtins(found), "same": found.same})
    else:
        _print(found)
    return 0 if found.same else 1


def _print(found: Comparison) -> None:
    from playhead.eventlog import counted, printable

    click.secho(f"{printable(found.before)} → {printable(found.after)}", bold=True)
    then, now = found.outcomes
    if then != now:
        click.secho(f"outcome: {then} → {now}", fg="yellow")
    if found.models[0] != found.models[1]:
        names = [", ".join(models) or "none" for models in found.models]
        click.secho(printable(f"models: {names[0]} → {names[1]}", limit=_LONG), fg="yellow")
    for change in found.changes:
        _print_change(change)
    _print_differences("ending", found.result)
    for each in found.renamed[:_SHOWN]:
        click.secho(f"  other id or time {printable(each.path)}: {printable(each.words(), limit=_LONG)}", dim=True)
    verdict = "the same" if found.same else "different"
    amounts = f"{counted(found.equal, 'exchange')} equal, {len(found.changes)} not"
    click.secho(f"{verdict}: {amounts}", fg="green" if found.same else "red", bold=True)
    click.secho(f"took {duration(found.took_ns[0])} → {duration(found.took_ns[1])} (does not count)", dim=True)


def _print_change(change: Change) -> None:
    from playhead.eventlog import printable

    sign, colour = _SIGNS[change.kind]
    steps = [str(step) for step in (change.step, change.step_after) if step is not None]
    place = f"step {' → '.join(dict.fromkeys(steps))}" if steps else "no step"
    lane = f" in {printable(change.lane)}" if change.lane != "main" else ""
    click.secho(f"{sign} {place}: {change.boundary} {printable(change.name)}{lane} {change.kind}", fg=colour)
    _print_differences("asked", change.asked)
    _print_differences("answered", change.answered)


def _print_differences(title: str, found: tuple[Difference, ...]) -> None:
    from playhead.eventlog import counted, printable

    for each in found[:_SHOWN]:
        path: Any = each.path or "/"
        click.echo(f"    {title} {printable(path)}: {printable(each.words(), limit=_LONG)}")
    if len(found) > _SHOWN:
        click.echo(f"    {title}: … and {counted(len(found) - _SHOWN, 'place')} more")
