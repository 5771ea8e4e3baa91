"""A recording process that is killed at any moment loses nothing that it had 100 ms to write."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead import _system
from playhead.errors import DivergenceError
from playhead.eventlog import Recording, is_held, verify
from playhead.events import ClockRead, ModelRequested, ModelResponded, ToolReturned
from playhead.providers import read_json
from playhead.testing import ModelServer, Request, Text, forbid_connections
from tests.eventlog.runs import child_env
from tests.recorder import dying
from tests.recorder.agents import act

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

INTERVAL_NS = 100_000_000
"""The promise: what was handed over so long ago is on disk."""

PULSE_NS = int(dying.PULSE_S * 1.2e9)

Seen = dict[str, dict[int, tuple[int, str]]]
"""What a child reported: by kind and number, the moment and the value."""


class Doomed:
    """Starts children that record and kills them."""

    def __init__(self, process: subprocess.Popen[str], url: str, store: Path) -> None:
        self._process = process
        self._url = url
        self.store = store

    def start(self, run: str, *, durability: str = "group") -> int:
        """The child's process id; it has begun to report."""
        assert self._process.stdin is not None
        order = {"id": run, "url": self._url, "store": str(self.store), "durability": durability}
        print(json.dumps(order), file=self._process.stdin, flush=True)
        self._seen: Seen = defaultdict(dict)
        self._pid = 0
        while not self._pid or not self._seen:
            self._take()
        return self._pid

    def see(self, kind: str, number: int) -> None:
        """Wait for a report."""
        while number not in self._seen[kind]:
            self._take()

    def kill(self) -> tuple[int, Seen]:
        """The moment just before the kill, and all that was reported."""
        moment = _system.SystemClock.mono_ns()
        os.kill(self._pid, signal.SIGKILL)
        while self._take():
            pass
        return moment, self._seen

    def _take(self) -> bool:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        kind, _, rest = line.strip().partition(" ")
        if kind == "born":
            self._pid = int(rest)
        elif kind != "dead":
            assert rest, line
            number, at, value = rest.split(" ", 2)
            self._seen[kind][int(number)] = (int(at), value)
        return kind != "dead"


@contextmanager
def doom(store: Path) -> Iterator[Doomed]:
    def answer(request: Request) -> Text:
        return Text("answer to " + request.user_text)

    with (
        ModelServer(answer) as server,
        subprocess.Popen(
            [sys.executable, "-m", "tests.recorder.dying"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=child_env(),
            cwd=Path(__file__).parents[2],
        ) as process,
    ):
        yield Doomed(process, server.openai_url + "/chat/completions", store)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.sweep)])
def test_what_was_handed_over_before_the_commit_interval_survives_a_kill(kills: int, tmp_path: Path) -> None:
    chance = random.Random(kills)
    promised = kept = torn = 0
    with doom(tmp_path) as doomed:
        for number in range(kills):
            doomed.start(f"dying-{number}")
            time.sleep(chance.uniform(0.1, 0.5))
            moment, seen = doomed.kill()
            recording = playhead.load(f"dying-{number}", store=tmp_path)
            due = expected(seen, moment)
            found = read_back(recording)
            missing = [(kind, number) for kind, number in due if due[kind, number] != found.get((kind, number))]
            assert not missing, f"{(moment - recording.events[-1].mono_ns) / 1e6:.0f} ms before the kill it ends"
            promised += len(due)
            kept += len(found)
            torn += check_file(recording)
    print(f"{kills} kills: {promised} crossings were due, {kept} kept; {torn} torn tails")
    assert promised > 5 * kills


def expected(seen: Seen, moment: int) -> dict[tuple[str, int], str]:
    """What has to be there: all that crossed so long before the kill, the time the machine withheld not counted.

    A thread of the child did nothing but sleep and report. Where it came late, the writer could not run either.
    """
    pulses = sorted((at for at, _ in seen["pulse"].values()), reverse=True)
    until, counted = moment, 0
    for pulse in pulses:
        counted += min(until - pulse, PULSE_NS)
        until = pulse
        if counted >= INTERVAL_NS:
            break
    else:
        return {}
    return {
        (kind, number): value
        for kind, reports in seen.items()
        for number, (at, value) in reports.items()
        if kind != "pulse" and at < until
    }


def read_back(recording: Recording) -> dict[tuple[str, int], str]:
    """What the recording holds, in the form of the reports."""
    found: dict[tuple[str, int], str] = {}
    numbers: dict[str, int] = defaultdict(int)

    def add(kind: str, value: Any) -> None:
        numbers[kind] += 1
        found[kind, numbers[kind]] = repr(value)

    for exchange in recording.exchanges:
        match exchange.question.body, exchange.answer and exchange.answer.body:
            case _, ToolReturned(value=value):
                add("tool", value["number"])
            case ModelRequested(provider="pondering"), ModelResponded(content=said):
                add("ponder", said)
            case _, ModelResponded(content=said):
                add("ask", read_json(said)["choices"][0]["message"]["content"])
            case _:
                pass
    for event in recording.of_kind("clock.read"):
        if isinstance(event.body, ClockRead) and event.lane == "main":
            add("clock", event.body.value)
    return found


def check_file(recording: Recording) -> bool:
    """It opens, is aborted, nobody holds it, and the chain holds up to the tear; whether there is one."""
    assert recording.path is not None
    assert recording.outcome == "aborted"
    # A process that it was just starting, to ask for the code's version, has the file until it is that program.
    until = time.monotonic() + 30
    while is_held(recording.path) and time.monotonic() < until:
        time.sleep(0.001)
    assert not is_held(recording.path)
    result = verify(recording.path)
    assert result.status in ("ok", "torn"), result
    assert [event.seq for event in recording] == list(range(len(recording)))
    return result.status == "torn"


@pytest.mark.parametrize("kills", [2, pytest.param(4, marks=pytest.mark.sweep)])
def test_a_killed_run_replays_up_to_where_it_was_cut(kills: int, tmp_path: Path) -> None:
    with doom(tmp_path) as doomed:
        for number in range(kills):
            doomed.start(f"dying-{number}")
            doomed.see("ask", 3 + 4 * number)
            doomed.kill()
    for number in range(kills):
        recording = playhead.load(f"dying-{number}", store=tmp_path)
        recorded = read_back(recording)
        again: dict[tuple[str, int], str] = {}

        def note(kind: str, number: int, value: Any, again: dict[tuple[str, int], str] = again) -> None:
            again[kind, number] = repr(value["number"] if isinstance(value, dict) else value)

        replay = playhead.replay(recording)
        with forbid_connections(), pytest.raises(DivergenceError), replay:
            act("http://127.0.0.1:9/v1/chat/completions", note)
        assert again.items() & recorded.items() == {(key, again[key]) for key in again if key in recorded}
        assert all(kind == "clock" for kind, number in again if (kind, number) not in recorded)
        # The first lane that gets to its end stops the replay of all.
        assert any(set(again) >= {key for key in recorded if key[0] == kind} for kind in ("tool", "ponder", "ask"))
        assert replay.report.answered >= len([key for key in again if key[0] != "clock"])


def test_every_event_is_on_disk_before_the_program_goes_on_if_asked(tmp_path: Path) -> None:
    with doom(tmp_path) as doomed:
        for number in range(5):
            doomed.start(f"dying-{number}", durability="every")
            doomed.see("tool", 1 + number)
            _, seen = doomed.kill()
            found = read_back(playhead.load(f"dying-{number}", store=tmp_path))
            reported = {
                (kind, count): value
                for kind, reports in seen.items()
                for count, (_, value) in reports.items()
                if kind != "pulse"
            }
            assert reported
            assert reported.items() <= found.items()
