"""What was put long ago is committed without waiting for what was put with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from playhead import _system
from playhead.events import encode_body
from playhead.recorder import Writer
from tests.eventlog.runs import STARTED, Run


def carry_out(run: Run, *jobs: tuple[Callable[[], object], int]) -> None:
    """Have ``jobs``, each with its size, carried out by a writer that has been given all of them before it begins."""
    writer = Writer(run.log)
    begin = threading.Event()
    writer.put((begin.wait,))
    for job, size in jobs:
        writer.put((job,), size)
    begin.set()
    writer.drain()
    writer.close(run.log.seal)


def test_jobs_that_waited_behind_others_are_committed_by_when_they_were_put(tmp_path: Path) -> None:
    run = Run(tmp_path / "late")
    sizes: list[int] = []

    def slow() -> None:
        sizes.append(run.log.size)
        run.add("run.started", encode_body(STARTED))
        _system.sleep(0.03)

    carry_out(run, *[(slow, 0)] * 5)
    assert sizes[2] < sizes[3] < sizes[4], "what was late already waited for others"


def test_what_was_put_before_a_very_large_job_is_committed_before_it(tmp_path: Path) -> None:
    run = Run(tmp_path / "large")
    sizes: list[int] = []

    def small() -> None:
        sizes.append(run.log.size)
        run.add("run.started", encode_body(STARTED))

    carry_out(run, (small, 0), (lambda: sizes.append(run.log.size), 1 << 20))
    assert sizes[0] < sizes[1]
