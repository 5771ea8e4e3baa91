"""A desk that sends scouts: what the agents of every framework have in common, and what is asked of a replay.

The desk's model asks for two tools and two sub-agents at a time. A scout's model asks for the same two tools, and for
one of them with the same arguments as the others do. What a tool finds depends on who wrote to the board before, so
that an order that is not the recorded one is seen in the very next request. Every tool and every answer of the model
takes as long as chance will have it.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import playhead
from playhead.testing import Answer, ModelServer, Request, Text, ToolCall, ToolCalls, forbid_connections

PACE = 0.02
QUESTION = "What is there to see in Lisbon?"
DESK = "You send scouts and put together what they found."
SCOUT = "You look around for the desk."

board: list[str] = []
"""What was found so far, in the order in which it was found."""

reports: list[str] = []
"""The same of what scouts that work in threads have to say."""


def _delay() -> float:
    return random.random() * PACE


@playhead.tool
async def search(query: str) -> str:
    """Search the web.

    Args:
        query: what for
    """
    await asyncio.sleep(_delay())
    return f"page on {query}"


@playhead.tool
def look_up(key: str) -> str:
    """Look something up in a book; this takes a thread.

    Args:
        key: what
    """
    time.sleep(_delay())
    return f"entry for {key}"


def note(found: str) -> str:
    """Add to the board; what is given says who came before."""
    board.append(found)
    return f"{found}, as number {len(board)}"


@playhead.tool
def post(found: str) -> str:
    """Post a report.

    A tool, for threads: of those that compute side by side after their last crossing nobody knows who came first.
    """
    reports.append(found)
    return f"{found}, as report {len(reports)}"


async def find(query: str) -> str:
    """Search, and note it down."""
    return note(await search(query))


def read(key: str) -> str:
    """Look up, and note it down."""
    return note(look_up(key))


def read_on(query: str) -> str:
    """Look up under another heading, and note it down."""
    return note(look_up(f"more on {query}"))


def _desk(request: Request) -> Answer:
    results = request.tool_results
    scouts = [ToolCall("send_scout", {"where": where}) for where in ("hills", "river")]
    match len(results):
        case 0:
            calls = [*scouts, ToolCall("find", {"query": "weather"}), ToolCall("read", {"key": "tram"})]
        case 4:
            calls = [*scouts, ToolCall("find", {"query": "weather"}), ToolCall("find", {"query": "weather"})]
        case _:
            return Text("Seen: " + " | ".join(each.content for each in results), delay=_delay())
    return ToolCalls(calls, delay=_delay())


def _scout(request: Request) -> Answer:
    results = request.tool_results
    if len(results) < 3:
        calls = [ToolCall("find", {"query": "the same"}), ToolCall("read", {"key": request.user_text})]
        return ToolCalls([*calls, ToolCall("find", {"query": "the same"})], delay=_delay())
    return Text(f"{request.user_text}: " + "; ".join(each.content for each in results), delay=_delay())


SCRIPT = {"desk": _desk, "scout": _scout}
"""What the models say, by their names."""

Agent = Callable[[str], Any]
"""A whole run of a framework's agents against the models at a URL; gives what it said."""


def run_agent(agent: Agent, url: str) -> tuple[Any, list[str]]:
    """What ``agent`` says, and what is on the board then."""
    board.clear()
    reports.clear()
    said = agent(url)
    return said, list(board)


TIMES = [pytest.param(3, id="3 times"), pytest.param(20, id="20 times", marks=pytest.mark.slow)]


def check_replays(agent: Agent, store: Path, *, times: int) -> None:
    """Record ``agent`` and replay it, so often; each replay has to come out as its recording, and open nothing."""
    outcomes: set[str] = set()
    for _ in range(times):
        with ModelServer(SCRIPT) as server:
            with playhead.record(kind="desk", store=store) as run:
                outcome = run_agent(agent, server.openai_url)
            assert server.failures == []
        assert outcome[0].startswith("Seen: ")
        outcomes.add(repr(outcome))
        with forbid_connections() as guard, playhead.replay(run.id, store=store) as replay:
            assert run_agent(agent, server.openai_url) == outcome
        assert replay.report.identical, replay.report.lines()
        assert guard.attempts == []
    assert times < 10 or len(outcomes) > 1, "chance had no hand in it, so nothing was shown"
