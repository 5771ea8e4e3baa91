"""Where the store of a project is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playhead._system import ENVIRONMENT

FOLDER: Final = ".playhead"
_PROJECT: Final = ("pyproject.toml", ".git")


def find_other_stores(store: Path) -> Iterator[Path]:
    """Folders of recordings in the current folder or above it, the nearest first, that are not ``store``."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        return
    known = os.path.realpath(store)
    for folder in (here, *here.parents):
        other = folder / FOLDER
        if os.path.isdir(other / "recordings") and os.path.realpath(other) != known:
            yield other


def find_store(start: Path | None = None) -> Path:
    """The folder in which the recordings of a project are kept, whether it exists yet or not.

    ``PLAYHEAD_STORE`` names it. Otherwise it is ``.playhead`` in ``start`` (the current folder) or beside the
    nearest ``pyproject.toml`` or ``.git`` above that has one; where none has, it will be beside the nearest of
    those, or in ``start`` outside any project.
    """
    named = ENVIRONMENT.get("PLAYHEAD_STORE")
    if named:
        return Path(os.path.expanduser(named))
    here = (start or Path.cwd()).absolute()
    projects = [folder for folder in (here, *here.parents) if any((folder / name).exists() for name in _PROJECT)]
    for folder in (here, *projects):
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    return (projects[0] if projects else here) / FOLDER
