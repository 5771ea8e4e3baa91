"""The group of verbs, and the one place where an error becomes text and an exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from playhead._version import __version__
from playhead.cli._output import colour, error_lines, say
from playhead.cli._verbs import VERBS, help_page
from playhead.errors import PlayheadError, UsageError


class Verbs(click.Group):
    """A group that knows its verbs by name, and reads the file of the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"playhead.cli._{cmd_name}").command
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(help_page())

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args and args[0] not in VERBS:
                raise _unknown_verb(args[0]) from error
            raise


def _unknown_verb(name: str) -> UsageError:
    import difflib

    near = difflib.get_close_matches(name, VERBS, n=1)
    guess = f"; did you mean {near[0]!r}?" if near else ""
    return UsageError(f"there is no verb {name!r}{guess}", next=" ".join(["playhead", *near, "--help"]))


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="playhead", message="%(prog)s %(version)s")
def group() -> None:
    """The verbs of playhead."""


def run(arguments: Sequence[str]) -> None:
    """Carry out a command line and exit.

    A verb gives its exit code back; an error of ours is told on stderr, without a traceback.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the encoding, a recording can be shown
    try:
        code = group.main(list(arguments), prog_name="playhead", standalone_mode=False, color=colour())
        sys.stdout.flush()
    except click.Abort:
        code = _interrupted()
    except KeyboardInterrupt:
        code = _interrupted()
    except click.ClickException as error:
        code = _tell(_as_ours(error))
    except PlayheadError as error:
        code = _tell(error)
    except BrokenPipeError:
        # Whoever read our output has had enough: nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code if isinstance(code, int) else 0)


def _tell(error: PlayheadError) -> int:
    for line in error_lines(error):
        say(line)
    return error.exit_code


def _as_ours(error: click.ClickException) -> UsageError:
    """What click does not take, in our own form: the next command is the help of the verb."""
    said = error.format_message().rstrip(".")
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context is not None else "playhead"
    return UsageError(said[:1].lower() + said[1:], next=f"{path} --help")


def _interrupted() -> int:
    say("interrupted")
    return 130
