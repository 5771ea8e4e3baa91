"""What changes the folder of a suite: adding a run, and accepting what the present code makes of a recording."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from playhead._children import children_of
from playhead._configuration import read_settings
from playhead._ids import new_id
from playhead._masking import make_masker
from playhead._program import keys_of, play_suite
from playhead.cli._expectations import read_all
from playhead.cli._output import print_json, say
from playhead.cli._suite import print_result
from playhead.errors import CorruptRecordingError, PlayheadError, RecordingExistsError
from playhead.eventlog import LIVE_SUFFIX, SEALED_SUFFIX, Recording, counted, open_recording, pack, printable
from playhead.stores import LocalStore, file_name
from playhead.suite import (
    Accepted,
    Change,
    Fixture,
    Result,
    annotations_file,
    carry_over,
    find_change,
    keep_before,
    with_match,
)

if TYPE_CHECKING:
    from playhead._program import Played


def add_runs(folder: Path, runs: tuple[str, ...], store: LocalStore, *, as_json: bool) -> int:
    """Copy runs, with their child processes, into the folder, as JSON Lines that differ well in git."""
    opened = [store.open(run) for run in runs]
    copies = [copy for recording in opened for copy in _copies(recording, folder, store)]
    for recording, target in copies:
        _check_copy(recording, target)
    folder.mkdir(parents=True, exist_ok=True)
    for recording, target in copies:
        assert recording.path is not None
        pack(recording.path, target, blobs=store.blobs)
        said = annotations_file(recording, store)
        if said.exists():  # the chain, and with it the head that they name, is the same
            shutil.copyfile(said, annotations_file(open_recording(target)))
    paths = [str(target) for _, target in copies]
    if as_json:
        print_json({"added": paths})
        return 0
    for path in paths:
        click.echo(path)
    say("  it holds what was said to the agent, masked: read it before you commit it")
    say(f"  next: playhead suite {printable(folder)}")
    return 0


def _copies(recording: Recording, folder: Path, store: LocalStore) -> Iterator[tuple[Recording, Path]]:
    yield recording, folder / (file_name(recording.id) + LIVE_SUFFIX)
    for _, _, path in children_of(recording, store):
        if path is not None:
            yield from _copies(open_recording(path, blobs=store.blobs), folder, store)


def _check_copy(recording: Recording, target: Path) -> None:
    found = recording.verify()
    run = printable(recording.id)
    if found.breaks or not found.sealed:
        why = str(found.breaks[0]) if found.breaks else "it was cut off, and has no end"
        raise CorruptRecordingError(f"{run} is no fixture: {why}", next=f"playhead verify {run}")
    for path in (target, target.with_name(target.name.removesuffix(LIVE_SUFFIX) + SEALED_SUFFIX)):
        if path.exists():
            raise RecordingExistsError(f"{printable(path)} is there already", next=f"playhead diff {path} {run}")


class _Updating:
    """One recording that has changed: what it would become, or ``why_not``."""

    def __init__(self, fixture: Fixture, result: Result) -> None:
        self.fixture = fixture
        self.result = result
        self.change = Change()
        self.made: Accepted | None = None
        self.why_not = result.problems[0].message
        self.before = ""

    def derive(self, played: Played | None, store: Path) -> None:
        """Make what the loose replay ``played`` makes of it."""
        done = played.done if played is not None else None
        if done is None:
            return
        with open_recording(self.fixture.path) as recording:
            self.change = find_change(
                recording, done.report, done.asked, runs=done.runs, ended=str(done.ended), uncaught=done.uncaught
            )
            self.why_not = self.change.why_not
            if self.why_not:
                return
            masker = make_masker(read_settings(store=str(store)), LocalStore(store).mask_key())
            try:
                self.made = Accepted(recording, self.change, run=new_id(recording.kind), masker=masker)
            except PlayheadError as error:
                self.why_not = error.message

    def prove(self, result: Result) -> None:
        """Take note of how the present code holds against what was made."""
        if not result.ok and self.made is not None:
            self.made.discard()
            self.made = None
            self.why_not = f"what it would become does not hold either: {result.problems[0].message}"

    def settle(self, store: LocalStore, *, asks: bool) -> None:
        """Put it in the place of the one before, if the person is for it."""
        if self.made is None:
            return
        try:
            if not asks or not sys.stdin.isatty() or click.confirm("  accept?", default=True, err=True):
                self.before = keep_before(self.fixture.path, store)
                said = read_all([self.fixture]).get(self.fixture.path, [])
                self.made.replace(self.fixture.path)
                if said:
                    with open_recording(self.fixture.path) as recording:
                        carry_over(said, recording, annotations_file(recording), self.change.dropped)
            else:
                self.why_not = "it was declined"
        finally:
            self.made.discard()

    def show(self) -> None:
        """What has changed, and what it would become."""
        print_result(self.result)
        for words in self.change.words:
            click.secho(f"  | {printable(words, limit=400)}", fg="cyan")

    def tell(self) -> None:
        """What became of it."""
        if self.before:
            say(f"    accepted; the one before: {printable(self.before)}")
            return
        click.secho("  not accepted", fg="yellow")
        for line in self.why_not.split("\n"):
            click.echo(f"  | {printable(line, limit=600)}")
        say(f"    go on from a step live, or record it again: playhead fork {printable(self.fixture.path)} --at STEP")

    def as_data(self) -> dict[str, Any]:
        """The same as plain JSON."""
        accepted = bool(self.before)
        told = {"name": self.fixture.name, "accepted": accepted, "changes": list(self.change.words)}
        return {**told, **({"before": self.before} if accepted else {"why_not": self.why_not})}


def update_suite(
    folder: Path, fixtures: list[Fixture], store: LocalStore, *, jobs: int | None, limit_s: float, as_json: bool
) -> int:
    """Show what has changed and accept what a recording can answer. Exit code 1: something could not be accepted."""
    how: dict[str, Any] = {"folder": str(folder), "jobs": jobs, "limit_s": limit_s}
    found = {each.name: each for each in play_suite(fixtures, store, **how).results if not each.ok}
    changed = {each.name: _Updating(each, found[each.name]) for each in fixtures if each.name in found}
    with keys_of(store) as place:

        def derive(fixture: Fixture, result: Result, played: Played | None) -> None:
            changed[fixture.name].derive(played, place)

        loose = [with_match(each.fixture, "loose") for each in changed.values()]
        play_suite(loose, LocalStore(place), attentive=True, told=derive, **how)
        made = [
            with_match(each.fixture, each.fixture.match, path=each.made.path) for each in changed.values() if each.made
        ]
        for result in play_suite(made, LocalStore(place), **how).results:
            changed[result.name].prove(result)
    for each in changed.values():
        if not as_json:
            each.show()
        each.settle(store, asks=not as_json)
        if not as_json:
            each.tell()
    accepted = sum(bool(each.before) for each in changed.values())
    left = len(changed) - accepted
    if as_json:
        updated = [each.as_data() for each in changed.values()]
        print_json({"folder": str(folder), "played": len(fixtures), "updated": updated})
    else:
        text = f"{counted(len(fixtures), 'recording')}: {accepted} updated" + (f", {left} not" if left else "")
        click.secho(text, fg="red" if left else "green", bold=True)
    return 1 if left else 0
