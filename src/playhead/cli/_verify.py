"""``playhead verify``: is the evidence what was written?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import PlayheadError, UsageError

if TYPE_CHECKING:
    from playhead.stores import LocalStore


@click.command("verify", **example("playhead verify triage-7f3a"))
@click.argument("run", required=False)
@click.option("--all", "all_runs", is_flag=True, help="Every recording of the store.")
@store_option
@as_json
def command(run: str | None, all_runs: bool, store: str | None, as_json: bool) -> int:
    """Check that a recording is whole and has not been changed.

    Every link of its chain, its blobs and its seal are checked, and so are the recordings of its child processes.
    Exit code 1: something does not hold; 3: something could not be read.
    """
    from playhead.eventlog import counted

    if (run is None) == (not all_runs):
        raise UsageError("say which run to verify, or --all", next="playhead verify --all")
    place = open_store(store)
    paths = [summary.path for summary in place.list()] if run is None else [place.find(run)]
    results: list[dict[str, Any]] = []
    for path in _with_progress(paths) if all_runs else paths:
        results.append(_check(path, raising=not all_runs))
        if not as_json:
            _print(results[-1])
    if not all_runs:
        results += _check_children(paths[0], place, quiet=as_json)
    if as_json:
        family = {"children": results[1:]} if results[1:] else {}
        print_json(results if all_runs else {**results[0], **family})
    elif all_runs:
        bad = sum(not result["ok"] for result in results)
        say(f"{counted(len(results), 'recording')} checked, {bad or 'none'} with something wrong")
    if any(result["status"] == "unreadable" for result in results):
        return 3
    return 0 if all(result["ok"] for result in results) else 1


def _check_children(path: Path, place: LocalStore, *, quiet: bool) -> Iterator[dict[str, Any]]:
    from playhead.cli._children import family_paths

    try:
        children = list(family_paths(path, place))
    except PlayheadError:
        return  # that it cannot be read has been said
    for child in children:
        result = _check(child, raising=False)
        if not quiet:
            _print(result)
        yield result


def _check(path: Path, *, raising: bool) -> dict[str, Any]:
    import msgspec

    from playhead.eventlog import verify

    try:
        found = verify(path)
    except PlayheadError as error:
        if raising:
            raise
        return {"run": path.name, "status": "unreadable", "ok": False, "says": error.message, "next": error.next}
    data: dict[str, Any] = msgspec.to_builtins(found)
    return {**data, "ok": found.ok, "proven": found.proven, "says": str(found), "path": str(path)}


def _print(result: dict[str, Any]) -> None:
    from playhead.eventlog import printable

    colour = ("green" if result.get("proven") else "yellow") if result["ok"] else "red"
    click.echo(f"{printable(result['run'])}  {click.style(printable(result['says'], limit=2000), fg=colour)}")


def _with_progress(paths: list[Path]) -> Iterable[Path]:
    """The paths, with a bar on a terminal and in silence elsewhere."""
    if not sys.stderr.isatty() or len(paths) < 2:
        return paths
    return _shown(paths)


def _shown(paths: list[Path]) -> Iterator[Path]:
    with click.progressbar(paths, label="verifying", file=sys.stderr) as bar:
        yield from bar
