"""``playhead replay --permute``: whether the outcome of a run depends on who was answered first."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from playhead._program import Ended
from playhead._program._launching import launch
from tests.cli.commands import record, type_in, write_agent

pytestmark = pytest.mark.slow

SHARED = """
import asyncio, sys
import playhead

@playhead.tool
async def search(query, turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    return f"{query} was found"

@playhead.tool
async def tell(text):
    return len(text)

async def main(way):
    seen = []

    async def add(query, turns):
        seen.append(await search(query, turns))

    await asyncio.gather(add("tea", 1), add("salt", 9))
    if way == "print":
        print("first was", seen[0])
    elif way == "count":
        print(len(seen), "were found")
    elif way == "ask":
        await tell(seen[0])
    elif way == "fail" and seen[0].startswith("salt"):
        raise LookupError(seen[0])
    elif way == "hang" and seen[0].startswith("salt"):
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
    elif way == "unsteady":
        import os
        print(os.getpid(), len(seen))

asyncio.run(main(sys.argv[1]))
"""

RACE = """
import asyncio, sys
import playhead

@playhead.tool
async def search(query, turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    return query

async def main():
    tasks = [asyncio.create_task(search(query, turns)) for query, turns in (("tea", 1), ("salt", 500), ("oil", 600))]
    done, losers = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in losers:
        task.cancel()
    print([task.result() for task in done])

asyncio.run(main())
"""

THREADS = """
import threading
import playhead

gate = threading.Event()

@playhead.tool
def look_up(key):
    if key == "salt":
        gate.wait(5)
    return f"{key} was found"

@playhead.agent(kind="shop")
def shop():
    seen = []

    def add(key):
        seen.append(look_up(key))
        gate.set()

    threads = [threading.Thread(target=add, args=(key,)) for key in ("tea", "salt")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen[-1]

if __name__ == "__main__":
    shop()
"""


def permuted(folder: Path, run: str = "run-1", *words: str) -> tuple[int, dict[str, Any]]:
    done = type_in(folder, "replay", run, "--permute", "3", "--json", *words)
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


def test_a_shared_list_whose_first_item_is_printed_is_said_to_depend_on_the_order(tmp_path: Path) -> None:
    write_agent(tmp_path, SHARED)
    record(tmp_path, "print")
    done = type_in(tmp_path, "replay", "run-1", "--permute", "3")
    first, headline, one, other, *rest = done.stdout.splitlines()
    assert done.returncode == 1
    assert first == "replayed run-1 (strict): 2 exchanges, 0 reads answered"
    assert headline.startswith("outcome depends on the order of #")
    assert 'step 1 tool search (query="tea"' in one
    assert 'step 2 tool search (query="salt"' in other
    assert rest[1].strip() == "line 1 of its output: first was [-tea-]{+salt+} was found"
    assert rest[-1] == "the outcome depends on the order: it came out otherwise in 1 of 1 order (1 race)"


@pytest.mark.sweep
def test_a_shared_list_that_is_only_counted_does_not_depend_on_it(tmp_path: Path) -> None:
    write_agent(tmp_path, SHARED)
    record(tmp_path, "count")
    done = type_in(tmp_path, "replay", "run-1", "--permute", "3")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["the outcome did not depend on any of 1 order tried (1 race)"]


@pytest.mark.parametrize(
    ("way", "what", "text"),
    [
        ("ask", "asked", "tell in lane"),
        pytest.param("fail", "error", "[-none-] {+LookupError", marks=pytest.mark.sweep),
        pytest.param("fail", "exit", "it ended with exit code 1, and with exit code 0", marks=pytest.mark.sweep),
        pytest.param("hang", "exit", "SIGKILL", marks=pytest.mark.sweep),
    ],
)
def test_what_came_out_otherwise_is_told(tmp_path: Path, way: str, what: str, text: str) -> None:
    write_agent(tmp_path, SHARED)
    record(tmp_path, way)
    code, found = permuted(tmp_path)
    effects = [effect for effect in found["orders"][0]["effects"] if effect["what"] == what]
    assert code == 1
    assert text in effects[0]["text"]
    if way == "ask":
        assert (effects[0]["step"], len(found["orders"][0]["effects"])) == (3, 1)
        assert "/text: [-tea-]{+salt+} was found" in effects[0]["text"]


@pytest.mark.sweep
def test_what_differs_in_each_replay_is_not_taken_for_an_effect(tmp_path: Path) -> None:
    write_agent(tmp_path, SHARED)
    record(tmp_path, "unsteady")
    code, found = permuted(tmp_path)
    assert (code, found["unsteady"], found["kept"], found["depends"]) == (0, ["output"], 1, False)


@pytest.mark.sweep
def test_losers_that_were_cancelled_have_no_answer_to_win_with(tmp_path: Path) -> None:
    write_agent(tmp_path, RACE)
    record(tmp_path)
    done = type_in(tmp_path, "replay", "run-1", "--permute", "3")
    assert done.returncode == 0
    assert "not tried: one of the two was cancelled" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("no other order could be tried")


@pytest.mark.sweep
def test_an_entry_point_with_threads_gives_another_result(tmp_path: Path) -> None:
    write_agent(tmp_path, THREADS)
    assert type_in(tmp_path, "replay", "none", "--permute", "1").returncode == 3
    done = type_in(tmp_path, "record", "--id", "run-1", "--", "python", "agent.py")
    assert done.returncode == 0
    code, found = permuted(tmp_path)
    (tried,) = found["orders"]
    assert (code, found["races"], tried["kept"], tried["steps"]) == (1, 1, True, [1, 2])
    assert tried["effects"] == [{"what": "result", "text": "the result: [-salt-]{+tea+} was found"}]


def test_a_program_that_does_not_end_is_ended() -> None:
    ended = launch([sys.executable, "-c", "import threading; threading.Event().wait()"], {}, limit_s=0.5)
    assert ended == Ended(15, "SIGTERM", late=True)


def test_without_races_that_is_said(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    done = type_in(tmp_path, "replay", "run-1", "--permute", "2", "--report", "report.json")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("no races: ")
    assert json.loads((tmp_path / "report.json").read_text())["orders"] == []


@pytest.mark.sweep
def test_where_the_recorded_order_does_not_replay_no_other_is_tried(tmp_path: Path) -> None:
    write_agent(tmp_path, SHARED)
    record(tmp_path, "print")
    write_agent(tmp_path, SHARED.replace('add("tea", 1)', 'add("milk", 1)'))
    done = type_in(tmp_path, "replay", "run-1", "--permute", "2")
    assert done.returncode == 1
    assert "/query: [-tea-]{+milk+}" in done.stdout
    assert done.stdout.splitlines()[-1] == "the recorded order does not replay, so no other was tried"
