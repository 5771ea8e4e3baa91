"""What an SDK gives a program is the same while recording and while replaying, whatever happened on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.testing import ModelServer
from tests.sdks.conversations import SDKS, Mode, Replayed, converse, replay
from tests.sdks.situations import SITUATIONS, Answered, Situation, foreseen, why_unknown

pytestmark = pytest.mark.slow

MODES: list[Mode] = ["sync", "async"]
FLAVOURS = [(sdk, mode) for sdk in SDKS for mode in MODES if (sdk, mode) != ("gemini.generate over httpx2", "sync")]
SHORT = {
    ("openai.responses", "sync"),
    ("anthropic.messages", "async"),
    ("gemini.generate", "async"),
}
"""Each SDK once. The others differ by the SDK's own code above the transport only: `make test-all` has them."""


@pytest.mark.parametrize(
    ("sdk", "mode"),
    [pytest.param(*each, marks=() if each in SHORT else pytest.mark.sweep) for each in FLAVOURS],
    ids=lambda value: value.replace(" ", "-"),
)
def test_a_replay_gives_the_program_what_it_got_when_recorded(sdk: str, mode: Mode, tmp_path: Path) -> None:
    """B26, B28, B30: in every situation, in this process and in a fresh one, with the server gone and no connection.

    And the recording says what became of each call. Here what differs is listed for all situations at once.
    """
    package = SDKS[sdk].module
    if any(importlib.util.find_spec(name) is None for name in (package.partition(".")[0], package)):
        pytest.skip(f"{package} is not installed")
    situations = {name: one for name, one in SITUATIONS.items() if why_unknown(f"{sdk}-{mode}", name) is None}
    wrong: list[str] = []
    jobs: list[dict[str, Any]] = []
    recorded: list[Any] = []
    for name, situation in situations.items():
        run, url, seen = record(sdk, mode, situation, tmp_path)
        jobs.append({"store": str(tmp_path), "run": run, "sdk": sdk, "mode": mode, "url": url, "way": situation.way})
        recorded.append(seen)
        if bool(seen["error"]) != situation.error:
            wrong.append(f"{name}, recording: {seen['error']}")
        wrong += [f"{name}, in the recording: {each}" for each in judge(run, tmp_path, foreseen(sdk, name))]
    for name, seen, here, fresh in zip(
        situations, recorded, [replay(**job) for job in jobs], in_a_fresh_process(jobs, tmp_path), strict=True
    ):
        wrong += [f"{name}, replayed: {each}" for each in compare(here, seen)]
        wrong += [f"{name}, replayed by a fresh process: {each}" for each in compare(fresh, seen)]
    assert wrong == []


def record(sdk: str, mode: Mode, situation: Situation, store: Path) -> tuple[str, str, Any]:
    """The run's id, the address that the program called, and what it saw. The server is gone afterwards."""
    with ModelServer(situation.script or []) as server:
        url = SDKS[sdk].base(server)
        if situation.script is None:
            server.close()
        with playhead.record(kind="matrix", store=store) as run:
            seen = converse(sdk, mode, url, situation.way)
    assert server.failures == []
    assert server.hits == len(situation.script or [])
    return run.id, url, seen


def in_a_fresh_process(jobs: list[dict[str, Any]], folder: Path) -> list[Replayed]:
    file = folder / "jobs.json"
    file.write_text(json.dumps(jobs))
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.sdks.conversations", str(file)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [Replayed(*each) for each in json.loads(done.stdout)]


def judge(run: str, store: Path, expected: list[Answered]) -> list[str]:
    """What the recording of a run says otherwise than it should."""
    recording = playhead.load(run, store=store)
    found = [read_answer(exchange.answer) for exchange in recording.exchanges]
    wrong = [] if found == expected else [f"{found} instead of {expected}"]
    return wrong if recording.verify().ok else [*wrong, "its chain is broken"]


def read_answer(answer: Any) -> Answered:
    body = answer.body
    verdict = (body.verdict or {}).get("kind")
    usage = body.usage or {}
    return Answered(
        verdict=verdict,
        end="said" if body.end in ("complete", "closed") and verdict not in ("left", "truncated") else body.end,
        usage="none" if not usage else "partial" if "partial" in usage else "whole",
        failed=answer.kind == "model.failed",
        status=body.status,
    )


def compare(replayed: Replayed, recorded: Any) -> list[str]:
    """What a replay gave otherwise than the recorded run."""
    wrong = list(differences(recorded, replayed.seen))
    if not replayed.identical:
        wrong += replayed.report
    return wrong + [f"it tried to reach {place}" for place in replayed.attempts]


def differences(one: Any, two: Any, path: str = "") -> list[str]:
    """Where two JSON trees differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        keys = [*one, *(key for key in two if key not in one)]
        return [line for key in keys for line in differences(one.get(key), two.get(key), f"{path}/{key}")]
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        return [line for at, (left, right) in pairs for line in differences(left, right, f"{path}/{at}")]
    return [] if one == two else [f"{path}: {str(one)[:200]!r} became {str(two)[:200]!r}"]
