"""The page on suites: its commands, and those of its workflow, as printed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.commands import environment, record, write_agent

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "keep-runs-as-a-regression-suite.md"
COMMAND = re.compile(r"^    ((?:playhead|pytest) .+)$", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

AGENT = """
import playhead


@playhead.tool
def look_up(order):
    return {"order": order, "status": "shipped"}


ask = playhead.model(lambda prompt, said: f"It is {said}.", name="shop-model")


@playhead.tool
def notify(text):
    return "sent"


found = look_up("A-7")
answer = ask("You answer in one friendly sentence.", found["status"])
notify(answer)
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shell's folder, with the run that the page speaks of."""
    (tmp_path / "pyproject.toml").write_text("")
    write_agent(tmp_path, AGENT)
    assert record(tmp_path, run="triage-7f3a").returncode == 0
    return tmp_path


def type_in_shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    shell = f"""
playhead() {{ python -m playhead.cli "$@"; }}
pytest() {{ python -m pytest -p _playhead_pytest -p no:cacheprovider "$@"; }}
{command}"""
    env = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    return subprocess.run(
        ["bash", "-c", shell], cwd=folder, env=env, input="", capture_output=True, text=True, timeout=120
    )


def test_the_page_s_commands_do_what_it_says(folder: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    add, play, loose, update, tests = COMMAND.findall(text)
    shown = [content for kind, content in BLOCK.findall(text) if kind == "text"]
    assert type_in_shell(folder, add).returncode == 0
    assert shown[0] in type_in_shell(folder, play).stdout
    write_agent(folder, AGENT.replace("friendly", "short"))
    changed = type_in_shell(folder, play)
    assert (changed.returncode, [line for line in shown[1].splitlines() if line not in changed.stdout]) == (1, [])
    assert type_in_shell(folder, loose).returncode == 0
    assert type_in_shell(folder, update).returncode == 0
    assert type_in_shell(folder, play).returncode == 0
    assert "1 passed" in type_in_shell(folder, tests).stdout
    write_agent(folder, AGENT.replace("friendly", "short").replace("notify(answer)\n", ""))
    dropped = type_in_shell(folder, loose)
    assert (dropped.returncode, shown[2] in dropped.stdout) == (1, True)


@pytest.mark.sweep
def test_a_complaint_becomes_a_check(folder: Path) -> None:
    (block,) = [content for kind, content in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if kind == "sh"]
    annotate, score = block.strip().splitlines()
    assert type_in_shell(folder, "playhead suite tests/runs --add triage-7f3a").returncode == 0
    assert type_in_shell(folder, annotate).returncode == 0
    assert type_in_shell(folder, score).returncode == 1
    write_agent(folder, AGENT.replace("notify(answer)\n", ""))
    assert type_in_shell(folder, score).returncode == 0


def test_the_workflow_is_one_and_its_command_writes_what_it_uploads(folder: Path) -> None:
    blocks = [content for kind, content in BLOCK.findall(PAGE.read_text(encoding="utf-8")) if kind == "yaml"]
    steps = yaml.safe_load(blocks[0])["jobs"]["suite"]["steps"]
    (command,) = [step["run"] for step in steps if "playhead suite" in step.get("run", "")]
    assert type_in_shell(folder, "playhead suite tests/runs --add triage-7f3a").returncode == 0
    assert type_in_shell(folder, command).returncode == 0
    (pattern,) = [step["with"]["path"] for step in steps if "upload" in step.get("uses", "")]
    assert sorted(path.name for path in folder.glob(pattern)) == ["suite.md", "suite.xml"]
