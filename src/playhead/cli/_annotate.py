"""``playhead annotate``: what was wrong in a run, and what should have happened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playhead.cli._options import as_json, example, open_store, store_option
from playhead.cli._output import print_json, say
from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead.eventlog import Recording
    from playhead.stores import LocalStore
    from playhead.suite import Annotation


@click.command("annotate", **example("playhead annotate triage-7f3a --step 7 --wrong 'too much' --expect tool=ask"))
@click.argument("run", required=False)
@click.option("--step", type=click.IntRange(min=1), metavar="N", help="The step at which it went wrong.")
@click.option("--wrong", metavar="TEXT", help="What was wrong.")
@click.option("--expect", multiple=True, metavar="RULE", help="What should have happened; can be given several times.")
@click.option("--class", "failure_class", default="", metavar="NAME", help="Which kind of failure it is.")
@click.option("--remove", type=click.IntRange(min=1), metavar="NUMBER", help="Take an annotation back.")
@click.option(
    "--export",
    "exported",
    type=(click.Choice(["jsonl", "inspect", "pydantic-evals"]), click.Path(dir_okay=False, path_type=Path)),
    metavar="FORM FILE",
    help="Write annotations as a data set: of RUN, or of all runs of the store.",
)
@click.option("--import", "imported", type=click.Path(path_type=Path), metavar="FILE", help="Add those of JSON Lines.")
@store_option
@as_json
def command(
    run: str | None,
    step: int | None,
    wrong: str | None,
    expect: tuple[str, ...],
    failure_class: str,
    remove: int | None,
    exported: tuple[Any, Path] | None,
    imported: Path | None,
    store: str | None,
    as_json: bool,
) -> int:
    """Say what was wrong in a run and what should have happened, for a suite to check.

    \b
    RULE: tool=NAME         this tool is called there
          no-tool=NAME      this one is not
          'argument NAME<=100'  also = != < > >= and ~ with a regular expression
          'answer~REGEX'    the run's result has this; no-answer~REGEX: it has not
          anything else     for a person to judge

    Without --wrong the annotations of RUN are listed. They are kept beside the recording, which stays as it is.
    """
    place = open_store(store)
    if imported is not None:
        return _import(imported, place, as_json)
    if exported is not None:
        return _export(*exported, run, place)
    if run is None:
        raise UsageError("it does not say of which run", next="playhead annotate --help")
    from playhead.suite import annotations_of

    recording = place.open(run)
    kept = annotations_of(recording, place)
    if remove is not None:
        kept.remove(remove)
    elif wrong is not None:
        kept.add(_masked(place, step, wrong, expect, failure_class))
    elif step is not None or expect or failure_class:
        raise UsageError("it does not say what was wrong", next=f"playhead annotate {recording.id} --wrong TEXT")
    _show(recording, list(kept), as_json)
    return 0


def _masked(place: LocalStore, step: int | None, wrong: str, expect: tuple[str, ...], failure_class: str) -> Annotation:
    """An annotation, past the mask: people paste what they see."""
    from playhead._configuration import read_settings
    from playhead._masking import make_masker
    from playhead.suite import Annotation

    text = make_masker(read_settings(store=str(place.path)), place.mask_key()).text
    rules = tuple(map(text, expect))
    return Annotation(wrong=text(wrong), step=step, expect=rules, failure_class=text(failure_class))


def _show(recording: Recording, kept: list[Annotation], as_json: bool) -> None:
    import msgspec

    from playhead.eventlog import printable

    if as_json:
        print_json({"run": recording.id, "annotations": [msgspec.to_builtins(each) for each in kept]})
        return
    for each in kept:
        place = f"step {each.step}" if each.step is not None else "run"
        named = f" ({printable(each.failure_class)})" if each.failure_class else ""
        click.echo(f"{each.number:3}  {place}: {printable(each.wrong, limit=600)}{named}")
        for rule in each.expect:
            click.echo(f"       expect {printable(rule, limit=600)}")
    if not kept:
        say(f"nothing is said of {printable(recording.id)}")
        say(f"  next: playhead annotate {printable(recording.id)} --step N --wrong TEXT --expect RULE")


def _export(form: Any, path: Path, run: str | None, place: LocalStore) -> int:
    from playhead.suite import annotations_of, export_annotations

    said = [each.run for each in place.list() if place.beside("annotations", each.run, ".jsonl").exists()]
    recordings = [place.open(name) for name in ([run] if run is not None else said)]
    pairs = [(recording, each) for recording in recordings for each in annotations_of(recording, place)]
    if not pairs:
        raise UsageError("there is no annotation to write", next="playhead annotate RUN --wrong TEXT --expect RULE")
    try:
        path.write_text(export_annotations(pairs, form), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", next="playhead annotate --help") from error
    click.echo(f"{len(pairs)} written to {path}")
    return 0


def _import(path: Path, place: LocalStore, as_json: bool) -> int:
    from playhead.suite import annotations_of, import_annotations

    found = [(place.open(each.run), each.annotation) for each in import_annotations(path)]
    for recording, annotation in found:  # all are looked at before the first is kept
        if annotation.step is not None:
            recording.step(annotation.step)
        _ = annotation.rules
    added = 0
    for recording, annotation in found:
        masked = _masked(place, annotation.step, annotation.wrong, annotation.expect, annotation.failure_class)
        kept = annotations_of(recording, place)
        said = [(each.step, each.wrong, each.expect, each.failure_class) for each in kept]
        if (masked.step, masked.wrong, masked.expect, masked.failure_class) not in said:
            kept.add(masked)
            added += 1
    if as_json:
        print_json({"read": len(found), "added": added})
    else:
        click.echo(f"{added} of {len(found)} added; the others were there")
    return 0
