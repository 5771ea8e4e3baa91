"""The file names of runs: the same for the same id on every run, on every system, and inside the folder."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

_UNSAFE: Final = re.compile(r"[^a-z0-9_-]|^[.-]")
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])")
_LONGEST: Final = 100


def file_name(run: str) -> str:
    """A file name, without suffix, of at most 125 bytes.

    An id of lower-case letters, digits, ``-`` and ``_`` is its own name. Any other is written with those,
    and a digest keeps it apart from the rest: case, both spellings of ``é`` and what was cut all count.

    >>> file_name("triage-7f3a")
    'triage-7f3a'
    >>> file_name("../../x")
    '------x-9cdf6a50100a862e1428'
    """
    plain = readable_part(run)
    if plain == run and run and not _DEVICES.fullmatch(run):
        return run
    return f"{plain}-{sha256(run.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def readable_part(text: str) -> str:
    """How an id that begins with ``text`` begins as a file name."""
    return _UNSAFE.sub("-", text[:_LONGEST])
