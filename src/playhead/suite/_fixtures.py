"""The folder of a suite: its recordings, and where the code that they are played against lies now."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import msgspec

from playhead.errors import CorruptRecordingError, PlayheadError, UsageError
from playhead.eventlog import LIVE_SUFFIX, SEALED_SUFFIX, open_recording, printable, read_header
from playhead.events import Entry
from playhead.suite._moving import move_entry
from playhead.suite._settings import Match, check_patterns, read_suite_settings

_PROJECT: Final = ("pyproject.toml", "playhead.toml", ".git")


class Fixture(msgspec.Struct, frozen=True):
    """A recording of a suite, and how it is played.

    ``name`` is its path in the folder without the suffix. ``root`` is where the code lies.
    """

    name: str
    path: Path
    root: Path
    match: Match
    normalisers: tuple[Path, ...]
    command: tuple[str, ...]

    def entry(self) -> tuple[Entry, str | None]:
        """How the run is entered, with the places where its files are now, and its hash seed.

        Raises what reading the recording raises; `CorruptRecordingError` where its chain does not hold: a fixture that
        was changed by hand proves nothing.
        """
        with open_recording(self.path) as recording:
            found = recording.verify()
            started = recording.started
            if found.breaks or not found.sealed or started is None:
                why = str(found.breaks[0]) if found.breaks else "its beginning or its end is missing"
                raise CorruptRecordingError(
                    f"{printable(self.path)} is not what was recorded: {why}", next=f"playhead verify {self.path}"
                )
            return move_entry(started, self.root), started.environment.hash_seed


def with_match(fixture: Fixture, match: Match, *, path: Path | None = None) -> Fixture:
    """The same, matched otherwise or from another file."""
    return msgspec.structs.replace(fixture, match=match, path=path or fixture.path)


def read_suite(folder: Path, *, match: Match | None = None, only: Sequence[str] = ()) -> list[Fixture]:
    """The recordings of the suite in ``folder``, by name.

    ``match`` holds for all, whatever the settings say; ``only`` are patterns of names. Recordings of child processes
    are left out: they are played together with the run that started them. Raises `UsageError` where there is nothing
    to play, since nothing must not pass for success, and `ConfigurationError`.
    """
    if not folder.is_dir():
        raise UsageError(
            f"{printable(folder)} is no folder of recordings", next=f"playhead suite {printable(folder)} --add RUN"
        )
    settings = read_suite_settings(folder)
    root = (folder / settings.root).resolve() if settings.root is not None else find_root(folder)
    found = {_name(path, folder): path for path in sorted(folder.rglob("*")) if _is_recording(path)}
    check_patterns(settings, list(found), folder)
    chosen = {
        name: path for name, path in found.items() if not only or any(fnmatchcase(name, pattern) for pattern in only)
    }
    if not chosen:
        raise _nothing(folder, only, list(found))
    fixtures = []
    for name, path in chosen.items():
        part = settings.of(name)
        fixtures.append(
            Fixture(
                name=name,
                path=path,
                root=root,
                match=match or part.match or "strict",
                normalisers=tuple(folder / each for each in part.normalisers),
                command=part.command,
            )
        )
    return fixtures


def find_root(folder: Path) -> Path:
    """The project around a folder; outside of any project the folder's parent."""
    here = folder.resolve()
    for place in here.parents:
        if any((place / name).exists() for name in _PROJECT):
            return place
    return here.parent


def _is_recording(path: Path) -> bool:
    if not path.name.endswith((SEALED_SUFFIX, LIVE_SUFFIX)) or not path.is_file():
        return False
    try:
        return read_header(path).starter is None
    except PlayheadError:
        return True  # it is told when it is played


def _name(path: Path, folder: Path) -> str:
    name = path.relative_to(folder).as_posix()
    short = name.removesuffix(LIVE_SUFFIX).removesuffix(SEALED_SUFFIX)
    both = all((folder / f"{short}{suffix}").exists() for suffix in (LIVE_SUFFIX, SEALED_SUFFIX))
    return name if both else short


def _nothing(folder: Path, only: Sequence[str], names: list[str]) -> UsageError:
    if not only:
        return UsageError(
            f"there is no recording in {printable(folder)}", next=f"playhead suite {printable(folder)} --add RUN"
        )
    import difflib

    near = difflib.get_close_matches(only[0], names, n=3, cutoff=0.4)
    like = f"; there is {' and '.join(map(printable, near))}" if near else ""
    return UsageError(
        f"no recording in {printable(folder)} has the name {printable(only[0])}{like}",
        next=f"playhead suite {printable(folder)} --list",
    )
