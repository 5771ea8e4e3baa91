"""The page on stepping: its commands, as printed, on a recording of that name."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import environment, record, write_agent
from tests.cli.stepping import AGENT

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "step-through-a-run.md"
COMMAND = re.compile(r"^    (.*playhead .+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shell's folder, with the run that the page speaks of and a `playhead` to type."""
    folder = tmp_path_factory.mktemp("page")
    write_agent(folder, AGENT)
    assert record(folder, run="triage-7f3a").returncode == 0
    return folder


def type_in_shell(folder: Path, command: str, typed: str) -> subprocess.CompletedProcess[str]:
    shell = f'playhead() {{ python -m playhead.cli "$@"; }}\n{command}'
    return subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=environment(), input=typed, capture_output=True, text=True, timeout=120
    )


def test_the_page_s_commands_do_what_it_says(folder: Path) -> None:
    commands = COMMAND.findall(PAGE.read_text(encoding="utf-8"))
    said = {}
    for command in commands:
        if "--listen" not in command:  # an editor attaches in tests/cli/test_break.py
            typed = "p reason\np playhead.here.answer\nc\n" if "--break" in command else "print found\nback\ndiff 1 2\n"
            done = type_in_shell(folder, command, typed)
            assert done.returncode == 0, done.stderr
            said[command] = done.stdout
    assert len(said) == 4
    shown = said["playhead replay triage-7f3a --break 5"]
    assert "'3 needs a manager'" in shown
    assert "'told ana'" in shown
    assert "stopped at step 5" in said["playhead replay triage-7f3a --until 5"]


def test_what_the_page_shows_of_a_session_is_what_is_said(folder: Path) -> None:
    blocks = [text for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if kind == "text"]
    session = next(text for text in blocks if "(playhead) " in text)
    typed = "\n".join(re.findall(r"^\(playhead\) (.*)$", session, re.MULTILINE)) + "\n"
    done = type_in_shell(folder, "playhead debug triage-7f3a#3", typed)
    assert done.stdout.replace(f"{folder}/", "") == session
    pdb = next(text for text in blocks if "(Pdb) " in text)
    at_pdb = type_in_shell(folder, "playhead replay triage-7f3a --break 5", "").stdout.replace(f"{folder}/", "")
    assert at_pdb.partition("replay of ")[2].startswith(pdb.partition("replay of ")[2].partition("p reason")[0])


def test_the_launch_configuration_is_json_and_names_the_port_of_the_command() -> None:
    page = PAGE.read_text(encoding="utf-8")
    configuration = json.loads(next(text for kind, text in BLOCK.findall(page) if kind == "json"))
    (attach,) = configuration["configurations"]
    assert (attach["type"], attach["request"]) == ("debugpy", "attach")
    assert f"--listen {attach['connect']['port']}" in page
