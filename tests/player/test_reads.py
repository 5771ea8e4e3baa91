"""Reads of clock and chance when the program has changed since."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import types
from pathlib import Path

import pytest

import playhead
from tests.player.conftest import record

_numbers = itertools.count()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Makes a module ``agent`` of a source text, as if the file had been edited."""

    def make(source: str) -> types.ModuleType:
        path = tmp_path / f"version{next(_numbers)}" / "agent.py"
        path.parent.mkdir()
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("agent", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "agent", module)
        spec.loader.exec_module(module)
        return module

    return make


OLD = """
import playhead, random, uuid
@playhead.tool
def call(id): return f"did {id}"
def main():
    id = uuid.uuid4()
    return call(str(id))
"""


@pytest.mark.parametrize("added", ["jitter = random.random()", "spare = uuid.uuid4()"])
def test_one_new_draw_shifts_no_other_and_is_the_only_thing_reported(program, added: str) -> None:  # type: ignore[no-untyped-def]
    """B48"""
    recording, result = record(program(OLD).main)
    new = program(OLD.replace("    id = uuid", f"    {added}\n    id = uuid"))
    with playhead.replay(recording) as replay:
        assert new.main() == result
    assert list(replay.report.new_reads.values()) == [1]
    assert "agent:main:6" in next(iter(replay.report.new_reads))
    assert not replay.report.drift
    assert not replay.report.unseen


def test_a_read_that_is_not_asked_for_any_more_is_reported(program) -> None:  # type: ignore[no-untyped-def]
    recording, result = record(program(OLD).main)
    new = program(OLD.replace("id = uuid.uuid4()", f"id = {str(result).removeprefix('did ')!r}"))
    with playhead.replay(recording) as replay:
        assert new.main() == result
    assert replay.report.unseen == {"recorded reads that were not asked for": 1}
    assert not replay.report.identical


def test_the_zone_of_the_recorded_run_is_applied_and_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    import datetime
    import time

    def program() -> tuple[str, int]:
        moment = datetime.datetime.fromtimestamp(1_767_225_600)
        return moment.isoformat(), time.localtime(0).tm_gmtoff

    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    recording, result = record(program)
    monkeypatch.setenv("TZ", "America/Lima")
    time.tzset()
    try:
        with playhead.replay(recording):
            assert program() == result
        assert time.localtime(0).tm_gmtoff == -5 * 3600
    finally:
        monkeypatch.undo()
        time.tzset()
