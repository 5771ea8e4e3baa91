"""The settings of a suite: a file in its folder that says how its recordings are played."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

import msgspec

from playhead.errors import ConfigurationError
from playhead.eventlog import printable

Match = Literal["strict", "loose"]

FILE: Final = "suite.toml"


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    match: Match | None = None
    normalisers: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    """What to start, where the recording does not say it, or another program than it says."""


class SuiteSettings(_Part, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What ``suite.toml`` says. ``recordings`` are patterns of names, with what holds for those only.

    ``root`` is where the agents' code is, from the folder of the suite: by default the project around it.
    """

    root: str | None = None
    recordings: dict[str, _Part] = {}

    def of(self, name: str) -> _Part:
        """What holds for one recording: the last pattern that says something wins."""
        match, command = self.match, self.command
        normalisers = list(self.normalisers)
        for pattern, part in self.recordings.items():
            if fnmatchcase(name, pattern):
                match, command = part.match or match, part.command or command
                normalisers += [each for each in part.normalisers if each not in normalisers]
        return _Part(match=match, normalisers=tuple(normalisers), command=command)


def read_suite_settings(folder: Path) -> SuiteSettings:
    """The settings of the suite in ``folder``. Raises `ConfigurationError` where they are not usable."""
    path = folder / FILE
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(content, SuiteSettings)
    except FileNotFoundError:
        return SuiteSettings()
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ConfigurationError(
            f"{printable(path)} cannot be used: {error}", next="playhead help configuration"
        ) from None


def check_patterns(settings: SuiteSettings, names: list[str], folder: Path) -> None:
    """Raise `ConfigurationError` where a pattern is of no recording: a name that was mistyped says nothing."""
    for pattern in settings.recordings:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise ConfigurationError(
                f"{printable(folder / FILE)} speaks of {printable(pattern)!r}, and no recording there has such a name",
                next=f"playhead suite {printable(folder)} --list",
            )
