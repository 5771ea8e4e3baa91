"""Recording and replaying in a folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.eventlog import Recording
from playhead.player import ReplayReport

Program = Callable[[], Any]


class Deck:
    """Records programs and replays them."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.report: ReplayReport

    def record(self, program: Program) -> tuple[Recording, Any]:
        """Run ``program`` recorded; the recording and what it gave."""
        with playhead.record(kind="order", store=self.store) as run:
            given = program()
        return playhead.load(run.id, store=self.store), given

    def replay(self, recording: Recording, program: Program, *, match: Any = "strict") -> Any:
        """Run ``program`` against ``recording``; what it gave. The report is kept, also of a divergence."""
        replay = playhead.replay(recording, store=self.store, match=match)
        self.report = replay.report
        with replay:
            return program()

    def comes_out_again(self, program: Program, *, times: int) -> None:
        """Record ``program`` so many times, replay each recording twice: it gives the same, and asks for all of it."""
        for _ in range(times):
            recording, given = self.record(program)
            for _ in range(2):
                assert self.replay(recording, program) == given
                assert self.report.identical, self.report.lines()


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    return Deck(tmp_path)
