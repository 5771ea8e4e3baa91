"""The ids that runs are given."""

from __future__ import annotations

import re

from playhead._system import random_hex

_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def new_id(kind: str) -> str:
    """A new run id: the kind, in letters that every file system takes, and eight random digits."""
    return f"{_NAME.sub('-', kind).strip('-.')[:60] or 'run'}-{random_hex(8)}"
