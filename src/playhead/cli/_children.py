"""The child processes of a run, for a person and as data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playhead.eventlog import Recording
    from playhead.stores import LocalStore


def family_as_data(recording: Recording, store: LocalStore) -> dict[str, Any]:
    """Who started a run, and whom it started; empty where nobody did."""
    import msgspec

    from playhead._children import children_of

    started = recording.started
    is_served = started is not None and started.entry.form == "gateway"  # what asks through it is the run itself
    found: dict[str, Any] = {}
    if started is not None and started.starter is not None:
        found["starter"] = msgspec.to_builtins(started.starter)
    children = [
        {"lane": child.lane, "run": child.run if path is not None else None, "argv": argv, "outcome": _outcome(path)}
        for child, argv, path in children_of(recording, store)
        if child.run is not None or not is_served
    ]
    return {**found, "children": children} if children else found


def family_lines(data: dict[str, Any]) -> Iterator[str]:
    """The same for a person."""
    from playhead.eventlog import printable

    starter = data.get("starter")
    if starter is not None:
        yield f"  started by {printable(starter['run'])} as its lane {printable(starter['lane'])}"
    for child in data.get("children", ()):
        what = f"{printable(child['run'])} ({child['outcome']})" if child["run"] else "not seen inside"
        yield f"  child process {printable(child['lane'])}: {what}"


def family_paths(path: Path, store: LocalStore) -> Iterator[Path]:
    """The recordings of the child processes of the recording at ``path``, and of theirs."""
    from playhead._children import children_of
    from playhead.eventlog import open_recording

    with open_recording(path) as recording:
        found = [each for _, _, each in children_of(recording, store) if each is not None]
    for each in found:
        yield each
        yield from family_paths(each, store)


def _outcome(path: Path | None) -> str | None:
    from playhead.errors import PlayheadError
    from playhead.eventlog import open_recording

    if path is None:
        return None
    try:
        with open_recording(path) as recording:
            return recording.outcome
    except PlayheadError:
        return "unreadable"
