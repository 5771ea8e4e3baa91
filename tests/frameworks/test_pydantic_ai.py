"""Agents of pydantic-ai, with parallel tools and agents that are run by tools, replay as they ran."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks import desk

pydantic_ai: Any = pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
openai: Any = pytest.importorskip("openai", reason="openai is not installed")


def _desk(client: Any, *, api: str) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIResponsesModel if api == "responses" else OpenAIChatModel
    provider = OpenAIProvider(openai_client=client)
    scout = pydantic_ai.Agent(model("scout", provider=provider), instructions=desk.SCOUT, tools=[desk.find, desk.read])

    async def send_scout(where: str) -> str:
        """Send a scout.

        Args:
            where: to look around there
        """
        return desk.note((await scout.run(where)).output)

    return pydantic_ai.Agent(
        model("desk", provider=provider), instructions=desk.DESK, tools=[desk.find, desk.read, send_scout]
    )


def agent_of(api: str) -> desk.Agent:
    """The desk's agent, whose models are spoken to in the way of ``api``."""

    async def main(url: str) -> Any:
        async with openai.AsyncOpenAI(api_key="none", base_url=url) as client:
            return (await _desk(client, api=api).run(desk.QUESTION)).output

    return lambda url: asyncio.run(main(url))


@pytest.mark.parametrize("times", desk.TIMES)
@pytest.mark.parametrize("api", ["responses", "chat"])
def test_agents_replay_as_they_ran(api: str, times: int, tmp_path: Path) -> None:
    desk.check_replays(agent_of(api), tmp_path, times=times)
