"""``playhead suite``: a folder of recordings is played against the present code."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.suite import Fixture, Result, Summary

_COLOURS = {"held": "green", "drifted": "cyan", "changed": "red", "broken": "yellow"}


@click.command("suite", **example("playhead suite tests/runs --junit report.xml"))
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--match", type=click.Choice(["strict", "loose"]), help="For all recordings, whatever the settings of DIR say."
)
@click.option("--only", multiple=True, metavar="NAME", help="Only this recording; a pattern with * and ?.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="So many at a time. Default: as many as cores.")
@click.option(
    "--limit",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="A replay that takes longer is ended, and has failed.",
)
@click.option("--list", "lists", is_flag=True, help="Name the recordings and how they are matched; play none.")
@click.option("--add", "added", multiple=True, metavar="RUN", help="Copy a run of the store into DIR; play none.")
@click.option("--update", is_flag=True, help="Show what has changed, and accept it where the recording can answer it.")
@click.option("--expectations", is_flag=True, help="Judge by what was expected of annotated recordings, loosely.")
@click.option(
    "--history",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --expectations: add the score to this file, and show the ones before.",
)
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write JUnit XML there.")
@click.option(
    "--markdown", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write a summary there."
)
@store_option
@as_json
def command(
    folder: Path,
    match: Literal["strict", "loose"] | None,
    only: tuple[str, ...],
    jobs: int | None,
    limit: float,
    lists: bool,
    added: tuple[str, ...],
    update: bool,
    expectations: bool,
    history: Path | None,
    junit: Path | None,
    markdown: Path | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Play a folder of recordings against the present code, and fail where it asks something else.

    Strict, unless suite.toml in DIR says loose. Exit code 1: something has changed. 3: something could not be played.
    In a workflow of GitHub each failure is an annotation, and the summary is on the page of the job.
    """
    from playhead.suite import read_suite

    if added:
        from playhead.cli._suite_changes import add_runs

        return add_runs(folder, added, open_store(store), as_json=as_json)
    fixtures = read_suite(folder, match=match, only=only)
    if lists:
        return _list(fixtures, as_json)
    if update:
        from playhead.cli._suite_changes import update_suite

        return update_suite(folder, fixtures, open_store(store), jobs=jobs, limit_s=limit, as_json=as_json)
    if expectations:
        from playhead.cli._expectations import refuse_with, score_suite

        refuse_with(junit=junit, markdown=markdown, match=match)
        place = open_store(store)
        return score_suite(folder, fixtures, place, history=history, as_json=as_json, jobs=jobs, limit_s=limit)
    from playhead._program import play_suite

    def tell(fixture: Fixture, result: Result, played: Any) -> None:
        if not as_json and result.outcome != "held":
            print_result(result)

    summary = play_suite(fixtures, open_store(store), folder=str(folder), jobs=jobs, limit_s=limit, told=tell)
    hand_out(summary, junit=junit, markdown=markdown)
    if as_json:
        print_json(as_data(summary))
    else:
        print_summary(summary)
    return summary.exit_code


def _list(fixtures: list[Fixture], as_json: bool) -> int:
    from playhead.eventlog import printable

    if as_json:
        print_json([{"name": each.name, "path": str(each.path), "match": each.match} for each in fixtures])
        return 0
    for each in fixtures:
        click.echo(f"{each.match:6}  {printable(each.name)}")
    return 0


def print_result(result: Result) -> None:
    """A recording that is not as it was, and by what."""
    from playhead.eventlog import printable

    click.secho(f"{result.outcome:7}  {printable(result.name)}", fg=_COLOURS[result.outcome])
    for problem in result.problems:
        for line in problem.message.split("\n"):
            click.echo(f"  | {printable(line, limit=2000)}")
        if problem.where is not None:
            click.echo(f"  | asked at {printable(problem.where)}")
    for text in result.drift[:5] if result.ok else ():
        click.echo(f"  | {printable(text, limit=400)}")
    if result.outcome == "broken" and result.output:
        for line in result.output.rstrip().split("\n")[-8:]:
            click.echo(f"  | > {printable(line, limit=400)}")
    if result.next:
        say(f"    next: {printable(result.next)}")


def print_summary(summary: Summary) -> None:
    """The last line, and what to type where not all is well."""
    from playhead.eventlog import printable

    click.secho(str(summary), fg="green" if summary.ok else "red", bold=True)
    click.secho(f"  in {summary.took_ns / 1e9:.1f} s", dim=True)
    if summary.count("changed"):
        say(f"  meant so? playhead suite {printable(summary.folder)} --update")


def as_data(summary: Summary) -> dict[str, Any]:
    """The results as plain JSON."""
    import msgspec

    counts = {name: summary.count(name) for name in ("held", "drifted", "changed", "broken")}
    return {"ok": summary.ok, **counts, **msgspec.to_builtins(summary)}


def hand_out(summary: Summary, *, junit: Path | None, markdown: Path | None) -> None:
    """Write the reports that were asked for, and those that a workflow of GitHub has a place for."""
    from playhead._system import ENVIRONMENT
    from playhead.suite import as_junit, as_markdown, github_annotations

    if junit is not None:
        _write(junit, as_junit(summary))
    if markdown is not None:
        _write(markdown, as_markdown(summary))
    page = ENVIRONMENT.get("GITHUB_STEP_SUMMARY")
    if page:
        _write(Path(page), as_markdown(summary), mode="a")
    if ENVIRONMENT.get("GITHUB_ACTIONS") == "true":
        for line in github_annotations(summary):
            click.echo(line, err=True)


def _write(path: Path, text: str, mode: Literal["w", "a"] = "w") -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {path}: {error.strerror}", next="playhead suite DIR --junit FILE"
        ) from error
