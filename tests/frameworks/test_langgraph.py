"""Agents of langgraph, with parallel tools and graphs that are run by tools, replay as they ran."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.frameworks import desk

pytest.importorskip("langgraph", reason="langgraph is not installed")
langchain_openai: Any = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")

from langchain_core.messages import SystemMessage  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.graph import START, MessagesState, StateGraph  # noqa: E402
from langgraph.prebuilt import ToolNode, tools_condition  # noqa: E402

Way = Literal["in a loop", "in threads"]


def _graph(name: str, url: str, instructions: str, tools: list[Any], way: Way) -> Any:
    """A model and its tools, in turns."""
    model = langchain_openai.ChatOpenAI(model=name, api_key="none", base_url=url, max_retries=0).bind_tools(tools)

    def ask(state: MessagesState) -> Any:
        return {"messages": [model.invoke([SystemMessage(instructions), *state["messages"]])]}

    async def ask_in_loop(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke([SystemMessage(instructions), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask if way == "in threads" else ask_in_loop)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def _asked(text: str) -> dict[str, Any]:
    return {"messages": [("user", text)]}


def _in_loop(url: str) -> Any:
    tools = [tool(desk.find), tool(desk.read)]
    scout = _graph("scout", url, desk.SCOUT, tools, "in a loop")

    @tool
    async def send_scout(where: str) -> str:
        """Send a scout there."""
        return desk.note((await scout.ainvoke(_asked(where)))["messages"][-1].content)

    graph = _graph("desk", url, desk.DESK, [*tools, send_scout], "in a loop")
    return asyncio.run(graph.ainvoke(_asked(desk.QUESTION)))["messages"][-1].content


def _in_threads(url: str) -> Any:
    tools = [tool(desk.read), tool("find")(desk.read_on)]
    scout = _graph("scout", url, desk.SCOUT, tools, "in threads")

    @tool
    def send_scout(where: str) -> str:
        """Send a scout there."""
        return desk.post(scout.invoke(_asked(where))["messages"][-1].content)

    graph = _graph("desk", url, desk.DESK, [*tools, send_scout], "in threads")
    return graph.invoke(_asked(desk.QUESTION))["messages"][-1].content


WAYS: dict[Way, Callable[[str], Any]] = {"in a loop": _in_loop, "in threads": _in_threads}


def agent_of(way: Way) -> desk.Agent:
    """The desk's graph, run by a loop or by threads."""
    return WAYS[way]


@pytest.mark.parametrize("times", desk.TIMES)
@pytest.mark.parametrize("way", WAYS)
def test_agents_replay_as_they_ran(way: Way, times: int, tmp_path: Path) -> None:
    desk.check_replays(agent_of(way), tmp_path, times=times)
