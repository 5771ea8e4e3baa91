"""``playhead diff``: two recordings side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.comparison import Comparison


@click.command("diff", **example("playhead diff triage-7f3a triage-91c0 --values"))
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "--on",
    type=click.Choice(["names", "shapes", "values"]),
    help="How closely: who was called; with which sorts of arguments (default); all that was said.",
)
@click.option("--values", is_flag=True, help="The same as --on values.")
@click.option(
    "--path", "paths", multiple=True, metavar="POINTER", help="Values at this place count as well; * is any one key."
)
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write it as a page, too.")
@store_option
@as_json
def command(
    before: str,
    after: str,
    on: Literal["names", "shapes", "values"] | None,
    values: bool,
    paths: tuple[str, ...],
    html: str | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Compare two recordings: what was asked, what was answered, how it ended.

    Timings, headers and ids that are only named otherwise do not count. Exit code 1: they differ.
    """
    from playhead.cli._side_by_side import Sides, print_sides
    from playhead.comparison import compare

    if values and on not in (None, "values"):
        raise UsageError(f"either --on {on} or --values", next="playhead diff A B --values")
    place = open_store(store)
    first, second = place.open(before), place.open(after)
    found = compare(first, second, on="values" if values else on or "shapes", paths=paths)
    sides = Sides(first, second, found)
    if html is not None:
        _write(html, sides)
    if as_json:
        print_json(as_data(found))
    else:
        print_sides(sides)
    return 0 if found.same else 1


def as_data(found: Comparison) -> dict[str, Any]:
    """A comparison as plain JSON, with what its tools were and whether it came out the same."""
    import msgspec

    return {"same": found.same, **msgspec.to_builtins(found)}


def _write(path: str, sides: Any) -> None:
    from playhead.cli._diff_page import page

    try:
        Path(path).write_text(page(sides), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            f"the page cannot be written to {path}: {error.strerror}", next="playhead diff A B --html FILE"
        ) from error
    say(f"written: {path}")
