"""The demo's agent, on the real openai SDK against its scripted model."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import playhead
from playhead.testing import ModelServer
from playhead.testing.demo import AGENT_PATH, serve

pytest.importorskip("openai")
try:
    playhead.tool  # noqa: B018
except ImportError as error:
    pytest.skip(f"the agent needs playhead.tool: {error}", allow_module_level=True)


def run(server: ModelServer, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the agent that lies outside the package, as a user's own would."""
    agent = folder / "triage_agent.py"
    agent.write_bytes(AGENT_PATH.read_bytes())
    wanted = {"PYTHONPATH": ":".join(sys.path), "OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.openai_url}
    return subprocess.run(
        [sys.executable, str(agent), *arguments],
        cwd=folder,
        env={**os.environ, **wanted, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_agent_fails_because_it_promises_a_refund_that_was_turned_down(tmp_path):
    with serve() as server:
        ended = run(server, tmp_path)
        assert server.failures == []
        tools = [result.content for result in server.requests[-1].tool_results]
    assert ended.returncode == 1, ended.stderr
    assert "#A-1042 is refunded" in ended.stdout
    assert ended.stderr == "The reply promises a refund that was not made.\n"
    assert server.hits == 5
    assert len(tools) == 4
    assert "HTTP 403: refund of 249.00 for A-1042 needs a manager's approval" in tools[3]


def test_the_patched_agent_differs_in_its_instructions_only_and_ends_well(tmp_path):
    with serve() as server:
        run(server, tmp_path)
        ended = run(server, tmp_path, TRIAGE_PROMPT="v2")
        first, patched = server.requests[0].json, server.requests[5].json
    assert ended.returncode == 0
    assert "a manager has to approve the refund for #A-1042" in ended.stdout
    assert first["messages"][0] != patched["messages"][0]
    assert {**first, "messages": 0} == {**patched, "messages": 0}


def test_the_model_serves_other_tickets_too(tmp_path):
    with serve() as server:
        ended = run(server, tmp_path, "Order #B-7 came broken, 20 EUR please! bob@other.example")
    assert ended.returncode == 0
    assert "Hi there, so sorry about that! #B-7 is refunded" in ended.stdout


def test_every_run_has_a_reference_of_its_own(tmp_path):
    with serve() as server:
        replies = [run(server, tmp_path, TRIAGE_PROMPT="v2").stdout for _ in range(2)]
    references = [re.findall(r"\[(TRI-[0-9a-f]{8})\]", reply) for reply in replies]
    assert [len(found) for found in references] == [1, 1]
    assert references[0] != references[1]


def test_the_agent_can_be_called_from_python(tmp_path, monkeypatch):
    with serve() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        spec = importlib.util.spec_from_file_location("triage_agent", AGENT_PATH)
        agent = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(agent)
        with pytest.raises(agent.BrokenPromiseError, match="is refunded"):
            agent.triage(agent.TICKET)
        assert "manager" in agent.triage(agent.TICKET, prompt="v2")
