"""Reads of clock and chance find their recorded values when the program around them has moved."""

from __future__ import annotations

from pathlib import Path

import playhead
from tests.integrations._reads import load_agent

OLD = """
    import uuid

    def go():
        first = uuid.uuid4()
        second = uuid.uuid4()
        return first, second
"""

NEW = """
    import random
    import uuid


    def go():
        jitter = random.random()
        second = uuid.uuid4()
        first = uuid.uuid4()
        return first, second
"""


def test_lines_that_have_moved_keep_their_values_and_one_new_draw_is_all_that_is_said(tmp_path: Path) -> None:
    """B48: a draw was added and two lines changed places; each keeps what it drew."""
    agent = load_agent(tmp_path, OLD)
    with playhead.record(kind="moved", store=str(tmp_path / "store")) as run:
        recorded = agent.go()
    agent = load_agent(tmp_path, NEW)
    with playhead.replay(playhead.load(run.id, store=str(tmp_path / "store"))) as replay:
        assert agent.go() == recorded
    assert [name.partition("#")[0] for name in replay.report.new_reads] == ["random read random.random at agent:go:7"]
    assert not replay.report.unplayed
