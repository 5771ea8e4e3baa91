"""``playhead runs``: what is in the store."""

from __future__ import annotations

import shlex
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import console, print_json, say
from playhead.cli._words import Span, ago, duration, size
from playhead.errors import PlayheadError

if TYPE_CHECKING:
    from playhead.stores import LocalStore, Summary

_COLOURS = {"success": "green", "failure": "red", "aborted": "yellow", "recording": "cyan", "unreadable": "red"}


@click.command("runs", **example("playhead runs --failed --since 24h"))
@click.option("--failed", is_flag=True, help="Only runs that did not succeed.")
@click.option("--kind", help="Only runs of this kind.")
@click.option("--since", type=Span(), metavar="SPAN", help="Only runs that began within this time: 30m, 24h, 7d.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@store_option
@as_json
def command(failed: bool, kind: str | None, since: int | None, limit: int, store: str | None, as_json: bool) -> int:
    """List the runs of the store, the newest first."""
    from playhead._system import SystemClock

    now = SystemClock.wall_ns()
    place = open_store(store)
    wanted = (
        run
        for run in place.list()
        if (not failed or run.state not in ("success", "recording"))
        and (kind is None or run.kind == kind)
        and (since is None or run.started_ns >= now - since)
    )
    found = list(islice(wanted, limit + 1))
    more, found = len(found) > limit, found[:limit]
    if as_json:
        print_json([_as_data(run) for run in found])
        return 0
    if found:
        _print_table(found, now)
    say(_last_line(len(found), more, place))
    return 0


def _as_data(run: Summary) -> dict[str, Any]:
    return {
        "id": run.run,
        "kind": run.kind,
        "task": run.task,
        "outcome": run.state,
        "reason": run.reason,
        "started_ns": run.started_ns,
        "duration_ns": run.ended_ns - run.started_ns,
        "steps": _steps(run),
        "events": run.events,
        "size": run.size,
        "sealed": run.sealed,
        "path": str(run.path),
        **({"starter": run.starter} if run.starter is not None else {}),
    }


def _print_table(runs: list[Summary], now: int) -> None:
    """A line for each run; a narrow terminal does without the amounts."""
    from rich.table import Table
    from rich.text import Text

    from playhead.eventlog import printable

    out = console()
    amounts = out.width >= 90
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("RUN", no_wrap=True, overflow="fold", min_width=max(len(printable(run.run)) for run in runs))
    for name in ("WHEN", "KIND", "OUTCOME"):
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    for name in ("STEPS", "TOOK", "SIZE") if amounts else ():
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, overflow="ellipsis", ratio=1)
    for run in runs:
        readable = run.state != "unreadable"
        cells = [Text(printable(run.run)), Text(ago(now - run.started_ns) if readable else "")]
        cells += [Text(printable(run.kind)), Text(run.state, style=_COLOURS[run.state])]
        if amounts:
            steps = _steps(run)
            cells.append(Text(str(steps) if steps is not None else ""))
            cells.append(Text(duration(run.ended_ns - run.started_ns) if readable else ""))
            cells.append(Text(size(run.size)))
        table.add_row(*cells, Text(printable(" · ".join(_remarks(run)))))
    out.print(table)


def _steps(run: Summary) -> int | None:
    """How many steps a run that is shown has; ``None`` where that cannot be read."""
    from playhead.eventlog import count_steps

    try:
        return count_steps(run.path) if run.state != "unreadable" else None
    except PlayheadError:
        return None


def _remarks(run: Summary) -> list[str]:
    cut = "cut off, not sealed" if not run.sealed and run.state not in ("recording", "unreadable") else None
    child = f"child process of {run.starter}" if run.starter is not None else None
    return [part for part in (child, run.task, run.reason, cut) if part]


def _last_line(found: int, more: bool, place: LocalStore) -> str:
    from playhead.eventlog import counted, printable
    from playhead.stores import find_other_stores

    store = place.path
    if not found:
        others = [] if any(place.list()) else list(find_other_stores(store))
        if others:
            where = f"no runs in {printable(store)}; there are some in {printable(others[0])}"
            return f"{where}  next: playhead runs --store {printable(shlex.quote(str(others[0])))}"
        return f"no runs in {printable(store)}  next: playhead record -- python my_agent.py"
    return (
        f"{counted(found, 'run')}{', more with --limit' if more else ''} in {printable(store)}  next: playhead show RUN"
    )
