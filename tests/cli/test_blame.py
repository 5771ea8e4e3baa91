"""``playhead blame`` and ``playhead shrink``: which answers made a run fail, and how few are enough for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import load, record, type_in, write_agent

pytestmark = pytest.mark.slow

AGENT = """
import sys

import playhead

WORLD = {"bad": {"price": -1}, "good": {"price": 5}}[sys.argv[1]] if len(sys.argv) > 1 else {}


@playhead.tool
def look_up(what):
    return WORLD.get(what, sys.argv[1] if what == "mood" else 1)


@playhead.agent(kind="shop")
def shop():
    found = [look_up(each) for each in ("mood", "stock", "price", "tax")]
    if found[2] < 0:
        raise ValueError(f"a price of {found[2]}")
    return sum(found[1:])


print(shop())
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A run that failed and one that did not, of an agent that is told two things otherwise."""
    write_agent(tmp_path, AGENT)
    assert record(tmp_path, "bad", run="failing").returncode == 1
    assert record(tmp_path, "good", run="passing").returncode == 0
    return tmp_path


def test_the_answer_that_made_it_fail_is_named(shop: Path) -> None:
    before = load(shop, "failing").path
    assert before is not None
    held = before.read_bytes()
    done = type_in(shop, "blame", "failing", "passing", "--save")
    assert done.returncode == 0, done.stderr
    assert "1 difference of 2 made failing fail (" in done.stdout
    assert "step 3 look_up: answered otherwise at step 3 of passing" in done.stdout
    assert "/: [--1-] {+5+}" in done.stdout
    assert "next: playhead show failing#3" in done.stderr
    assert before.read_bytes() == held
    kept = done.stderr.partition("kept as ")[2].split()[0]
    again = type_in(shop, "replay", kept)
    assert (again.returncode, "7\n" in again.stdout) == (0, True), again.stdout + again.stderr
    assert (len(load(shop, kept).steps), load(shop, kept).outcome) == (4, "success")


@pytest.mark.sweep
def test_what_is_good_can_be_said_by_a_function(shop: Path) -> None:
    (shop / "checks.py").write_text("def quiet(came):\n    assert came.output.strip() == '7', came.output\n")
    found = json.loads(type_in(shop, "blame", "failing", "passing", "--check", "checks.py:quiet", "--json").stdout)
    assert (found["kind"], found["judged_by"]) == ("found", "check")
    assert [each["step"] for each in found["differences"]] == [3]
    (shop / "checks.py").write_text("def quiet(came):\n    return 3\n")
    broken = type_in(shop, "blame", "failing", "passing", "--check", "checks.py:quiet")
    assert (broken.returncode, "neither true nor false" in broken.stderr) == (2, True)


@pytest.mark.sweep
def test_runs_that_tell_nothing_are_refused_or_said_to(shop: Path) -> None:
    same = type_in(shop, "blame", "failing", "failing")
    assert (same.returncode, "a run is not blamed by itself" in same.stderr) == (2, True)
    swapped = type_in(shop, "blame", "passing", "failing")
    assert (swapped.returncode, "next: playhead blame failing passing" in swapped.stderr) == (2, True)
    assert record(shop, "good", run="twin").returncode == 0
    alike = type_in(shop, "blame", "passing", "twin")
    assert (alike.returncode, "both runs come out alike" in alike.stderr) == (2, True)
    other = write_agent(shop, AGENT.replace("found[2] < 0", "True"))
    assert other.exists()
    (shop / "checks.py").write_text("def good(came):\n    return came.outcome == 'success'\n")
    changed = type_in(shop, "blame", "failing", "passing", "--check", "checks.py:good")
    assert (changed.returncode, "passing is not good either by checks.py:good" in changed.stderr) == (2, True)


@pytest.mark.sweep
def test_the_shortest_run_that_fails_is_made(tmp_path: Path) -> None:
    write_agent(
        tmp_path,
        """
import playhead

pages = iter(["a", "b", "bad", "c", "bad", "d", "end"])

@playhead.tool
def turn():
    return next(pages)

bad = 0
while (page := turn()) != "end":
    bad += page == "bad"
    if bad > 1:
        raise ValueError("too many bad pages")
""",
    )
    assert record(tmp_path).returncode == 1
    done = type_in(tmp_path, "shrink", "run-1", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["exchanges"], found["of"]) == (0, 2, 5), done.stderr
    short = load(tmp_path, found["shrunk"])
    assert [each.answer.body.value for each in short.exchanges] == ["bad", "bad"]  # type: ignore[union-attr]
    assert type_in(tmp_path, "replay", found["shrunk"], "--match", "loose").returncode == 0
    fine = write_agent(tmp_path, 'import playhead\n\n@playhead.tool\ndef turn():\n    return "end"\n\nturn()\n')
    assert fine.exists()
    assert record(tmp_path, run="fine").returncode == 0
    assert type_in(tmp_path, "shrink", "fine").returncode == 1


def test_a_check_that_the_passing_run_does_not_pass_either_is_refused(shop: Path) -> None:
    (shop / "strict.py").write_text("def never(came):\n    return False\n")
    done = type_in(shop, "blame", "failing", "passing", "--check", "strict.py:never")
    assert (done.returncode, done.stdout) == (2, "")
    assert "passing is not good either by strict.py:never" in done.stderr
