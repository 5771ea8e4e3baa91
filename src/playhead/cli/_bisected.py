"""What a search found, for a person and as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import msgspec

from playhead.cli._output import say
from playhead.cli._step import step_as_data
from playhead.cli._timeline import row_of
from playhead.eventlog import Recording, counted, printable

if TYPE_CHECKING:
    from playhead.bisection import Finding, Marking

_WIDE = 160


def as_data(recording: Recording, finding: Finding, why: Mapping[int, str]) -> dict[str, Any]:
    """A finding as plain JSON, with the exchange of the step that was found."""
    data = {"run": recording.id, **msgspec.to_builtins(finding), "proved": finding.proved}
    data["turns"] = [{**msgspec.to_builtins(turn), "why": why.get(turn.step)} for turn in finding.turns]
    if finding.step is not None:
        data["why"] = why.get(finding.step)
        data["exchange"] = step_as_data(recording, recording.step(finding.step), context=False)
        data["next"] = next_commands(recording, finding.step)
    return data


def next_commands(recording: Recording, step: int) -> list[str]:
    """What to type next on a step that was found."""
    run = printable(recording.id)
    found = [f"playhead show {run}#{step}", f"playhead edit {run} --step {step} --editor"]
    if not recording.is_behind(step):  # there a replay cannot stop
        found.append(f"playhead replay {run} --break {step}")
    return found


def print_found(recording: Recording, finding: Finding, why: Mapping[int, str], *, hints: bool) -> None:
    """Print a finding; ``hints`` says whether another check, or more of the same, could tell more."""
    count = counted(finding.steps, "step")
    match finding.kind:
        case "found":
            assert finding.step is not None
            click.secho(f"step {finding.step} of {finding.steps} is the first bad one", fg="red", bold=True)
            _print_step(recording, finding.step, why)
        case "holds":
            known = f"all {count}" if finding.proved else f"the last step of {finding.steps}"
            click.secho(f"good at {known}", fg="green", bold=True)
        case "not_monotonic":
            _print_turns(recording, finding, why)
        case _:
            assert finding.between is not None
            low, high = finding.between
            click.secho(f"which of the steps {low} to {high} is the first bad one, if one is, cannot be told",
                        fg="yellow", bold=True)  # fmt: skip
            click.echo(f"  skipped: {_steps(finding.skipped)}")
            for text in dict.fromkeys(why[step] for step in finding.skipped if why.get(step)):
                click.echo(f"  because: {printable(text, limit=600)}")
    click.secho(_amounts(finding, hints=hints), dim=True)
    if finding.kind == "holds" and not finding.proved and hints:
        say(f"  whether it was bad before: playhead bisect {printable(recording.id)} … --sweep")
    if finding.kind == "not_monotonic" and hints:
        say("  a check that looks at one step at a time: add --each, and the first bad step counts")
    if finding.step is not None:
        _say_next(recording, finding.step)


def print_marked(recording: Recording, marking: Marking) -> None:
    """Print where a search by hand stands, and the step to look at next."""
    finding, run = marking.finding, printable(recording.id)
    if finding.kind != "open":
        print_found(recording, finding, {}, hints=False)
        say(f"  to end the search: playhead bisect {run} --reset")
        return
    step = marking.search.next_step()
    assert step is not None
    assert finding.between is not None
    low, high = finding.between
    say(f"the first bad step is one of {low} to {high}; look at {step}:" if finding.turns
        else f"nothing was found bad so far; look at {step}:")  # fmt: skip
    _print_step(recording, step, {})
    say(f"  next: playhead show {run}#{step}")
    say(f"        playhead bisect {run} --good {step}   (or --bad {step}, --skip {step})")


def _print_turns(recording: Recording, finding: Finding, why: Mapping[int, str]) -> None:
    click.secho(f"not monotonic: it turns {counted(len(finding.turns), 'time')}, so no step is the one "
                "at which it broke", fg="yellow", bold=True)  # fmt: skip
    for turn in finding.turns:
        since = "" if turn.after == turn.step - 1 else f" (step {turn.after} was not yet)"
        click.secho(f"  {turn.verdict} from step {turn.step}{since}", fg="red" if turn.verdict == "bad" else "green")
        if turn.verdict == "bad":
            _print_step(recording, turn.step, why, indent=4)


def _print_step(recording: Recording, step: int, why: Mapping[int, str], indent: int = 2) -> None:
    row = row_of(recording.step(step), width=_WIDE)
    lane = f" in {printable(row.lane)}" if row.lane != "main" else ""
    click.echo(f"{' ' * indent}step {step}: {row.kind} {row.name} {row.said}{lane}".rstrip())
    if why.get(step):
        click.echo(f"{' ' * indent}because: {printable(why[step], limit=600)}")


def _amounts(finding: Finding, *, hints: bool) -> str:
    """How many checks were made, and what the answer rests on."""
    made = f"{counted(finding.checks, 'check')} of {counted(finding.steps, 'step')}"
    if finding.kind == "not_monotonic":
        return f"{made}, then {counted(finding.swept, 'other')} once it was noticed" if finding.swept else made
    if finding.proved:
        rest = "the other one agrees" if finding.swept == 1 else f"the {finding.swept} others agree"
        return f"{made}; {rest}" if finding.swept else made
    assumed = f"{made}; right if it stays bad once it is" if finding.step else made
    return f"{assumed} (--sweep looks at all steps)" if finding.step and hints else assumed


def _steps(steps: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, steps[:12]))
    return f"{shown}, … ({len(steps)})" if len(steps) > 12 else shown


def _say_next(recording: Recording, step: int) -> None:
    first, *more = next_commands(recording, step)
    say(f"  next: {first}")
    for each in more:
        say(f"        {each}")
