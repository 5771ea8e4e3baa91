"""Agents of openai-agents, with parallel tools and agents as tools, replay as they ran."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.frameworks import desk

agents: Any = pytest.importorskip("agents", reason="openai-agents is not installed")


def _desk(client: Any, *, api: str) -> Any:
    model = agents.OpenAIResponsesModel if api == "responses" else agents.OpenAIChatCompletionsModel
    find = agents.function_tool(desk.find)
    read = agents.function_tool(desk.read)
    scout = agents.Agent(name="scout", instructions=desk.SCOUT, model=model("scout", client), tools=[find, read])

    @agents.function_tool
    async def send_scout(where: str) -> str:
        """Send a scout.

        Args:
            where: to look around there
        """
        result = await agents.Runner.run(scout, where)
        return desk.note(str(result.final_output))

    return agents.Agent(
        name="desk", instructions=desk.DESK, model=model("desk", client), tools=[find, read, send_scout]
    )


def agent_of(api: str) -> desk.Agent:
    """The desk's agent, whose models are spoken to in the way of ``api``."""

    async def main(url: str) -> Any:
        async with AsyncOpenAI(api_key="none", base_url=url) as client:
            return (await agents.Runner.run(_desk(client, api=api), desk.QUESTION)).final_output

    return lambda url: asyncio.run(main(url))


@pytest.mark.parametrize("times", desk.TIMES)
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_agents_replay_as_they_ran(api: str, times: int, tmp_path: Path) -> None:
    desk.check_replays(agent_of(api), tmp_path, times=times)
