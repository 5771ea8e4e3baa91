"""``playhead replay --break`` and ``--until``: pdb at a terminal, an editor that attaches, an end on the way."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands import AGENT as ANOTHER_AGENT
from tests.cli.commands import environment, record, type_in, write_agent
from tests.cli.editors import Editor
from tests.cli.stepping import SECOND_SEARCH, record_agent
from tests.cli.terminals import Terminal

pytestmark = pytest.mark.slow
PDB = "(Pdb) "


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the agent and its recording."""
    folder = tmp_path_factory.mktemp("recorded")
    record_agent(folder)
    return folder


def test_pdb_stops_at_the_agent_s_own_line_and_reads_its_variables(recorded: Path) -> None:
    terminal = Terminal(recorded, "replay", "run-1", "--break", "2", "--break", "5")
    shown = terminal.read_until(PDB)
    assert f"agent.py({SECOND_SEARCH})collect()\n-> found.append(search(query))" in shown
    assert terminal.type_in("p query, number, found", until=PDB) == "('salt', 1, ['TEA'])"
    assert terminal.type_in("p playhead.here.step, playhead.here.answer", until=PDB) == "(2, 'SALT')"
    assert terminal.type_in("p playhead.here.state", until=PDB) == "{'found': ['TEA']}"
    assert "for number, query in enumerate(queries)" in terminal.type_in("next", until=PDB)
    assert terminal.type_in("p found", until=PDB) == "['TEA', 'SALT']"
    shown = terminal.type_in("continue", until=PDB)
    assert "collected ['TEA', 'SALT', 'SUGAR']" in shown
    assert 'told = await asyncio.gather(notify("ana"), notify("bo"))' in shown
    assert terminal.type_in("p reason", until=PDB) == "'3 needs a manager'"
    terminal.type_in("continue", until="identical in all that was seen")
    assert terminal.wait() == 0


def test_leaving_pdb_ends_the_replay_without_a_traceback(recorded: Path) -> None:
    terminal = Terminal(recorded, "replay", "run-1", "--break", "2")
    terminal.read_until(PDB)
    terminal.type_in("next", until=PDB)
    terminal.type_in("q", until="stopped at step 2\n")
    assert terminal.wait() == 0
    assert "Traceback" not in terminal.screen


def test_commands_for_pdb_can_come_from_a_pipe_and_its_end_ends_the_replay(recorded: Path) -> None:
    done = type_in(recorded, "replay", "run-1", "--break", "3", input="p query\n")
    assert done.returncode == 0, done.stderr
    assert "'sugar'" in done.stdout
    assert done.stdout.splitlines()[-1] == "stopped at step 3"


def test_until_ends_before_the_step_with_exit_code_0(recorded: Path) -> None:
    done = type_in(recorded, "replay", "run-1", "--until", "3", "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert (report["stopped_at"], report["answered"], report["ok"]) == (3, 2, True)
    assert "collected" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--break", "7"), "run-1 has steps 1 to 6, not 7"),
        (("--until", "7"), "run-1 has steps 1 to 6, not 7"),
        (("--break", "0"), "0 is not in the range"),
        (("--break", "1", "--permute", "2"), "--permute replays to the end"),
        (("--listen", "5678"), "--listen says where to stop"),
    ],
)
def test_what_cannot_be_stopped_at_is_refused_with_exit_code_2(
    recorded: Path, words: tuple[str, ...], said: str
) -> None:
    done = type_in(recorded, "replay", "run-1", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "next: playhead" in done.stderr


def test_a_program_that_diverges_on_the_way_says_so(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    write_agent(tmp_path, ANOTHER_AGENT.replace('search("parcel")', 'search("packet")'))
    done = type_in(tmp_path, "replay", "run-1", "--until", "2")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "diverged at step 1"


def test_an_editor_attaches_and_steps_on_in_the_agent_s_frame(recorded: Path) -> None:
    pytest.importorskip("debugpy")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    words = ["replay", "run-1", "--break", "2", "--listen", str(port)]
    program = subprocess.Popen(
        [sys.executable, "-m", "playhead.cli", *words],
        cwd=recorded,
        env=environment(PYDEVD_DISABLE_FILE_VALIDATION="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    while "waiting for an editor" not in (line := program.stderr.readline()):
        assert line, "it ended"
    with Editor(port) as editor:
        thread = editor.await_stop()
        top = editor.frames(thread)[0]
        assert (top["name"], top["line"], top["source"]["path"]) == (
            "collect",
            SECOND_SEARCH,
            str(recorded / "agent.py"),
        )
        assert editor.evaluate("query, found", top) == "('salt', ['TEA'])"
        assert editor.evaluate("playhead.here.answer", top) == "'SALT'"
        for _ in range(4):
            editor.step_over(thread)
            top = editor.frames(thread)[0]
            assert top["name"] == "collect"
        assert editor.evaluate("'SALT' in found", top) == "True"
        editor.go_on(thread)
    said, _ = program.communicate(timeout=60)
    assert program.returncode == 0
    assert said.splitlines()[-1] == "identical in all that was seen"
