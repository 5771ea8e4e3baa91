"""``fork`` and ``replay --live-after``: from a step on it is for real, as a person types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import environment, type_in

AGENT = """
import os

import playhead


@playhead.tool
def search(query):
    return f"{query} in a {os.environ['WORLD']} world"


@playhead.tool(side_effects=True)
def pay(amount):
    return f"paid {amount} in a {os.environ['WORLD']} world"


print(search("tea"))
print(search("salt"))
print(pay(7))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run ``shop-1`` of a program, made in an old world."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "agent.py").write_text(AGENT)
    words = ("record", "--id", "shop-1", "--", sys.executable, "agent.py")
    done = type_in(folder, *words, env=environment(WORLD="old"))
    assert done.returncode == 0, done.stderr
    return folder


def fork(project: Path, *words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """Type it in a new world, away from any terminal."""
    env = environment(WORLD="new")
    return type_in(project, *words, env=env, stdin=subprocess.DEVNULL, start_new_session=True, **how)


def test_from_the_step_on_it_is_live_and_what_comes_out_replays(project: Path) -> None:
    done = fork(project, "fork", "shop-1", "--at", "1", "--allow-side-effects", "pay", "--id", "forked-1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "tea in a old world", "salt in a new world", "paid 7 in a new world", "forked-1"
    ]  # fmt: skip
    assert "live after step 1 of shop-1: 2 calls" in done.stderr
    replayed = type_in(project, "replay", "forked-1", env=environment(WORLD="other"))
    assert replayed.stdout.startswith("tea in a old world\nsalt in a new world\npaid 7 in a new world\n")
    assert replayed.returncode == 0
    assert "forked from shop-1 after step 1" in type_in(project, "show", "forked-1").stdout
    assert type_in(project, "verify", "forked-1").returncode == 0


def test_a_side_effect_is_refused_where_nobody_can_be_asked(project: Path) -> None:
    """B56."""
    done = fork(project, "fork", "shop-1", "--at", "2")
    assert done.returncode == 1
    assert "the tool pay has side effects" in done.stdout
    assert "next: playhead fork shop-1 --at 2 --allow-side-effects pay\n" in done.stderr
    assert done.stdout.endswith("refused\n")
    assert "paid" not in done.stdout


def test_recorded_tools_are_not_called(project: Path) -> None:
    done = fork(project, "fork", "shop-1", "--at", "0", "--recorded", "tools", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["parent"], data["at"], data["live"]) == ("shop-1", 0, 0)
    assert "new world" not in done.stderr


def test_live_after_is_the_same(project: Path) -> None:
    done = fork(project, "replay", "shop-1", "--live-after", "3")
    assert done.returncode == 0, done.stderr
    assert "live after step 3 of shop-1: 0 calls" in done.stderr
    assert "new world" not in done.stdout


def test_another_program_diverges_before_the_point_and_makes_nothing(project: Path) -> None:
    (project / "other.py").write_text(AGENT.replace('"tea"', '"coffee"'))
    before = sorted((project / ".playhead" / "recordings").iterdir())
    done = fork(project, "fork", "shop-1", "--at", "2", "--", sys.executable, "other.py")
    assert done.returncode == 1
    assert "coffee" in done.stdout
    assert sorted((project / ".playhead" / "recordings").iterdir()) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("fork", "shop-1"), "--at"),
        (("fork", "shop-1", "--at", "9"), "has steps 1 to 3, not 9"),
        (("fork", "shop-1", "--at", "1", "--live", "clock"), "is no boundary"),
        (("fork", "shop-1", "--at", "1", "--live", "model", "--recorded", "tool"), "either what goes live"),
        (("replay", "shop-1", "--live-after", "1", "--permute", "2"), "a fork has one order"),
        (("replay", "shop-1", "--live-after", "1", "--break", "2"), "goes on to its end"),
    ],
)
def test_what_cannot_be_forked_is_a_matter_of_usage(project: Path, words: tuple[str, ...], told: str) -> None:
    done = fork(project, *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "next: " in done.stderr


def test_an_id_that_is_taken_is_refused_before_anything_runs(project: Path) -> None:
    done = fork(project, "fork", "shop-1", "--at", "1", "--id", "shop-1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "there is a recording shop-1 already" in done.stderr
    assert "Traceback" not in done.stderr
