"""Agents of many shapes of concurrency come out the same each time that they are replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

import playhead
from tests.order.shapes import SHAPES


@pytest.mark.parametrize("times", [1, pytest.param(3, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("name", SHAPES)
def test_a_race_is_replayed_as_it_was_run(name: str, times: int, tmp_path: Path) -> None:
    """B51"""
    agent = SHAPES[name]
    for _ in range(times):
        with playhead.record(kind=name.replace("_", "-"), store=tmp_path) as run:
            outcome = agent()
        for _ in range(2):
            with playhead.replay(run.id, store=tmp_path) as replay:
                assert agent() == outcome
            assert replay.report.identical, replay.report.lines()
