"""What agents do, in every kind that they go wrong or right."""

from __future__ import annotations

import asyncio
from typing import Any

from google.antigravity import types
from google.antigravity.hooks import hooks

from tests.antigravity._desk import Desk, Plan, say, seen

_LABELS = {"toolAction": "a", "toolSummary": "s"}


async def _chat(desk: Desk, *prompts: str, **settings: Any) -> list[Any]:
    async with desk.agent(**settings) as agent:
        texts = []
        for prompt in prompts:
            response = await agent.chat(prompt)
            texts.append([await response.text(), [str(chunk) async for chunk in response]])
        return [texts, seen(agent), agent.conversation.total_usage.model_dump(mode="json"), agent.conversation_id]


async def plain(desk: Desk) -> Any:
    return await _chat(desk, say("Say something.", [{"text": "Something long enough to come in several pieces."}]))


async def several_turns(desk: Desk) -> Any:
    first: Plan = [{"calls": [("add", {"a": 1, "b": 2})]}, {"text": "three"}]
    return await _chat(desk, say("First.", first), say("Second.", [{"text": "again"}]), say("Third.", [{"text": "so"}]))


async def parallel_tools(desk: Desk) -> Any:
    calls = [("add", {"a": 1, "b": 1}), ("look_up", {"city": "Oslo"}), ("add", {"a": 1, "b": 1})]
    return await _chat(desk, say("All at once.", [{"calls": calls}, {"text": "done"}]))


async def built_in_tools(desk: Desk, *, command: str = "cat hello.txt; date +%N") -> Any:
    file = str(desk.workspace / "hello.txt")
    write = {"TargetFile": file, "CodeContent": "hi\n", "Overwrite": True, "Description": "d", "EmptyFile": False}
    run = {"CommandLine": command, "Cwd": str(desk.workspace), "WaitMsBeforeAsync": 5000}
    plan: Plan = [
        {"calls": [("write_to_file", {**write, "IsArtifact": False, **_LABELS})]},
        {"calls": [("run_command", {**run, **_LABELS})]},
        {"calls": [("view_file", {"AbsolutePath": file, **_LABELS})]},
        {"calls": [("view_file", {"AbsolutePath": f"{file}.none", **_LABELS})]},
        {"text": "written"},
    ]
    return await _chat(desk, say("Write it.", plan))


async def tool_exception(desk: Desk) -> Any:
    return await _chat(desk, say("Try.", [{"calls": [("fail", {"reason": "dark"})]}, {"text": "it failed"}]))


async def http_400(desk: Desk) -> Any:
    return await _chat(desk, say("Try.", [{"status": 400}]))


async def http_500(desk: Desk) -> Any:
    return await _chat(desk, say("Try.", [{"status": 500}]))


async def cancelled(desk: Desk) -> Any:
    async with desk.agent() as agent:
        response = await agent.chat(say("Take long.", [{"text": "never", "delay": 30.0}]))

        async def cancel() -> None:
            await asyncio.sleep(0.2)
            await agent.conversation.cancel()

        task = asyncio.create_task(cancel())
        try:
            ended: Any = await response.text()
        except types.AntigravityCancelledError as error:
            ended = [type(error).__name__, str(error)]
        await task
        return [ended, seen(agent)]


async def killed(desk: Desk) -> Any:
    ended: list[Any] = []
    try:
        async with desk.agent() as agent:
            try:
                response = await agent.chat(say("Crash.", [{"calls": [("crash", {})]}, {"text": "never"}]))
                ended.append(await response.text())
            except Exception as error:
                ended.append([type(error).__name__, str(error)])
            ended.append(seen(agent))
    except Exception as error:
        ended.append([type(error).__name__, str(error)])
    return ended


async def part(desk: Desk, who: str) -> Any:
    """What one of two agents does that are configured alike."""
    calls: Plan = [{"calls": [("add", {"a": 2, "b": 3}), ("look_up", {"city": who})]}, {"text": f"so says {who}"}]
    return await _chat(desk, say(f"You are {who}.", calls), say("More.", [{"text": f"{who} again"}]))


async def two_agents(desk: Desk) -> Any:
    return list(await asyncio.gather(part(desk, "Ann"), part(desk, "Bob")))


async def two_agents_the_other_way_round(desk: Desk) -> Any:
    return list(await asyncio.gather(part(desk, "Bob"), part(desk, "Ann")))[::-1]


async def sub_agents(desk: Desk) -> Any:
    def worker(number: int) -> dict[str, Any]:
        plan: Plan = [{"calls": [("add", {"a": number, "b": number})]}, {"text": f"worker {number} is done"}]
        return {"TypeName": "self", "Role": f"w{number}", "Prompt": say("Do it.", plan)}

    plan: Plan = [{"calls": [("invoke_subagent", {"Subagents": [worker(1), worker(2)], **_LABELS})]}]
    plan = [*plan, *({"text": text} for text in ("waiting", "one is in", "all are in", "really"))]
    return await _chat(desk, say("Share it.", plan))


async def steady_built_in_tools(desk: Desk) -> Any:
    """The same, where nothing comes out otherwise the next time."""
    return await built_in_tools(desk, command="cat hello.txt")


async def sub_agents_in_turn(desk: Desk) -> Any:
    """Sub-agents that end in turn: of those that end together the harness may tell in one message or in two."""

    def worker(number: int) -> dict[str, Any]:
        ending = {"text": f"worker {number} is done", "after": ("waiting", "one is in")[number - 1]}
        plan: Plan = [{"calls": [("add", {"a": number, "b": number})]}, ending]
        return {"TypeName": "self", "Role": f"w{number}", "Prompt": say("Do it.", plan)}

    plan: Plan = [{"calls": [("invoke_subagent", {"Subagents": [worker(1), worker(2)], **_LABELS})]}]
    plan = [*plan, *({"text": text} for text in ("waiting", "one is in", "all are in", "really"))]
    return await _chat(desk, say("Share it.", plan))


async def workflow(desk: Desk) -> Any:
    script = desk.workspace / "steps.py"
    finish = say("Do it.", [{"calls": [("finish", {"result": "r", **_LABELS})]}, {"text": "ok"}])
    body = f"phase('P1')\nr = await parallel([1, 2], lambda i: agent({finish!r}, schema={{'type': 'string'}}))\n"
    script.write_text(body + "for x in r:\n    log(x)\n")
    plan: Plan = [{"calls": [("run_workflow", {"ScriptPath": str(script), "Description": "d", **_LABELS})]}]
    plan = [*plan, *({"text": text} for text in ("started", "finished", "end"))]
    async with desk.agent() as agent:
        result = await agent.beta.run_workflow(script_path=str(script), description=say("steps", plan))
        return [result.output, result.response_text, seen(agent)]


async def hooked(desk: Desk) -> Any:
    told: list[Any] = []

    @hooks.on_session_start
    async def begun() -> None:
        told.append("begun")

    @hooks.pre_tool_call_decide
    async def before(call: Any) -> Any:
        told.append(["before", call.name])
        return types.HookResult(allow=call.name != "look_up", message="not this one")

    @hooks.post_tool_call
    async def after(result: Any) -> None:
        told.append(["after", result.name])

    calls: Plan = [{"calls": [("add", {"a": 1, "b": 1}), ("look_up", {"city": "Oslo"})]}, {"text": "done"}]
    found = await _chat(desk, say("Go.", calls), hooks=[begun, before, after])
    return [found, told]


ALL = (
    plain,
    several_turns,
    parallel_tools,
    built_in_tools,
    tool_exception,
    http_400,
    http_500,
    cancelled,
    killed,
    two_agents,
    sub_agents,
    workflow,
    hooked,
)
