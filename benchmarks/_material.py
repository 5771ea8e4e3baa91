"""What the benchmarks record: conversations, tool results and the bytes that a model server would have sent."""

from __future__ import annotations

import json
import random
from typing import Any

PHRASE = (
    "refund order parcel carrier customer window policy invoice tracking status delivered delayed missing ticket "
    "amount currency address reply asked answered looked found checked before after because although whether some"
)
WORDS = PHRASE.split()


def text(chance: random.Random, length: int) -> str:
    """About ``length`` characters that compress as prose does."""
    words: list[str] = []
    size = 0
    while size < length:
        word = chance.choice(WORDS) if chance.random() < 0.8 else f"{chance.getrandbits(40):x}"
        words.append(word)
        size += len(word) + 1
    return " ".join(words)[:length]


def message(chance: random.Random, role: str, length: int) -> dict[str, Any]:
    """One message of a conversation."""
    return {"role": role, "content": text(chance, length)}


def conversation(chance: random.Random, messages: int, length: int) -> list[dict[str, Any]]:
    """A conversation in which both sides say ``length`` characters in turn."""
    return [message(chance, "assistant" if at % 2 else "user", length) for at in range(messages)]


def tools(chance: random.Random, count: int = 8) -> list[dict[str, Any]]:
    """Tool schemas of about 450 bytes each."""
    limit = {"type": "integer", "minimum": 0}
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{at}",
                "description": text(chance, 240),
                "parameters": {
                    "type": "object",
                    "properties": {"path": {"type": "string", "description": text(chance, 60)}, "limit": limit},
                    "required": ["path"],
                },
            },
        }
        for at in range(count)
    ]


def completion(chance: random.Random, said: dict[str, Any]) -> dict[str, Any]:
    """A chat completion that says ``said``."""
    return {
        "id": f"chatcmpl-{chance.getrandbits(96):024x}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "gpt-5-2026-08-01",
        "choices": [{"index": 0, "message": said, "finish_reason": "tool_calls" if "tool_calls" in said else "stop"}],
        "usage": {"prompt_tokens": 3200, "completion_tokens": 180, "total_tokens": 3380},
    }


def rows(chance: random.Random, size: int) -> list[dict[str, Any]]:
    """Nested plain data of about ``size`` bytes of JSON."""
    return [
        {"id": at, "price": at * 0.25, "open": at % 3 == 0, "tags": ["a", "b"], "note": text(chance, 60)}
        for at in range(size // 130)
    ]


def dumped(value: Any) -> bytes:
    """JSON as the usual clients send it."""
    return json.dumps(value, separators=(",", ":")).encode()
