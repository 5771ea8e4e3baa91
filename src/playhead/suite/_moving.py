"""Where the code of a recorded run lies now: on another machine, in another checkout, or where it was."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from playhead.events import Entry, RunStarted

_PYTHON: Final = re.compile(r"python[0-9.]*w?(\.exe)?", re.IGNORECASE)


def move_entry(started: RunStarted, root: Path) -> Entry:
    """The entry of a run with the places where its files are below ``root`` now.

    The program's file is found by the end of its recorded path, the longest that is there, and all other places move
    with it. A recorded folder that is nowhere any more is ``root``, and the interpreter is the one that runs here.
    """
    entry = started.entry
    moved = _find_move(entry, root)
    folder = _move(entry.folder, moved) if entry.folder is not None else str(root)
    if not os.path.isdir(folder):
        folder = str(root)
    argv = [_move(word, moved) if os.path.isabs(word) else word for word in entry.argv]
    if entry.is_command and argv and _PYTHON.fullmatch(Path(argv[0]).name):
        argv[0] = sys.executable
    file = _move(entry.file, moved) if entry.file is not None else None
    return msgspec.structs.replace(entry, folder=folder, file=file, argv=argv)


def _find_move(entry: Entry, root: Path) -> tuple[Path, Path] | None:
    """What the recorded paths began with and what they begin with now, where that is something else."""
    for file in _files(entry):
        if file.is_relative_to(root):
            return None
        for start in range(1, len(file.parts)):
            if root.joinpath(*file.parts[start:]).is_file():
                return Path(*file.parts[:start]), root
    return None


def _files(entry: Entry) -> Iterator[Path]:
    """The files by which a program is known, with their recorded paths."""
    folder = Path(entry.folder or ".")
    if entry.file is not None:
        yield folder / entry.file
    for before, word in zip(["", *entry.argv], entry.argv, strict=False):
        if word.endswith(".py"):
            yield folder / word
        elif before == "-m":
            module = folder.joinpath(*word.split("."))
            yield from (module.with_name(f"{module.name}.py"), module / "__main__.py", module / "__init__.py")


def _move(path: str, moved: tuple[Path, Path] | None) -> str:
    if moved is None or not Path(path).is_relative_to(moved[0]):
        return path
    there = moved[1] / Path(path).relative_to(moved[0])
    return str(there) if there.exists() else path
