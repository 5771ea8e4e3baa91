"""``runs``, ``show``, ``diff`` and ``verify`` on recordings that are as they should be."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.testing import ModelServer, Text, ToolCall, ToolCalls
from tests.cli.commands import environment, type_in


def ask_model(server: ModelServer) -> None:
    """Two turns with a model over the plainest client there is."""
    import urllib3

    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Where is it?"},
    ]
    for _ in range(2):
        body = {"model": "gpt-4o", "messages": messages, "temperature": 0.5}
        answer = urllib3.request("POST", f"{server.openai_url}/chat/completions", json=body).json()
        messages += [
            answer["choices"][0]["message"],
            {"role": "tool", "tool_call_id": "call_1", "content": "on its way"},
        ]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three runs: one with a model, one that failed, one that was cut off."""
    folder = tmp_path_factory.mktemp("project")
    store = folder / ".playhead"
    script = [ToolCalls([ToolCall("track", {"parcel": "A-1"}, id="call_1")]), Text("It is on its way.")]
    with ModelServer(script) as server, playhead.record(kind="triage", task="T-1", store=store, id="triage-1") as run:
        ask_model(server)
        run.succeed({"reply": "on its way"})
    boom = playhead.tool(lambda order: 1 / 0, name="refund")
    with pytest.raises(ZeroDivisionError), playhead.record(kind="refund", store=store, id="refund-1"):
        playhead.now()
        boom("A-1")
    code = "import os, playhead\nplayhead.record(kind='cut', id='cut-1').__enter__()\nplayhead.now()\n"
    code += "from playhead.recorder import drain_all\ndrain_all()\nos.kill(os.getpid(), 9)\n"
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), check=False)
    return folder


def test_runs_lists_the_newest_first_with_their_outcome(project: Path) -> None:
    done = type_in(project, "runs")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["RUN", "cut-1", "refund-1", "triage-1"]
    assert ["aborted" in lines[1], "failure" in lines[2], "success" in lines[3]] == [True] * 3
    assert "cut off, not sealed" in lines[1]
    assert "ZeroDivisionError" in lines[2]
    assert "T-1" in lines[3]
    steps = lines[0].index("STEPS")
    assert [line[steps : steps + len("STEPS")].strip() for line in lines[1:]] == ["0", "1", "2"]
    assert [run["steps"] for run in json.loads(type_in(project, "runs", "--json").stdout)] == [0, 1, 2]
    assert "next: playhead show RUN" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["--failed"], ["cut-1", "refund-1"]),
        (["--kind", "triage"], ["triage-1"]),
        (["--since", "1h"], ["cut-1", "refund-1", "triage-1"]),
        (["--since", "0s"], []),
        (["--limit", "1"], ["cut-1"]),
    ],
)
def test_runs_can_be_narrowed(project: Path, words: list[str], ids: list[str]) -> None:
    found = json.loads(type_in(project, "runs", "--json", *words).stdout)
    assert [run["id"] for run in found] == ids


@pytest.mark.slow
def test_a_run_that_goes_on_is_shown_as_recording(tmp_path: Path) -> None:
    with playhead.record(kind="live", store=tmp_path / ".playhead", id="live-1"):
        listed = {run["id"]: run for run in json.loads(type_in(tmp_path, "runs", "--json").stdout)}
        assert listed["live-1"]["outcome"] == "recording"
        assert [run["starter"] for name, run in listed.items() if name != "live-1"] == ["live-1"]  # the command itself
        assert type_in(tmp_path, "show", "live-1").returncode == 0
    listed = {run["id"]: run for run in json.loads(type_in(tmp_path, "runs", "--json").stdout)}
    assert listed["live-1"]["outcome"] == "success"


@pytest.mark.slow
def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    done = type_in(tmp_path, "runs")
    assert (done.returncode, done.stdout) == (0, "")
    assert "next: playhead record -- python my_agent.py" in done.stderr


def test_show_tells_the_run_step_by_step(project: Path) -> None:
    out = type_in(project, "show", "triage-1").stdout
    assert out.startswith("triage-1  success\n  kind triage · task T-1 · 20")
    assert "2 steps · gpt-4o" in out
    assert "tokens in" in out
    lines = [line for line in out.splitlines() if " model " in line]
    assert 'track({"parcel":"A-1"})' in lines[0].replace(": ", ":")
    assert '"It is on its way."' in lines[1]
    out = type_in(project, "show", "refund").stdout
    assert "refund-1  failure (ZeroDivisionError)" in out
    assert "1 read of the clock" in out
    assert '(order="A-1") → ZeroDivisionError: division by zero' in out
    assert "not sealed, so the end is unproven" in type_in(project, "show", "cut-1").stdout


def test_one_of_something_is_told_in_the_singular(tmp_path: Path) -> None:
    store = tmp_path / ".playhead"

    @playhead.tool
    def ask() -> Iterator[int]:
        yield 1

    with playhead.record(kind="small", store=store, id="small-1"):
        list(ask())
    with playhead.replay("small-1", store=store) as replay:
        list(ask())
    assert str(replay.report) == "replayed small-1 (strict): 1 exchange, 0 reads answered"
    told = [
        type_in(tmp_path, *words) for words in (["runs"], ["show", "small-1"], ["show", "small-1#2"], ["show", "x"])
    ]
    said = "".join(done.stdout + done.stderr for done in told)
    assert "1 run in" in said
    assert "1 step\n" in said
    assert "run small-1 has one step, not 2" in said
    assert "not its one run begins with that" in said
    said += type_in(tmp_path, "diff", "small-1", "small-1").stdout + type_in(tmp_path, "doctor").stdout
    plurals = r"\b1 (events|exchanges|others?|reads|runs|steps)\b"
    assert re.search(plurals, said) is None


def test_a_model_that_was_marked_by_hand_is_shown_as_any_other(tmp_path: Path) -> None:
    store = tmp_path / ".playhead"
    think = playhead.model(lambda prompt: f"after much thought, {prompt}", name="think")
    with playhead.record(kind="small", store=store, id="small-1"):
        think("tea")
    for words in (["show", "small-1"], ["why", "small-1", "--step", "1"]):
        done = type_in(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        assert '(prompt="tea") → "after much thought, tea"' in done.stdout


def test_wrapped_calls_that_repeat_are_one_line(tmp_path: Path) -> None:
    poll = playhead.wrap("queue.poll", lambda number: number)
    note = playhead.tool(lambda text: text, name="note")
    with playhead.record(kind="small", store=tmp_path / ".playhead", id="small-1"):
        list(map(poll, range(12)))
        note("half")
        list(map(poll, range(2)))

    lines = [line for line in type_in(tmp_path, "show", "small-1").stdout.splitlines() if "queue.poll" in line]
    assert len(lines) == 3
    assert "12 times in a row" in lines[0]
    timeline = json.loads(type_in(tmp_path, "show", "small-1", "--json").stdout)["timeline"]
    assert len(timeline) == 15


def test_an_enormous_error_is_cut_in_a_pipe_too_and_whole_in_its_step(tmp_path: Path) -> None:
    store = tmp_path / ".playhead"

    @playhead.tool
    def ask(question: str) -> None:
        raise ValueError("first line\n" + "\x1b[31m" * 1000 + "\nthe end")

    with pytest.raises(ValueError, match="first"), playhead.record(kind="loud", store=store, id="loud-1"):
        ask("q" * 1000)
    lines = type_in(tmp_path, "show", "loud-1").stdout.splitlines()
    assert max(map(len, lines)) < 200
    assert any("ValueError: first line" in line and line.startswith("1 ") for line in lines)
    out = type_in(tmp_path, "show", "loud-1#1").stdout
    assert "\n  the end" in out
    assert "\x1b" not in out


def test_a_step_is_shown_with_the_context_that_the_model_saw(project: Path) -> None:
    out = type_in(project, "show", "triage-1#2").stdout
    for said in (
        "[system]\n    Be kind.",
        "[user]\n    Where is it?",
        "[tool call_1]\n    on its way",
        "temperature: 0.5",
    ):
        assert said in out
    assert "→ track(" in out
    assert out.rstrip().endswith("It is on its way.")


def test_the_same_as_data(project: Path) -> None:
    whole = json.loads(type_in(project, "show", "triage-1", "--json").stdout)
    assert (whole["id"], whole["outcome"], whole["steps"], whole["models"]) == ("triage-1", "success", 2, ["gpt-4o"])
    assert [row["step"] for row in whole["timeline"]] == [1, 2]
    assert whole["result"] == {"reply": "on its way"}
    step = json.loads(type_in(project, "show", "triage-1#2", "--json").stdout)
    assert [message["role"] for message in step["context"]["messages"]] == ["system", "user", "assistant", "tool"]
    assert step["answer"]["of"] == step["question"]["seq"]
    raw = json.loads(type_in(project, "show", "triage-1#1", "--raw").stdout)
    assert raw["question"]["kind"] == "model.requested"
    assert "context" not in raw


@pytest.mark.slow
@pytest.mark.parametrize("step", ["0", "3", "x", "-1"])
def test_a_step_that_is_not_there_is_a_usage_error(project: Path, step: str) -> None:
    done = type_in(project, "show", f"triage-1#{step}")
    assert done.returncode == 2
    assert "next: playhead show triage-1" in done.stderr


def test_a_recording_differs_from_another_and_not_from_itself(project: Path) -> None:
    assert type_in(project, "diff", "triage-1", "triage-1").returncode == 0
    done = type_in(project, "diff", "triage-1", "refund-1")
    assert done.returncode == 1
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["~", "outcome:", "success", "│", "outcome:", "failure"] in lines
    assert ["-", "1", "model", "gpt-4o"] in [line[:4] for line in lines]
    assert ["+", "│", "1", "tool", "refund"] in [line[:5] for line in lines]
    found = json.loads(type_in(project, "diff", "triage-1", "refund-1", "--json").stdout)
    assert not found["same"]
    assert {change["kind"] for change in found["changes"]} == {"added", "removed"}


def test_verify_says_whether_the_end_is_proven(project: Path) -> None:
    done = type_in(project, "verify", "triage-1")
    assert (done.returncode, done.stdout.split("  ")[1].startswith("ok: ")) == (0, True)
    assert "the end is unproven" in type_in(project, "verify", "cut-1").stdout
    done = type_in(project, "verify", "--all")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3
    assert "verifying" not in done.stderr
    found = json.loads(type_in(project, "verify", "--all", "--json").stdout)
    assert [(each["run"], each["proven"]) for each in found] == [
        ("cut-1", False),
        ("refund-1", True),
        ("triage-1", True),
    ]


def on_a_terminal(folder: Path, *words: str, columns: int = 100, **added: str) -> str:
    """What a person would see: stdout and stderr of ``playhead`` on a terminal of its own."""
    ours, theirs = pty.openpty()
    env = environment(COLUMNS=str(columns), TERM="xterm-256color", **added)
    if "NO_COLOR" not in added:
        env.pop("NO_COLOR")
    child = subprocess.Popen(
        [sys.executable, "-m", "playhead.cli", *words], cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    child.wait()
    return seen.decode().replace("\r\n", "\n")


@pytest.mark.slow
def test_colours_and_progress_are_for_terminals_and_no_color_is_respected(project: Path) -> None:
    assert "\x1b[" in on_a_terminal(project, "show", "refund-1")
    assert "verifying" in on_a_terminal(project, "verify", "--all")
    for words in (["show", "refund-1"], ["runs"], ["show", "no-such"], ["diff", "triage-1", "refund-1"]):
        assert "\x1b[3" not in on_a_terminal(project, *words, NO_COLOR="1")
        assert "\x1b" not in type_in(project, *words, env={**environment(), "NO_COLOR": ""}).stdout


@pytest.mark.slow
@pytest.mark.parametrize("columns", [24, 40, 60, 80])
def test_a_narrow_terminal_still_has_a_line_for_each_step(project: Path, columns: int) -> None:
    out = re.sub(r"\x1b\[\d*m", "", on_a_terminal(project, "show", "triage-1", columns=columns, NO_COLOR="1"))
    lines = [line for line in out.splitlines() if " model " in line]
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert max(map(len, lines)) <= columns
    assert "triage-1" in on_a_terminal(project, "runs", columns=columns, NO_COLOR="1")


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_of_any_encoding_can_show_a_run(project: Path, encoding: str) -> None:
    for words in (["show", "refund-1"], ["show", "triage-1#2"], ["runs"], ["diff", "triage-1", "refund-1"], ["doctor"]):
        done = type_in(project, *words, env=environment(PYTHONIOENCODING=encoding), errors="replace")
        assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_reader_that_has_had_enough_is_no_error(project: Path) -> None:
    command = f"{sys.executable} -m playhead.cli show triage-1 --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], cwd=project, env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("{", "")
