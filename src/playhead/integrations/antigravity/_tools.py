"""Tools of the agent that the harness asks for, and the people it asks: both cross where the SDK calls them."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any

from playhead.boundary import Arguments, Call, cross_async, current_lane

_asked: ContextVar[list[Any]] = ContextVar("playhead_antigravity_asked", default=[])  # noqa: B039 (only replaced)
"""The calls of the model that are being carried out and have not reached their tools yet."""

_tool: ContextVar[tuple[str, str | None] | None] = ContextVar("playhead_antigravity_tool", default=None)
"""The name and the model's id of the call whose tool is about to run."""


def processing(original: Callable[..., Any]) -> Callable[..., Any]:
    """`ToolRunner.process_tool_calls` that remembers the ids."""

    @wraps(original)
    async def process_tool_calls(self: Any, tool_calls: Any) -> Any:
        token = _asked.set(list(tool_calls))
        try:
            return await original(self, tool_calls)
        finally:
            _asked.reset(token)

    return process_tool_calls


def executing(original: Callable[..., Any]) -> Callable[..., Any]:
    """`ToolRunner.execute` that finds out which call of the model it carries out."""

    @wraps(original)
    async def execute(self: Any, tool_name: str, **kwargs: Any) -> Any:
        waiting = _asked.get()
        found = next((each for each in waiting if each.name == tool_name and each.args == kwargs), None)
        if found is not None:
            waiting.remove(found)
        token = _tool.set((tool_name, found.id if found is not None else None))
        try:
            return await original(self, tool_name, **kwargs)
        finally:
            _tool.reset(token)

    return execute


def calling(original: Callable[..., Any]) -> Callable[..., Any]:
    """`ToolRunner._execute_fn`, at the boundary. What a tool is handed of the conversation itself is no argument."""

    @wraps(original)
    async def execute_fn(self: Any, fn: Callable[..., Any], **kwargs: Any) -> Any:
        lane, tool = current_lane(), _tool.get()
        if lane is None or lane.opaque or tool is None:
            return await original(self, fn, **kwargs)
        name, call_id = tool
        handed = self._context_params.get(name)
        asked = Arguments(fn, (), {key: value for key, value in kwargs.items() if key != handed})
        marked = getattr(getattr(fn, "fn", fn), "_self_marked", {})
        call = Call("tool", name, asked, call_id, **marked)
        return await cross_async(lane, call, lambda: original(self, fn, **kwargs))

    return execute_fn


def questioning(original: Callable[..., Any]) -> Callable[..., Any]:
    """`_dispatch_question_interaction`: the answers of a person come from the recording."""

    @wraps(original)
    async def dispatch(self: Any, questions_list: Any) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque or not questions_list or not self._hook_runner:
            return await original(self, questions_list)
        asked = Arguments(questioning, (), {"questions": [each.model_dump(mode="json") for each in questions_list]})
        call = Call("wrap", "user.question", asked)
        return await cross_async(lane, call, lambda: original(self, questions_list))

    return dispatch


def asking(original: Callable[..., Any]) -> Callable[..., Any]:
    """`_execute_ask_user`: so does whether a person allows a tool."""

    @wraps(original)
    async def ask(policy: Any, tool_call: Any, reason: str = "") -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            return await original(policy, tool_call, reason=reason)
        given = {"tool": tool_call.name, "arguments": tool_call.args, "reason": reason}
        call = Call("wrap", "user.approval", Arguments(asking, (), given))
        return await cross_async(lane, call, lambda: original(policy, tool_call, reason=reason))

    return ask
