"""The program that comes with the agent SDK for Claude, which needs no account to ask through the gateway."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from playhead.testing import Answer, ModelServer, Request, Text, ToolCall, ToolCalls
from tests.cli.commands import environment, load, type_in

pytest.importorskip("claude_agent_sdk")

AGENT = """
import asyncio
from claude_agent_sdk import AssistantMessage, ClaudeAgentOptions, ResultMessage, query

async def main():
    options = ClaudeAgentOptions(max_turns=3, system_prompt="You are brief.", allowed_tools=["Bash"],
                                 permission_mode="acceptEdits", model="claude-sonnet-4-5")
    async for said in query(prompt="what does it say?", options=options):
        if isinstance(said, AssistantMessage):
            print([getattr(block, "text", None) or getattr(block, "name", None) for block in said.content])
        if isinstance(said, ResultMessage):
            print(said.subtype, said.is_error, said.result)

asyncio.run(main())
"""
NORMALISERS = """
import msgspec

def without_session(request):
    if not isinstance(request.content, dict) or "metadata" not in request.content:
        return request
    return msgspec.structs.replace(request, content={**request.content, "metadata": None})

NORMALISERS = [without_session]
"""
KEY = "sk-ant-api03-PLANTEDanthropic0123456789abcdef"


def script(request: Request) -> Answer:
    if b"tool_result" in request.body:
        return Text("it says found-it")
    if b'"name":"Bash"' in request.body:
        return ToolCalls([ToolCall("Bash", {"command": "echo found-it", "description": "look"})])
    return Text("a title")


def test_its_bundled_program_is_recorded_and_replayed_offline(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "normalisers.py").write_text(NORMALISERS)
    (tmp_path / "home").mkdir()
    alone = {"HOME": str(tmp_path / "home"), "IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    with ModelServer(script) as server:
        env = environment(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=server.url, **alone)
        then = type_in(tmp_path, "gateway", "--id", "run-1", "--", sys.executable, "agent.py", env=env)
    assert "['it says found-it']" in then.stdout, then.stdout + then.stderr
    env = environment(**alone)
    env.pop("ANTHROPIC_API_KEY", None)
    now = type_in(tmp_path, "replay", "run-1", "--normalisers", "normalisers.py", env=env)
    assert now.stdout.startswith(then.stdout), now.stdout + now.stderr
    assert now.returncode == 0, now.stdout
    strict = type_in(tmp_path, "replay", "run-1", env=env)
    assert (strict.returncode, "/metadata/user_id" in strict.stdout) == (1, True)
    assert load(tmp_path).exchanges[0].answer is not None
    held = [path.read_bytes() for path in (tmp_path / ".playhead").rglob("*") if path.is_file()]
    assert not any(KEY.encode() in each for each in held)
    assert "PLANTED" not in "".join(repr(event) for event in load(tmp_path).events)
