"""What every verb prints with: data to stdout, talk to stderr, and nothing that could steer a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from playhead._system import ENVIRONMENT
from playhead.errors import PlayheadError

if TYPE_CHECKING:
    from rich.console import Console

_STEERING = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Beyond the control characters that JSON escapes by itself."""

_NO_WIDTH: Final = 10_000


def error_lines(error: PlayheadError) -> Iterator[str]:
    """What a person is told of an error: what happened, what to type next, where to read more."""
    from playhead.eventlog import printable

    first, *more = error.message.split("\n")
    yield click.style("error: ", fg="red", bold=True) + printable(first, limit=2000)
    yield from (printable(line, limit=2000) for line in more)
    if error.next:
        yield f"  next: {printable(error.next)}"
    yield f"  more: playhead help {error.slug}"


def width(*, piped: int) -> int:
    """How many columns the terminal has on which we write; ``piped`` where it is none."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else piped


def say(text: str) -> None:
    """Talk to the person at the terminal."""
    click.echo(text, err=True, color=colour())


def colour() -> bool | None:
    """What click is told: never where ``NO_COLOR`` is set, otherwise as the stream is a terminal or not."""
    return False if ENVIRONMENT.get("NO_COLOR") else None


def print_json(value: Any) -> None:
    """Print data for a program: one JSON document."""
    click.echo(json_text(value), nl=False)


def json_text(value: Any) -> str:
    """Data as a JSON document that may be shown on a terminal: what could steer one is escaped."""
    import msgspec

    try:
        text = msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode()
    except UnicodeEncodeError:  # a lone surrogate, which has no bytes but has an escape
        import json

        text = json.dumps(msgspec.to_builtins(value, enc_hook=str), indent=2)
    return _STEERING.sub(lambda match: f"\\u{ord(match.group()):04x}", text) + "\n"


def console() -> Console:
    """A console that prints text as it is, in colour on a terminal only; in a pipe no line is cut to a width."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _NO_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)
