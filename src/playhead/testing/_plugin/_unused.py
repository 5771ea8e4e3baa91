"""Which recordings no test uses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from playhead.errors import PlayheadError
from playhead.eventlog import LIVE_SUFFIX, read_header, shown_path
from playhead.testing._plugin._places import find_folder, find_place


def list_unused(config: pytest.Config, items: Sequence[pytest.Item], marked: Sequence[pytest.Item]) -> list[str]:
    """The recordings that belong to a collected test file, or to one that is gone, and are no collected test's."""
    used = {find_place(item).path for item in marked}
    files = {item.path for item in items}
    folders = {find_folder(item) for item in items} | {path.parent for path in used}
    lines = []
    for path in sorted({path for top in {each.parent for each in folders} for path in top.rglob(f"*{LIVE_SUFFIX}")}):
        if path not in used and (path.parent in folders or not _has_test_file(path, files, config.rootpath)):
            lines.append(shown_path(path))
    return lines


def _has_test_file(recording: Path, collected: set[Path], root: Path) -> bool:
    """Whether the test file that a recording says it belongs to may be there, though it was not collected now."""
    try:
        name = (read_header(recording).task or "").partition("::")[0]
    except PlayheadError:
        return True
    folders = {path.parent for path in collected} | {root}
    return not name or any((folder / name).exists() for folder in folders)
