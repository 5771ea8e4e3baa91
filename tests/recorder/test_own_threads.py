"""Threads of the recorder's own belong to no run."""

from __future__ import annotations

import threading
from pathlib import Path

import playhead
from playhead.boundary import as_fallback, current_lane
from playhead.recorder._threads import start_unwatched


def test_such_a_thread_has_no_lane_from_its_first_moment_on(tmp_path: Path) -> None:
    """Also where code without a lane belongs to the run: it would wait for the writer, which may wait for its start."""
    with playhead.record(store=tmp_path):
        lane = current_lane()
        assert lane is not None
        with as_fallback(lane):
            own = threading.Thread(target=list, name="own")
            assert start_unwatched(own)
            own.join()
        assert [name for name in lane._ordinals if name.startswith("thread.")] == []
