"""The group of verbs, and the one place where an error becomes text and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from playhead._version import __version__
from playhead.cli._output import colour, error_lines, say
from playhead.errors import PlayheadError

VERBS = {
    "record": "Run a program and keep a recording of it, without a change to the program.",
    "runs": "List the runs of the store, the newest first.",
    "show": "Show a run step by step, or one step with the context that the model saw.",
    "replay": "Run a recorded program again, offline: every call is answered from the recording.",
    "diff": "Compare two recordings: what was asked, what was answered, how it ended.",
    "verify": "Check that a recording is whole and has not been changed.",
    "doctor": "Check this installation, or find what makes a program come out differently from run to run.",
    "demo": "Record, replay and diverge: a small agent against a scripted model; needs no key.",
}
"""The verbs, in the order of the help page, with the first sentence of each."""


class Verbs(click.Group):
    """A group that knows its verbs by name, and reads the file of the one that is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"playhead.cli._{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args and args[0] not in VERBS:
                raise click.UsageError(_unknown_verb(args[0]), ctx) from error
            raise


def _unknown_verb(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, VERBS, n=1)
    return f"There is no verb {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: playhead record -- python my_agent.py",
)
@click.version_option(__version__, prog_name="playhead", message="%(prog)s %(version)s")
def group() -> None:
    """Record what an AI agent observed, and replay the run offline, exactly as it happened."""


def run(arguments: Sequence[str]) -> None:
    """Carry out a command line and exit.

    A verb gives its exit code back; an error of ours is told on stderr, without a traceback.
    """
    try:
        code = group.main(list(arguments), prog_name="playhead", standalone_mode=False, color=colour())
        sys.stdout.flush()
    except click.Abort:
        code = _interrupted()
    except KeyboardInterrupt:
        code = _interrupted()
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except PlayheadError as error:
        for line in error_lines(error):
            say(line)
        code = error.exit_code
    except BrokenPipeError:
        # Whoever read our output has had enough: nothing to say, and nobody to say it to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code if isinstance(code, int) else 0)


def _interrupted() -> int:
    say("interrupted")
    return 130
