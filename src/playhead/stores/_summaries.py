"""What a list says of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from playhead.errors import PlayheadError, StoreError
from playhead.eventlog import Header, is_held, read_end, read_header

State = Literal["success", "failure", "aborted", "recording", "unreadable"]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """One run in a list.

    ``state`` is how it ended, ``recording`` while it goes on, or ``unreadable`` with the ``reason``. Times are
    wall clock nanoseconds; ``ended_ns`` is that of the last event. ``events`` and ``size`` (stored bytes) count.
    """

    run: str
    kind: str
    task: str | None
    state: State
    path: Path
    size: int
    started_ns: int
    ended_ns: int
    events: int
    sealed: bool
    reason: str | None = None
    starter: str | None = None
    """Of a child process: the run that started it."""


def summarise(path: Path, header: Header | str) -> Summary:
    """The summary of a recording whose header was read, or could not be (then ``header`` says why)."""
    size = path.stat().st_size
    if isinstance(header, str):
        return _unreadable(path, size, header)
    try:
        end = read_end(path)
    except StoreError as error:
        return _unreadable(path, size, error.message)
    state: State = end.finished.outcome if end.finished is not None else "aborted"
    if not end.sealed and is_held(path):
        state = "recording"
    return Summary(
        run=header.run,
        kind=header.kind,
        task=header.task,
        state=state,
        path=path,
        size=size,
        started_ns=header.created_ns,
        ended_ns=max(end.at_ns, header.created_ns),
        events=end.count,
        sealed=end.sealed,
        reason=end.finished.reason if end.finished is not None else None,
        starter=header.starter,
    )


def _unreadable(path: Path, size: int, reason: str) -> Summary:
    return Summary(
        run=path.name.removesuffix(".jsonl").removesuffix(".playhead"),
        kind="?",
        task=None,
        state="unreadable",
        path=path,
        size=size,
        started_ns=0,
        ended_ns=0,
        events=0,
        sealed=False,
        reason=reason,
    )


def header_or_reason(path: Path) -> Header | str:
    """The header, or why there is none to be read."""
    try:
        return read_header(path)
    except PlayheadError as error:
        return error.message
