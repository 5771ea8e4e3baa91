"""Recordings of every released format are read as they were meant (``tests/golden``, never made again)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from playhead.eventlog import open_recording, verify
from playhead.events import ErasedBody, NoteAdded, ToolReturned, UnknownBody, decode
from tests.eventlog.test_second_verifier import second
from tests.golden.make import VALUES

FOLDER = Path(__file__).parents[1] / "golden" / "format-1"
PATHS = [FOLDER / "format-1.playhead", FOLDER / "format-1.playhead.jsonl"]
HEAD = "97b7f147b4576504d2f843086f5ba5f12c9b31b62f859238766d93083c1e6472"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.suffix)
def test_a_recording_of_format_1_is_read(path: Path) -> None:
    recording = open_recording(path)
    assert (recording.id, recording.kind, recording.task) == ("triage-7f3a", "triage", "T-42")
    assert recording.started is not None
    assert recording.started.environment.python == "3.12.1"
    assert (recording.outcome, recording.finished.reason) == ("failure", "HTTP 403")  # type: ignore[union-attr]
    assert len(recording.steps) == 7
    assert recording.context(7)["messages"] == [
        {"role": "system", "content": "You triage."},
        {"role": "user", "content": "Hi"},
        *({"role": "tool", "content": f"result {number}"} for number in range(3)),
    ]
    assert recording.lanes == ("main", "main/search#1")
    (large,) = recording.in_lane("main/search#1")
    assert large.body == ToolReturned(value="large " * 15_000)
    *_, erased, later, _finished, _sealed = recording
    assert isinstance(erased.body, ErasedBody)
    assert later.kind == "x.later"
    assert later.body == UnknownBody(raw=b'{"z":1.50,"a":[1e2]}')
    values = [decode(event.body.details) for event in recording if isinstance(event.body, NoteAdded)]
    assert all(same(found, meant) for found, meant in zip(values, VALUES, strict=True))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.suffix)
def test_a_recording_of_format_1_verifies(path: Path) -> None:
    found = verify(path)
    assert (found.status, found.sealed, found.erased, found.head) == ("ok", True, 1, HEAD)
    assert found.key is not None
    assert second(path).startswith("ok: ")


def same(found: Any, meant: Any) -> bool:
    """Equal, of the same type, and for numbers of the same sign."""
    if isinstance(meant, float):
        return type(found) is float and (repr(found) == repr(meant) or (math.isnan(found) and math.isnan(meant)))
    return type(found) is type(meant) and bool(found == meant)
