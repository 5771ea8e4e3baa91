"""Options that several verbs have, and how they find a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.eventlog import Recording
    from playhead.stores import LocalStore

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print the data as JSON.")
store_option = click.option(
    "--store", metavar="PATH", help="The folder of recordings. Default: .playhead beside the project."
)


def match_option(what: str) -> Callable[[F], F]:
    """``--match``: whether ``what`` must be equal, or only the same in other words."""
    return click.option(
        "--match",
        type=click.Choice(["strict", "loose"]),
        default="strict",
        show_default=True,
        help=f"Whether {what} must be equal, or only the same in other words.",
    )


def normalisers_option(how: str) -> Callable[[F], F]:
    """``--normalisers``: files of functions, ``how`` they are told of."""
    return click.option(
        "--normalisers",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        multiple=True,
        metavar="FILE",
        help=f"Take out what these functions take out, {how}.",
    )


def open_store(path: str | None) -> LocalStore:
    """The store at ``path``, or the one that the settings name."""
    from playhead._configuration import read_settings
    from playhead._stores import choose_store

    return choose_store(read_settings(store=path))


def open_run(run: str, store: str | None) -> Recording:
    """The recording of a run, by id, prefix or path."""
    return open_store(store).open(run)


def split_step(run: str) -> tuple[str, int | None]:
    """``RUN#STEP`` in its two halves."""
    name, sign, step = run.rpartition("#")
    if not sign:
        return run, None
    if not step.isdigit() or int(step) == 0:
        raise UsageError(f"{step!r} is not the number of a step; steps count from 1", next=f"playhead show {name}")
    return name, int(step)


def split_event(run: str) -> tuple[str, int | None]:
    """``RUN#SEQ`` in its two halves."""
    name, sign, seq = run.rpartition("#")
    if not sign:
        return run, None
    if not seq.isascii() or not seq.isdigit():
        raise UsageError(
            f"{seq!r} is not the number of an event; a step goes with --step", next=f"playhead show {name} --graph"
        )
    return name, int(seq)


def example(text: str) -> dict[str, Any]:
    """The settings of a verb: its help ends with an example, and what follows the first argument is left alone."""
    return {"epilog": f"Example: {text}"}
