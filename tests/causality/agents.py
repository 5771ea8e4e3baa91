"""A team of agents on a real SDK: two researchers work side by side, and a buyer answers from what they say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import openai

import playhead
from playhead.testing import ModelServer, Text, ToolCall, ToolCalls

PRICES = {"tea": "7 euros per kilo", "salt": "9999 euros per kilo"}
"""What the price list says; the price of salt is wrong."""

TOOLS: Any = [{"type": "function", "function": {"name": "look_up_price", "parameters": {"type": "object"}}}]

SCRIPT = {
    "tea-researcher": [
        ToolCalls([ToolCall("look_up_price", {"item": "tea"}, id="call_tea")]),
        Text("According to the list, tea costs 7 euros per kilo at the moment."),
    ],
    "salt-researcher": [
        ToolCalls([ToolCall("look_up_price", {"item": "salt"}, id="call_salt")], delay=0.05),
        Text("According to the list, salt costs 9999 euros per kilo at the moment."),
    ],
    "buyer": [Text("Do not buy any salt: it costs 9999 euros per kilo.")],
}


@playhead.tool
async def look_up_price(item: str) -> dict[str, str]:
    """The price of an item, as a service would give it."""
    await asyncio.sleep(0)
    return {"item": item, "price": PRICES[item]}


async def ask(client: openai.AsyncOpenAI, model: str, messages: list[Any]) -> Any:
    """One turn of a model."""
    answer = await client.chat.completions.create(model=model, messages=messages, tools=TOOLS)
    return answer.choices[0].message


async def research(client: openai.AsyncOpenAI, item: str) -> str:
    """A sub-agent with a tool."""
    messages: list[Any] = [
        {"role": "system", "content": "You find out prices."},
        {"role": "user", "content": f"What does {item} cost?"},
    ]
    while True:
        message = await ask(client, f"{item}-researcher", messages)
        if not message.tool_calls:
            return str(message.content)
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            found = await look_up_price(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(found)})


async def advise(url: str) -> str:
    """The team: what the researchers say side by side goes into the buyer's prompt."""
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        found = await asyncio.gather(research(client, "tea"), research(client, "salt"))
        prompt = "Advise on the shopping. Your researchers said:\n" + "\n".join(found)
        return str((await ask(client, "buyer", [{"role": "user", "content": prompt}])).content)


def record_team(store: Path, run: str = "team-1") -> playhead.Recording:
    """A recording of the team at work."""
    with ModelServer(SCRIPT) as server, playhead.record(kind="team", store=store, id=run) as this:
        this.succeed(asyncio.run(advise(server.openai_url)))
    return playhead.load(run, store=store)
