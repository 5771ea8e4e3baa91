"""Where the recording of a test lies: the same file for the same test on every run and every system."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from playhead.errors import UsageError
from playhead.eventlog import LIVE_SUFFIX
from playhead.player import Matching, Normaliser
from playhead.stores import file_name

FOLDER: Final = "recordings"
"""The folder of the recordings, beside the test file, where none is configured."""

_LONGEST: Final = 80
_UNSAFE: Final = re.compile(r"[^a-z0-9_]+")


class Mark(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of ``@pytest.mark.playhead``.

    ``match`` and ``normalisers`` are those of `playhead.replay`. ``name`` is that of the recording, so that several
    tests of a file can share one; ``store`` its folder, from the test file.
    """

    match: Any = "strict"
    name: str | None = None
    normalisers: Sequence[Callable[..., Any]] = ()
    store: str | None = None


class Place(msgspec.Struct, frozen=True):
    """Where the recording of a test lies, what it calls its test, and how it is to be played."""

    path: Path
    test: str
    match: Matching
    normalisers: tuple[Normaliser, ...]


def find_place(item: pytest.Item) -> Place:
    """The place of the recording of ``item``. Raises `UsageError` for a mark with other arguments than it takes."""
    mark = _read_mark(item)
    name = mark.name or item.nodeid.partition("::")[2]
    folder = find_folder(item, mark.store)
    return Place(
        path=folder / f"{safe_name(name)}{LIVE_SUFFIX}",
        test=f"{item.path.name}::{name}",
        match=mark.match,
        normalisers=tuple(mark.normalisers),
    )


def find_folder(item: pytest.Item, store: str | None = None) -> Path:
    """The folder of all recordings of the test file of ``item``."""
    config = item.config
    asked: str | None = config.getoption("playhead_store")
    configured: str | None = config.getini("playhead_store")
    stem = safe_name(item.path.stem)
    if store is not None:
        return item.path.parent / store / stem
    if not asked and not configured:
        return item.path.parent / FOLDER / stem
    top = config.invocation_params.dir / asked if asked else config.rootpath / str(configured)
    between = Path(os.path.relpath(item.path.parent, config.rootpath)).parts
    return top.joinpath(*map(safe_name, between), stem)


def safe_name(text: str) -> str:
    """A name for a file or folder, of less than 110 bytes, that differs for every other ``text``.

    >>> safe_name("test_refund"), safe_name("test_refund[EUR]")
    ('test_refund', 'test_refund-eur-233ea8bf47')
    """
    plain = _UNSAFE.sub("-", text.lower()).strip("-")[:_LONGEST]
    if plain == text:
        return file_name(text)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain}-{digest[:10]}" if plain else digest[:10]


def _read_mark(item: pytest.Item) -> Mark:
    marks = list(item.iter_markers("playhead"))
    given: dict[str, Any] = {}
    for mark in reversed(marks):  # the nearest one wins
        given |= mark.kwargs
        if mark.args:
            raise _wrong_mark(item, "its arguments are given by name")
    unknown = [name for name in given if name not in Mark.__struct_fields__]
    if unknown:
        raise _wrong_mark(item, f"it has no argument {unknown[0]!r}")
    return Mark(**given)


def _wrong_mark(item: pytest.Item, why: str) -> UsageError:
    takes = ", ".join(f"{name}=" for name in Mark.__struct_fields__)
    return UsageError(f"@pytest.mark.playhead of {item.name}: {why}; it takes {takes}", next="pytest --markers")
