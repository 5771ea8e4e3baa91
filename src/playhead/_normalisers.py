"""The normalisers that a project keeps in files of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playhead._configuration import Settings
from playhead.errors import ConfigurationError
from playhead.eventlog import printable

if TYPE_CHECKING:
    from playhead.player import Normaliser

NAME: Final = "NORMALISERS"
"""What a file of normalisers calls the list of them."""


def load_normalisers(settings: Settings) -> tuple[Normaliser, ...]:
    """The normalisers of the files that ``settings`` name, in their order. The files are run.

    Raises `ConfigurationError` where one is not there, fails, or has no list of functions.
    """
    return tuple(each for file in settings.normalisers for each in _load(Path(settings.base, os.path.expanduser(file))))


def _load(path: Path) -> Iterator[Normaliser]:
    spec = spec_from_file_location(f"playhead_normalisers_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise _unusable(path, "it is no Python file")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError:
        raise _unusable(path, "there is no such file") from None
    except Exception as error:
        raise _unusable(path, f"{type(error).__name__}: {error}") from error
    listed = getattr(module, NAME, None)
    if not isinstance(listed, list | tuple) or not all(map(callable, listed)):
        raise _unusable(path, f"it has no list {NAME} of functions")
    yield from listed


def _unusable(path: Path, why: str) -> ConfigurationError:
    return ConfigurationError(
        f"the normalisers in {printable(path)} cannot be used: {printable(why)}", next="playhead help configuration"
    )
