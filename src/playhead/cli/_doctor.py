"""``playhead doctor``: is everything in place, and does a program come out the same on the same answers?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.cli._checks import Check
    from playhead.cli._steadiness import Diagnosis

_SIGNS = {"good": ("✓", "green"), "note": ("!", "yellow"), "bad": ("✗", "red")}


@click.command(
    "doctor",
    context_settings={"allow_interspersed_args": False},
    **example("playhead doctor -- python my_agent.py"),
)
@click.option("--write-normalisers", "target", metavar="FILE", help="Write normalisers for the fields that differed.")
@store_option
@as_json
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM [ARGS]...]")
def command(target: str | None, store: str | None, as_json: bool, command: tuple[str, ...]) -> int:
    """Check this installation, or find what makes a program come out differently from run to run.

    With PROGRAM, it is run once for real and replayed twice on the same answers, with sets in another order each time.
    Exit code 1: something was found.
    """
    if not command:
        return _check_installation(store, as_json)
    from playhead.cli._steadiness import diagnose, normalisers_for

    found = diagnose(command)
    if target is not None:
        try:
            Path(target).write_text(normalisers_for(found.findings), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write to {target}: {error.strerror}", next="give another FILE") from error
    if as_json:
        print_json(found)
    else:
        _print_diagnosis(found, target)
    return 1 if found.findings else 0


def _check_installation(store: str | None, as_json: bool) -> int:
    from playhead.cli._checks import check_all

    checks = list(check_all(open_store(store)))
    if as_json:
        print_json(checks)
    else:
        for check in checks:
            _print_check(check)
    return 1 if any(check.grade == "bad" for check in checks) else 0


def _print_check(check: Check) -> None:
    from playhead.eventlog import printable

    sign, colour = _SIGNS[check.grade]
    click.echo(f"{click.style(sign, fg=colour)} {check.name:12} {printable(check.found, limit=400)}")
    if check.fix is not None:
        click.echo(f"  {'':12} fix: {printable(check.fix)}")


def _print_diagnosis(found: Diagnosis, target: str | None) -> None:
    from playhead.eventlog import counted, printable

    for finding in found.findings:
        click.secho(f"✗ {printable(finding.what, limit=600)}", fg="red")
        click.echo(f"    at   {printable(finding.where, limit=400)}")
        click.echo(f"    fix  {finding.fix}")
    ran = f"recorded once ({found.outcome}, {counted(found.steps, 'step')}) and replayed on the same answers"
    if found.findings:
        click.secho(f"{ran}: {counted(len(found.findings), 'finding')}", fg="red", bold=True)
    else:
        click.secho(f"{ran}: it came out the same, in all that was seen", fg="green", bold=True)
    if target is not None:
        say(f"normalisers written to {printable(target)}  next: playhead replay RUN --normalisers {printable(target)}")
