"""How many annotated failures were fixed, run by run: a line each in a file that the user names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from playhead._system import SystemClock
from playhead.errors import UsageError
from playhead.eventlog import printable, writing
from playhead.suite._expectations import Score


class _Entry(msgspec.Struct, frozen=True):
    at: str
    commit: str
    all: int
    fixed: int
    classes: dict[str, dict[str, int]]


def keep_score(score: Score, file: Path, code: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Add a line to ``file``; gives those that were there before. Raises `UsageError` where they are something else.

    ``code`` says at which commit the code is.
    """
    try:
        lines = file.read_bytes().splitlines()
        before = [msgspec.json.decode(line, type=_Entry) for line in lines]
    except FileNotFoundError:
        before = []
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"{printable(file)} is no history of a suite: {error}",
            next="playhead suite DIR --expectations --history FILE",
        ) from None
    at = datetime.fromtimestamp(SystemClock.wall_ns() / 1e9, UTC).isoformat(timespec="seconds")
    commit = str(code.get("commit", "")) + ("+" if code.get("dirty") else "")
    entry = _Entry(at, commit, len(score.scored), score.count("fixed"), score.by_class())
    with writing(file), file.open("ab") as target:
        target.write(msgspec.json.encode(entry) + b"\n")
    return [msgspec.to_builtins(each) for each in before]
