"""``playhead debug``: forwards and back through a run, and the same values each time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.commands import AGENT as ANOTHER_AGENT
from tests.cli.commands import record, type_in, write_agent
from tests.cli.stepping import AGENT, SECOND_SEARCH, STEPS, record_agent
from tests.cli.terminals import Terminal

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the agent and its recording."""
    folder = tmp_path_factory.mktemp("recorded")
    record_agent(folder)
    return folder


def debug(folder: Path, *lines: str, run: str = "run-1") -> tuple[list[tuple[str, str]], int]:
    """What is said after each line, and the exit code."""
    done = type_in(folder, "debug", run, input="\n".join(lines) + "\n")
    pieces = done.stdout.split("(playhead) ")[1:]
    told = [tuple(map(str.strip, piece.partition("\n")[::2])) for piece in pieces]
    assert "Traceback" not in done.stderr
    return [(line, said) for line, said in told], done.returncode


def test_back_and_goto_land_on_the_same_values_each_time(recorded: Path) -> None:
    forwards, places = [], (6, 2, 1, 4, 5, 3, 1)
    for _ in range(STEPS):
        forwards += ["locals", "where", "next"]
    backwards = []
    for step in places:
        backwards += [f"goto {step}", "locals", "where"]
    said, code = debug(
        recorded, *forwards, *backwards, "goto 3", "back", "locals", "back 1", "locals", "next 3", "locals"
    )
    assert code == 0
    seen = {step: (said[3 * step - 3][1], said[3 * step - 2][1]) for step in range(1, STEPS + 1)}
    assert "query = 'salt'" in seen[2][0]
    assert "found = ['TEA']" in seen[2][0]
    assert f"agent.py:{SECOND_SEARCH} in collect" in seen[2][1]
    assert "reason = '3 needs a manager'" in seen[5][0]
    again = said[3 * STEPS :]
    for number, step in enumerate(places):
        stop, names, where = again[3 * number : 3 * number + 3]
        assert stop[1].startswith(f"step {step} of {STEPS} tool")
        assert (names[1], where[1]) == seen[step]
    assert [text for line, text in again[3 * len(places) :] if line == "locals"] == [seen[2][0], seen[1][0], seen[4][0]]


@pytest.mark.sweep
def test_what_the_program_prints_is_shown_once_however_often_it_is_replayed(recorded: Path) -> None:
    done = type_in(recorded, "debug", "run-1#5", input="back 4\ngoto 5\ngoto end\nback\ngoto end\n")
    assert done.stdout.count("collected ['TEA', 'SALT', 'SUGAR']") == 1
    assert done.stdout.count("finished 3 needs a manager") == 1
    assert done.stdout.count("identical in all that was seen") == 2
    assert done.returncode == 0


def test_each_command_says_what_it_is_for(recorded: Path) -> None:
    lines = ["returns", "state", "why", "diff 1 2", "context", "show", "print [name for name in found]", "help", "quit"]
    said, code = debug(recorded, *lines, run="run-1#3")
    answers = dict(said)
    assert code == 0
    assert answers["returns"] == "step 1 search: 'TEA'\nstep 2 search: 'SALT'"
    assert answers["state"] == "{'found': ['TEA', 'SALT']}"
    assert "step 3 tool search" in answers["why"]
    assert answers["diff 1 2"] == "asked /query: [-tea-]{+salt+}\nanswered /: [-TEA-]{+SALT+}"
    assert answers["context"] == "no model was asked before this step"
    assert "SUGAR" in answers["show"]
    assert answers["print [name for name in found]"] == "['TEA', 'SALT']"
    assert "goto N" in answers["help"]


def test_a_slip_is_told_and_the_session_goes_on_but_a_script_fails(recorded: Path) -> None:
    lines = (
        "jump\ngoto x\ngoto 99\nback\ndiff 1\nprint\nprint missing\ngoto end\nlocals\nback\nprint told\nprint reason\n"
    )
    done = type_in(recorded, "debug", "run-1", input=lines)
    for text in (
        "no command 'jump'",
        "'x' is not the number",
        ", not 99",
        "steps count from 1",
        "diff takes two",
        "an expression",
    ):
        assert text in done.stderr
    assert "NameError: name 'missing' is not defined" in done.stdout
    assert "the program has ended" in done.stderr
    assert done.stdout.splitlines()[-1] == "'3 needs a manager'"
    assert done.returncode == 2


def test_a_secret_of_the_program_is_masked_where_it_is_shown(tmp_path: Path) -> None:
    write_agent(tmp_path, AGENT.replace("    found = []", "    found, key = [], 'sk-proj-' + 'Zq81' * 12"))
    record(tmp_path)
    said, _ = debug(tmp_path, "locals", "print key")
    assert "Zq81" not in str(said)
    assert "key = " in said[0][1]


def test_a_program_that_diverges_is_told_of_with_exit_code_1(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    write_agent(tmp_path, ANOTHER_AGENT.replace('search("parcel")', 'search("packet")'))
    done = type_in(tmp_path, "debug", "run-1#2", input="quit\n")
    assert "diverged at step 1" in done.stdout
    assert done.returncode == 1


def test_a_run_without_steps_and_a_step_that_is_not_there_are_refused(tmp_path: Path, recorded: Path) -> None:
    write_agent(tmp_path, "import playhead; playhead.now()")
    record(tmp_path)
    assert "has no steps to stop at" in type_in(tmp_path, "debug", "run-1").stderr
    done = type_in(recorded, "debug", "run-1#9")
    assert (done.returncode, "steps 1 to 6, not 9" in done.stderr) == (2, True)


def test_it_works_at_a_terminal_and_ctrl_c_there_ends_nothing(recorded: Path) -> None:
    terminal = Terminal(recorded, "debug", "run-1#2")
    prompt = "(playhead) "
    assert "step 2 of 6 tool search" in terminal.read_until(prompt)
    assert terminal.type_in("p query", until=prompt) == "'salt'"
    os.write(terminal._ours, b"\x03")
    assert "step 3 of 6" in terminal.type_in("n", until=prompt)
    assert "step 2 of 6" in terminal.type_in("b", until=prompt)
    assert terminal.type_in("p query", until=prompt) == "'salt'"
    os.write(terminal._ours, b"q\n")
    assert terminal.wait() == 0
