"""``playhead suite DIR --expectations``: does the present code do what people said it should have done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playhead._program import play_suite
from playhead._system import SystemClock
from playhead.cli._output import print_json, say
from playhead.errors import PlayheadError, UsageError
from playhead.eventlog import open_recording, printable
from playhead.recorder import read_code
from playhead.stores import LocalStore
from playhead.suite import (
    Annotation,
    Annotations,
    Fixture,
    Result,
    Score,
    Scored,
    annotations_file,
    judge_annotation,
    keep_score,
    with_match,
)

if TYPE_CHECKING:
    from playhead._program import Played

_COLOURS = {"fixed": "green", "not fixed": "red", "open": "yellow", "broken": "yellow"}
_SIGNS = {"held": "+", "failed": "-", "open": "?"}


def score_suite(
    folder: Path, fixtures: list[Fixture], store: LocalStore, *, history: Path | None, as_json: bool, **how: Any
) -> int:
    """Play the annotated recordings of a suite loosely, and judge what was expected of each."""
    began_ns = SystemClock.mono_ns()
    said = {fixture.name: _annotations(fixture) for fixture in fixtures}
    annotated = [with_match(each, "loose") for each in fixtures if said[each.name]]
    if not annotated:
        raise UsageError(
            f"no recording in {printable(folder)} is annotated",
            next=f"playhead annotate {printable(fixtures[0].path)} --step N --wrong TEXT --expect RULE",
        )
    scored: dict[str, list[Scored]] = {}

    def judge(fixture: Fixture, result: Result, played: Played | None) -> None:
        scored[fixture.name] = [_judged(fixture, each, result, played) for each in said[fixture.name]]

    play_suite(annotated, store, folder=str(folder), attentive=True, told=judge, **how)
    found = tuple(each for fixture in annotated for each in scored[fixture.name])
    score = Score(str(folder), found, SystemClock.mono_ns() - began_ns)
    before = keep_score(score, history, read_code(str(folder.absolute()))) if history is not None else []
    if as_json:
        import msgspec

        print_json({**msgspec.to_builtins(score), "by_class": score.by_class(), "before": before})
    else:
        _print(score, before)
    return score.exit_code


def _annotations(fixture: Fixture) -> list[Annotation]:
    with open_recording(fixture.path) as recording:
        return list(Annotations(recording, annotations_file(recording)))


def _judged(fixture: Fixture, annotation: Annotation, result: Result, played: Played | None) -> Scored:
    done = played.done if played is not None else None
    with open_recording(fixture.path) as recording:
        if done is not None:
            return judge_annotation(fixture.name, recording, annotation, done.report, done.asked, done.runs)
        return Scored(
            name=fixture.name,
            run=recording.id,
            number=annotation.number,
            wrong=annotation.wrong,
            fixed="broken",
            step=annotation.step,
            failure_class=annotation.failure_class,
            why=result.problems[0].message,
        )


def _print(score: Score, before: list[dict[str, Any]]) -> None:
    for each in score.scored:
        place = f" step {each.step}" if each.step is not None else ""
        head = f"{each.fixed:9}  {printable(each.name)}{place}: {printable(each.wrong, limit=400)}"
        click.secho(head, fg=_COLOURS[each.fixed])
        for judged in each.expectations:
            text = f"{printable(judged.rule, limit=300)}: {printable(judged.why, limit=300)}"
            click.echo(f"  | {_SIGNS[judged.verdict]} {text}")
        if each.why:
            click.echo(f"  | {printable(each.why, limit=600)}")
    for name, counts in score.by_class().items():
        known = ", ".join(f"{count} {fixed}" for fixed, count in counts.items())
        click.echo(f"{printable(name)}: {known}")
    for earlier in before[-5:]:
        click.secho(
            f"  {earlier['at']} {earlier['commit'][:10]}: {earlier['fixed']} of {earlier['all']} fixed", dim=True
        )
    click.secho(str(score), fg="green" if score.exit_code == 0 else "red", bold=True)
    if score.count("open"):
        say("  what is open needs a live model or a person: playhead fork RUN --at STEP")


def refuse_with(**others: Any) -> None:
    """Raise `UsageError` where something else was asked for as well."""
    for name, value in others.items():
        if value:
            raise UsageError(f"--expectations goes without --{name}", next="playhead suite DIR --expectations")


def read_all(fixtures: list[Fixture]) -> dict[Path, list[Annotation]]:
    """What is said of each recording, before it is replaced. What cannot be read is left alone."""
    found = {}
    for fixture in fixtures:
        try:
            found[fixture.path] = _annotations(fixture)
        except PlayheadError:
            continue
    return found
