"""``playhead bisect``, typed in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import load, record, type_in, write_agent

AGENT = """
import playhead

@playhead.tool
def count(n):
    return "spoilt" if n >= 6 else "fine"

for n in range(1, 10):
    count(n)
"""
LIVE_AGENT = """
import playhead

@playhead.tool
def pay(amount):
    return "paid"

balance = 30
for n in range(5):
    pay(12)
    balance -= 12
"""
CHECKS = """
def clean(prefix):
    assert "spoilt" not in prefix.text, "there it is"

def not_the_sixth(prefix):
    return prefix.step != 6

def broken(prefix):
    return prefix.nothing
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a recorded run of nine steps that goes wrong at the sixth, and checks."""
    write_agent(tmp_path, AGENT)
    write_agent(tmp_path, CHECKS, "checks.py")
    assert record(tmp_path).returncode == 0
    return tmp_path


def test_the_step_is_named_with_what_was_said_there_and_what_to_type_next(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--check", "checks.py:clean")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "step 6 of 9 is the first bad one",
        '  step 6: tool count (n=6) → "spoilt"',
        "  because: there it is",
        "4 checks of 9 steps; the 5 others agree",
    ]
    assert [line.split(":")[-1].strip() for line in done.stderr.splitlines()] == [
        "playhead show run-1#6",
        "playhead edit run-1 --step 6 --editor",
        "playhead replay run-1 --break 6",
    ]


def test_a_module_in_the_folder_can_be_named_too_and_json_says_the_same(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--check", "checks:clean", "--no-sweep", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert (found["kind"], found["step"], found["why"], found["swept"]) == ("found", 6, "there it is", 0)
    assert found["checks"] <= 6
    assert found["proved"] is False
    assert found["exchange"]["question"]["body"]["arguments"] == {"n": 6}
    assert found["next"][0] == "playhead show run-1#6"


def test_a_check_that_is_not_monotonic_gets_its_turns_and_each_makes_it_so(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--check", "checks.py:not_the_sixth")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "not monotonic: it turns 2 times, so no step is the one at which it broke",
        "  bad from step 6",
        '    step 6: tool count (n=6) → "spoilt"',
        "  good from step 7",
        "1 check of 9 steps, then 8 others once it was noticed",
    ]
    assert "--each" in done.stderr
    done = type_in(folder, "bisect", "run-1", "--check", "checks.py:not_the_sixth", "--each")
    assert done.stdout.startswith("step 6 of 9 is the first bad one")


def test_rules_and_programs_say_yes_with_0(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--schema", "--rule", "repeated")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "good at all 9 steps")
    done = type_in(folder, "bisect", "run-1", "--rule", "regex=spoilt")
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "step 6 of 9 is the first bad one")
    done = type_in(folder, "bisect", "run-1", "--", "sh", "-c", 'echo looked; test "$PLAYHEAD_STEP" -lt 4')
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "step 4 of 9 is the first bad one")
    assert "looked" in done.stderr
    assert "right if it stays bad once it is" in done.stdout


def test_a_program_finds_the_store_in_its_environment(folder: Path) -> None:
    command = "cd / && python -m playhead.cli show run-1#$PLAYHEAD_STEP | grep -q fine"
    done = type_in(folder, "bisect", "run-1", "--", "sh", "-c", command)
    assert done.stdout.startswith("step 6 of 9")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "one of --check, --schema and --rule, --live, PROGRAM, or a search by hand"),
        (["--schema", "--check", "checks.py:clean"], "one of --check"),
        (["--check", "checks.py:absent"], "checks.py has no absent"),
        (["--rule", "nonsense"], "there is no rule 'nonsense'"),
        (["--check", "checks.py:broken"], "the check checks.py:broken cannot say anything of step 9"),
        (["--good", "1"], "no search by hand was begun"),
        (["--log"], "no search by hand was begun"),
        (["--reset", "--start"], "--reset goes alone"),
    ],
)
def test_what_cannot_be_carried_out_is_told_with_the_next_command(folder: Path, words: list[str], told: str) -> None:
    done = type_in(folder, "bisect", "run-1", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert "next: playhead " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_live_check_looks_at_the_agent_itself_before_a_step_is_answered(folder: Path) -> None:
    write_agent(folder, LIVE_AGENT)
    assert record(folder, run="run-2").returncode == 0
    done = type_in(folder, "bisect", "run-2", "--live", "balance >= 0", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["kind"], found["step"], found["why"]) == (1, "found", 4, "it is false")
    assert found["checks"] <= 5


@pytest.mark.sweep
def test_a_live_check_that_cannot_be_told_is_said(folder: Path) -> None:
    write_agent(folder, LIVE_AGENT)
    assert record(folder, run="run-2").returncode == 0
    done = type_in(folder, "bisect", "run-2", "--live", "balance.nothing")
    assert done.returncode == 2
    assert "it raised AttributeError" in done.stderr
    done = type_in(folder, "bisect", "run-2", "--live", "balance >")
    assert "is no expression" in done.stderr
    done = type_in(folder, "bisect", "run-2", "--live", "unheard_of > 3")
    assert (done.returncode, "cannot be told" in done.stdout) == (1, True)
    assert "because: NameError: name 'unheard_of' is not defined" in done.stdout


def test_a_search_by_hand_goes_on_over_commands_and_leaves_the_recording_alone(folder: Path) -> None:
    path = load(folder).path
    assert path is not None
    before = path.read_bytes()
    assert type_in(folder, "bisect", "run-1", "--start", "--bad", "9").returncode == 0
    done = type_in(folder, "bisect", "run-1", "--json")
    assert done.returncode == 2  # a search by hand says which of its words is meant
    looked_at = 0
    step = json.loads(type_in(folder, "bisect", "run-1", "--skip", "2", "--json").stdout)["next"]
    while step is not None:
        verdict = "--bad" if step >= 6 else "--good"
        done = type_in(folder, "bisect", "run-1", verdict, str(step), "--json")
        assert done.returncode == 0
        found, looked_at = json.loads(done.stdout), looked_at + 1
        step = found["next"]
    assert (found["kind"], found["step"]) == ("found", 6)
    assert looked_at <= 4
    log = type_in(folder, "bisect", "run-1", "--log").stdout.splitlines()
    assert log[:3] == [f"playhead bisect run-1 {words}" for words in ("--start", "--bad 9", "--skip 2")]
    assert type_in(folder, "bisect", "run-1", "--start").returncode == 2
    done = type_in(folder, "bisect", "run-1", "--good", "9")
    assert (done.returncode, done.stdout.splitlines()[0][:13]) == (1, "not monotonic")
    assert path.read_bytes() == before
    assert type_in(folder, "bisect", "run-1", "--reset").returncode == 0
    assert "no search by hand was begun" in type_in(folder, "bisect", "run-1", "--log").stderr


def test_what_was_kept_by_hand_and_cannot_be_read_is_told_and_can_be_thrown_away(folder: Path) -> None:
    type_in(folder, "bisect", "run-1", "--start")
    kept = folder / ".playhead" / "bisections" / "run-1.json"
    kept.write_text("{")
    done = type_in(folder, "bisect", "run-1", "--good", "1")
    assert done.returncode == 3
    assert "next: playhead bisect run-1 --reset" in done.stderr
    assert type_in(folder, "bisect", "run-1", "--reset").returncode == 0
    assert type_in(folder, "bisect", "run-1", "--start", "--good", "1").returncode == 0


def test_a_step_that_is_not_there_cannot_be_marked(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--start", "--bad", "10")
    assert done.returncode == 2
    assert "steps 1 to 9, not 10" in done.stderr


def test_the_rules_can_be_listed(folder: Path) -> None:
    done = type_in(folder, "bisect", "run-1", "--rules")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("schema", "tool-existed", "result-validated", "tokens=N", "cost=USD", "repeated[=N]", "regex=PATTERN")
    ]
