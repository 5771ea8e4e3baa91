"""Recordings to search: small agents, recorded for real."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

import playhead
from playhead.testing import Answer, ModelServer, Request

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "parameters": {
                "type": "object",
                "properties": {"q": {"type": "string"}, "most": {"type": "integer", "maximum": 10}},
                "required": ["q"],
                "additionalProperties": False,
            },
        },
    }
]


def note_down(store: Path, name: str, said: Callable[[int], str], count: int) -> playhead.Recording:
    """A run of ``count`` tool calls, each of which gives what ``said`` makes of its step."""
    note = playhead.tool(said, name="note")
    with playhead.record(kind="notes", store=store, id=name):
        for step in range(1, count + 1):
            note(step)
    return playhead.load(name, store=store)


def converse(store: Path, name: str, script: Callable[[Request], Answer], **more: Any) -> playhead.Recording:
    """A run of an agent that asks the scripted model until it calls no more tools; ``more`` goes into requests."""

    @playhead.tool
    def search(**arguments: Any) -> str:
        return f"found {arguments.get('q')}"

    with ModelServer(script) as server, playhead.record(kind="chat", store=store, id=name):
        messages: list[Any] = [{"role": "user", "content": "find it"}]
        while True:
            body = {"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS, **more}
            reply = httpx.post(f"{server.url}/v1/chat/completions", json=body).json()["choices"][0]["message"]
            messages.append(reply)
            for call in reply.get("tool_calls") or ():
                arguments = json.loads(call["function"]["arguments"])
                playhead.checkpoint({"turns": len(messages)})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": search(**arguments)})
            if not reply.get("tool_calls"):
                break
    return playhead.load(name, store=store)
