"""``playhead doctor``: what is in place, and what makes a program come out differently."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from playhead.player import Request
from tests.cli.commands import record, type_in, write_agent

PROGRAM = """
import os, playhead, random

@playhead.tool
def ask(**asked):
    return 1

words = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}
ask(steady=random.random())
ask(order=list(words))
ask(process=os.getpid())
"""


def test_an_installation_is_looked_at_from_every_side(tmp_path: Path) -> None:
    done = type_in(tmp_path, "doctor", "--json")
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert {"Python", "playhead", "masking", "compression", "datetime", "store"} <= set(checks)
    assert checks["store"]["grade"] == "good"
    assert list((tmp_path / ".playhead" / "recordings").iterdir()) == []
    assert done.returncode == (1 if any(check["grade"] == "bad" for check in checks.values()) else 0)


def test_a_store_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    done = type_in(tmp_path, "doctor", "--store", "store")
    assert done.returncode == 1
    assert "✗ store" in done.stdout
    assert "fix: name another one" in done.stdout


@pytest.mark.slow
def test_a_steady_program_is_found_steady(tmp_path: Path) -> None:
    write_agent(
        tmp_path, "import playhead, time\nask = playhead.tool(lambda **asked: 1, name='ask')\nask(at=time.time())\n"
    )
    done = type_in(tmp_path, "doctor", "--", "python", "agent.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "it came out the same, in all that was seen" in done.stdout


@pytest.mark.slow
def test_each_value_that_differs_is_named_with_line_and_fix(tmp_path: Path) -> None:
    write_agent(tmp_path, PROGRAM)
    done = type_in(tmp_path, "doctor", "--json", "--write-normalisers", "normalisers.py", "--", "python", "agent.py")
    assert done.returncode == 1
    findings = {finding["path"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert set(findings) == {"/order", "/process"}
    assert "sort before use" in findings["/order"]["fix"]
    assert f"{tmp_path / 'agent.py'}:10 in <module>" in findings["/order"]["where"]
    assert f"{tmp_path / 'agent.py'}:11 in <module>" in findings["/process"]["where"]
    [drop] = runpy.run_path(str(tmp_path / "normalisers.py"))["NORMALISERS"]
    asked = [Request("tool", "ask", {"process": process}) for process in (1, 2)]
    assert drop(asked[0]) == drop(asked[1])
    assert drop(Request("tool", "other", {"process": 1})).content == {"process": 1}
    record(tmp_path)
    assert type_in(tmp_path, "replay", "run-1").returncode == 1
    done = type_in(tmp_path, "replay", "run-1", "--normalisers", "normalisers.py")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "playhead.toml").write_text('normalisers = ["normalisers.py"]')
    assert type_in(tmp_path, "replay", "run-1").returncode == 0


@pytest.mark.slow
def test_a_program_without_python_cannot_be_looked_at(tmp_path: Path) -> None:
    done = type_in(tmp_path, "doctor", "--", "true")
    assert done.returncode == 2
    assert "nothing was recorded" in done.stderr
