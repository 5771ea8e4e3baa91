"""Keys that a store keeps for itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from playhead._system import random_bytes, random_hex
from playhead.errors import StoreError
from playhead.eventlog import printable, writing

_LENGTH: Final = 32


def read_or_make_key(path: Path) -> bytes:
    """The key in a file that only its owner may read; made, whole or not at all, where there is none.

    Raises `StoreError` where something else is in the file, `StoreNotWritableError` where it cannot be used.
    """
    with writing(path):
        if not path.exists():
            _make(path)
        text = path.read_text("ascii", errors="replace").strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != _LENGTH:
        raise StoreError(f"{printable(path)} is not a key of playhead", next="playhead doctor")
    return key


def _make(path: Path) -> None:
    beside = path.with_name(f".{path.name}.tmp-{random_hex(8)}")
    fd = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(fd, "w", encoding="ascii") as file:
            file.write(random_bytes(_LENGTH).hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    except FileExistsError:  # another process was quicker: its key is the key
        return
    finally:
        beside.unlink(missing_ok=True)
