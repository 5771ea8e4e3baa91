"""``playhead replay``: the program starts again and is answered from its recording."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import playhead
from tests.cli.commands import AGENT, environment, load, record, type_in, write_agent

pytestmark = pytest.mark.slow


def report_of(folder: Path, *words: str, **options: Any) -> dict[str, Any]:
    done = type_in(folder, "replay", "run-1", "--json", *words, **options)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_a_recorded_program_prints_the_same_and_runs_no_tool(tmp_path: Path) -> None:
    effect = "    open('effects', 'a').write('x')\n    return [query, uuid.uuid4().hex]"
    write_agent(tmp_path, AGENT.replace("    return [query, uuid.uuid4().hex]", effect))
    first = record(tmp_path)
    done = type_in(tmp_path, "replay", "run-1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(first.stdout)
    assert done.stdout.splitlines()[-1] == "identical in all that was seen"
    assert (tmp_path / "effects").read_text() == "x"


@pytest.mark.parametrize("swallow", [pytest.param(False, marks=pytest.mark.sweep), True])
def test_a_changed_program_diverges_with_field_line_and_next_command(tmp_path: Path, swallow: bool) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    changed = AGENT.replace('search("parcel")', 'search("packet")')
    if swallow:
        changed = changed.replace('print(search("packet"))', "try: search('packet')\nexcept BaseException: sys.exit(0)")
    write_agent(tmp_path, changed)
    done = type_in(tmp_path, "replay", "run-1")
    assert done.returncode == 1
    assert "/query: [-parcel-]{+packet+}" in done.stdout
    assert f"asked at {tmp_path / 'agent.py'}:" in done.stdout
    assert done.stdout.splitlines()[-1] == "diverged at step 1"
    assert "next: playhead show run-1#1" in done.stderr
    assert "Traceback" not in done.stderr


def test_loose_forgives_other_words_and_lists_them(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    write_agent(tmp_path, AGENT.replace('search("parcel")', 'search("packet")'))
    done = type_in(tmp_path, "replay", "run-1", "--match", "loose")
    assert done.returncode == 0
    assert "drift at step 1 (search, main):" in done.stdout
    assert done.stdout.splitlines()[-1] == "held, with the differences above"


def test_what_is_left_out_fails_in_strict(tmp_path: Path) -> None:
    """B18: a replay that makes fewer calls than were recorded does not pass in silence."""
    write_agent(tmp_path)
    record(tmp_path)
    write_agent(tmp_path, AGENT.replace("    refund(249)", "    raise PermissionError"))
    done = type_in(tmp_path, "replay", "run-1")
    assert done.returncode == 1
    assert "never asked" in done.stdout
    assert "refund" in done.stdout
    report = report_of(tmp_path, "--match", "loose")
    assert report["ok"]
    assert [each["name"] for each in report["unplayed"]] == ["refund"]


def test_json_is_all_that_goes_to_stdout_and_a_report_is_written(tmp_path: Path) -> None:
    write_agent(tmp_path)
    first = record(tmp_path)
    done = type_in(tmp_path, "replay", "run-1", "--json", "--report", "report.json")
    report = json.loads(done.stdout)
    assert (report["ok"], report["identical"], report["steps"]) == (True, True, 2)
    assert first.stdout in done.stderr
    assert json.loads((tmp_path / "report.json").read_text()) == report


ENTRY = """
import playhead

@playhead.tool
def look_up(name):
    return {"name": name, "tier": "gold"}

@playhead.agent(kind="triage")
def triage(ticket, *, loud=False):
    found = look_up(ticket)
    return found["tier"].upper() if loud else found["tier"]

if __name__ == "__main__":
    print(triage("ana", loud=True))
"""


@pytest.mark.parametrize("place", [pytest.param(".", marks=pytest.mark.sweep), "inner"])
def test_an_entry_point_is_called_again_from_its_recording(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(exist_ok=True)
    path = write_agent(tmp_path / place, ENTRY)
    import subprocess

    words = [sys.executable, str(path.relative_to(tmp_path))]
    env = environment(PLAYHEAD_STORE=str(tmp_path / ".playhead"))
    subprocess.run(words, cwd=tmp_path, env=env, check=True, capture_output=True)
    [run] = [run["id"] for run in json.loads(type_in(tmp_path, "runs", "--json").stdout)]
    done = type_in(tmp_path, "replay", run)
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stdout.splitlines()[-1] == "identical in all that was seen"
    path.write_text(ENTRY.replace("look_up(ticket)", "look_up(ticket + '!')"))
    done = type_in(tmp_path, "replay", run)
    assert done.returncode == 1
    assert "[--]" not in done.stdout
    assert "/name: ana{+!+}" in done.stdout


def test_a_block_finds_its_program_and_takes_another(tmp_path: Path) -> None:
    program = "import playhead\ntool = playhead.tool(lambda n: n, name='count')\n"
    write_agent(tmp_path, f"{program}with playhead.record(kind='run', id='run-1'):\n    tool(3)\n")
    import subprocess

    subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, env=environment(), check=True)
    for words in ([], ["--", "python", "agent.py"]):
        done = type_in(tmp_path, "replay", "run-1", *words)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.sweep
def test_another_program_is_said_to_be_another(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path, "T-42")
    write_agent(tmp_path, name="other.py")
    assert "warnings" not in report_of(tmp_path, "--", sys.executable, "agent.py", "T-42")
    [warning] = report_of(tmp_path, "--", "python", "other.py", "T-42")["warnings"]
    assert warning == "another program: python other.py T-42 now, python agent.py T-42 when recorded"
    [warning] = report_of(tmp_path, "--", "python", "agent.py", "T-43")["warnings"]
    assert warning.startswith("another program: python agent.py T-43 now")


@pytest.mark.sweep
def test_an_sdk_of_another_version_is_a_warning(tmp_path: Path) -> None:
    write_agent(tmp_path, "import somelib\n" + AGENT)
    (tmp_path / "somelib.py").write_text("__version__ = '1.0'\n")
    record(tmp_path)
    assert "warnings" not in report_of(tmp_path)
    (tmp_path / "somelib.py").write_text("__version__ = '2.0.1'\n")
    report = report_of(tmp_path)
    assert report["warnings"] == ["somelib 2.0.1 now, 1.0 when recorded"]
    assert report["ok"]


@pytest.mark.sweep
def test_a_program_that_ends_otherwise_is_a_warning(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path, "exit")
    assert "warnings" not in report_of(tmp_path)
    write_agent(tmp_path, AGENT.replace("sys.exit(3)", "sys.exit(4)"))
    assert report_of(tmp_path)["warnings"] == ["the program ended with exit code 4 now, with exit code 3 when recorded"]


@pytest.mark.parametrize(
    "word", ["hard-exit", "SIGTERM", *(pytest.param(word, marks=pytest.mark.sweep) for word in ("boom", "exit"))]
)
def test_a_report_comes_however_the_program_ends(tmp_path: Path, word: str) -> None:
    write_agent(tmp_path)
    record(tmp_path, word)
    report = report_of(tmp_path)
    assert (report["ok"], report["steps"]) == (True, 2)


def test_a_program_that_dies_without_a_report_is_neither_yes_nor_no(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path, "SIGKILL")
    done = type_in(tmp_path, "replay", "run-1")
    assert done.returncode == 3
    assert "the program ended (SIGKILL) before it could report" in done.stderr
    assert "more: playhead help no-report" in done.stderr


def test_a_python_without_playhead_is_not_let_go_live(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    marker = "import pathlib\npathlib.Path('ran').write_text('live')\n"
    write_agent(tmp_path, marker, name="plain.py")
    words = ["sh", "-c", "PYTHONPATH=${PYTHONPATH%%:*} python -S -c pass; exec python plain.py"]
    (tmp_path / "broken" / "playhead").mkdir(parents=True)
    (tmp_path / "broken" / "playhead" / "__init__.py").write_text("raise ImportError('not for this Python')\n")
    words = ["sh", "-c", f"PYTHONPATH=${{PYTHONPATH%%:*}}:{tmp_path / 'broken'} exec python plain.py"]
    done = type_in(tmp_path, "replay", "run-1", "--", *words)
    assert done.returncode == 3
    assert "cannot import playhead (not for this Python)" in done.stderr
    assert not (tmp_path / "ran").exists()
    done = type_in(tmp_path, "record", "--id", "run-2", "--", *words)
    assert done.returncode == 2
    assert "nothing was recorded: the Python at" in done.stderr
    assert (tmp_path / "ran").read_text() == "live"


def test_nothing_goes_live_in_a_replay(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    write_agent(tmp_path, "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)\n")
    done = type_in(tmp_path, "replay", "run-1")
    assert done.returncode == 1
    assert "connection refused: 127.0.0.1:9" in done.stdout


def test_sets_have_the_recorded_order_and_the_clock_the_recorded_zone(tmp_path: Path) -> None:
    program = """
import playhead, time
from datetime import datetime
tool = playhead.tool(lambda items: None, name="take")
tool(list({"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}))
tool(datetime.fromtimestamp(0).isoformat())
"""
    write_agent(tmp_path, program)
    assert record(tmp_path, env=environment(TZ="Asia/Tokyo")).returncode == 0
    assert load(tmp_path).steps[1].question.body.arguments["items"] == "1970-01-01T09:00:00"
    for _ in range(3):
        done = type_in(tmp_path, "replay", "run-1", env=environment(TZ="America/New_York"))
        assert done.returncode == 0, done.stdout


@pytest.mark.sweep
def test_other_code_is_told_by_its_commit(tmp_path: Path) -> None:
    import subprocess

    def commit() -> None:
        name = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run(["git", "add", "agent.py"], cwd=tmp_path, check=True)
        subprocess.run(["git", *name, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)

    write_agent(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    commit()
    record(tmp_path)
    assert "warnings" not in report_of(tmp_path)
    commit()
    [warning] = report_of(tmp_path)["warnings"]
    assert warning.startswith("the code is at commit ")


@pytest.mark.sweep
def test_the_recording_is_not_touched(tmp_path: Path) -> None:
    write_agent(tmp_path)
    record(tmp_path)
    path = load(tmp_path).path
    assert path is not None
    before = path.read_bytes()
    type_in(tmp_path, "replay", "run-1")
    type_in(tmp_path, "replay", str(path))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    assert playhead.load(path).outcome == "success"
