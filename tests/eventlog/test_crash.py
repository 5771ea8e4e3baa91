"""After a crash: what was committed is there, the tear is told, and the chain holds up to it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playhead._system import random_hex
from playhead.eventlog import is_held, open_recording, verify
from playhead.events import ToolReturned
from tests.eventlog.runs import Run, child_env, live_run


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kills", [30, pytest.param(120, marks=pytest.mark.sweep)])
def test_a_killed_writer_loses_nothing_that_was_committed(kills: int, tmp_path: Path) -> None:
    """So many processes are killed while they write, each at another moment."""
    chance = random.Random(7)
    torn = events = 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.eventlog.crash_writer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=child_env(),
        cwd=Path(__file__).parents[2],
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for number in range(kills):
            path = tmp_path / f"run-{number}"
            print(path, file=writer.stdin, flush=True)
            child = int(writer.stdout.readline())
            while number % 6 and not committed_count(path):  # every sixth may be killed before it has begun
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.03))
            os.kill(child, signal.SIGKILL)
            assert writer.stdout.readline() == "dead\n"
            found = check(path)
            if found is not None:
                torn += found[0]
                events += found[1]
        writer.stdin.close()
    assert events >= kills * 5 // 6
    print(f"{events} events, {torn} recordings with a torn tail")


def committed_count(path: Path) -> int:
    """How many events the writer knew to be on disk."""
    noted = path.with_suffix(".count")
    return int(noted.read_bytes() or b"0") if noted.exists() else 0


def check(path: Path) -> tuple[bool, int] | None:
    """Whether the tail is torn, and how many events there are; ``None`` where the writer had not begun."""
    live = path.with_name(f"{path.name}.playhead.jsonl")
    committed = committed_count(path)
    if not live.exists() or b"\n" not in live.read_bytes():
        assert committed == 0
        return None
    assert not is_held(live)
    recording = open_recording(live)
    assert recording.outcome == "aborted"
    assert len(recording) >= committed
    for event in recording:
        assert isinstance(event.body, ToolReturned)
        assert event.body.value.startswith(f"{event.seq} ")
    found = verify(live)
    assert found.status in ("ok", "torn")
    assert committed <= found.confirmed <= found.count == len(recording)
    return found.status == "torn", len(recording)


def test_every_whole_line_before_a_tear_is_kept_wherever_it_is(tmp_path: Path) -> None:
    data = live_run(tmp_path, cycles=1).read_bytes()
    header = data.index(b"\n") + 1
    events = list(open_recording(data))
    for end in range(header, len(data)):
        cut = data[:end]
        recording = open_recording(cut)
        whole = cut[: cut.rindex(b"\n") + 1]
        assert len(recording) == len(whole.splitlines()) - whole.count(b'{"mark":') - 1
        assert list(recording) == events[: len(recording)]
        lost = end - len(whole)
        if lost:
            assert recording.torn is not None
            assert (recording.torn.bytes, recording.torn.offset) == (lost, len(whole))
            assert verify(cut).status == "torn"
        else:
            assert recording.torn is None


def test_zeros_that_a_lost_power_left_are_a_torn_tail(tmp_path: Path) -> None:
    data = live_run(tmp_path).read_bytes()
    found = verify(data + b"\x00" * 5000)
    assert found.status == "torn"
    assert found.torn is not None
    assert found.torn.bytes == 5000
    assert found.confirmed == found.count


def test_a_compressed_recording_cut_anywhere_is_read_up_to_the_tear(tmp_path: Path) -> None:
    run = Run(tmp_path / "a")
    for _ in range(60):
        run.add("tool.returned", b'{"value":"%b"}' % random_hex(50_000).encode())
    run.finished()
    data = run.log.seal().read_bytes()
    whole = list(open_recording(data))
    counts = []
    for end in range(200_000, len(data), 74_959):
        recording = open_recording(data[:end])
        counts.append(len(recording))
        assert list(recording) == whole[: len(recording)]
        assert recording.torn is not None
        assert not verify(data[:end]).ok
    assert counts == sorted(counts)
    assert counts[-1] > 40
    assert list(open_recording(data[:-1])) == whole
    assert verify(data[:-1]).status == "torn"
