"""What was typed or met by a whole program reaches no file and no message unmasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import record, type_in, write_agent

SECRET = "sk-proj-" + "A1b2C3d4E5f6G7h8" * 3
PROGRAM = """
import sys, playhead
tool = playhead.tool(lambda key: key, name="use")
with playhead.record(kind="inner") as run:
    tool(sys.argv[1])
    run.succeed({"key": sys.argv[1]})
HELD = {sys.argv[1]: __import__("time").time}
if len(sys.argv) > 2:
    raise ValueError(sys.argv[1])
"""


@pytest.mark.slow
def test_a_secret_on_the_command_line_is_in_no_file_and_no_report(tmp_path: Path) -> None:
    write_agent(tmp_path, PROGRAM)
    assert record(tmp_path, SECRET).returncode == 0
    assert record(tmp_path, SECRET, "fail", run="run-2").returncode == 1
    said = ""
    for words in (
        ["show", "run-1", "--json"],
        ["show", "run-1#1"],
        ["show", "run-2"],
        ["runs", "--json"],
        ["diff", "run-1", "run-2"],
        ["replay", "run-1", "--json", "--report", "report.json"],
        ["replay", "run-1", "--json", "--", "python", "agent.py", SECRET],
        ["replay", "run-1", "--json", "--", "python", "agent.py", SECRET + "other"],
        ["verify", "--all"],
        ["record", "--task", SECRET, "--id", "run-3", "--", "python", "agent.py", SECRET],
        ["record", "--", "./agent.py", SECRET],
    ):
        done = type_in(tmp_path, *words)
        said += done.stdout + done.stderr
    assert SECRET[8:40] not in said
    for path in (tmp_path / ".playhead").rglob("*"):
        if path.is_file():
            assert SECRET.encode()[8:40] not in plain(path), path
    assert SECRET[8:40] not in (tmp_path / "report.json").read_text()


def plain(path: Path) -> bytes:
    """The content of a stored file, decompressed where it is a recording."""
    from playhead.eventlog._source import Bytes
    from playhead.eventlog._text import Text

    if path.suffix != ".playhead":
        return path.read_bytes()
    return b"\n".join(line for _, block in Text(Bytes(path)) for line in block)


@pytest.mark.slow
@pytest.mark.sweep
def test_a_masked_command_line_is_the_same_program(tmp_path: Path) -> None:
    write_agent(tmp_path, PROGRAM)
    record(tmp_path, SECRET)
    for words in ([], ["--", "python", "agent.py", SECRET]):
        done = type_in(tmp_path, "replay", "run-1", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "another program" not in done.stdout
    assert "another program" in type_in(tmp_path, "replay", "run-1", "--", "python", "agent.py", "other").stdout
