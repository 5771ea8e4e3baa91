"""What the tests of Antigravity agents share: a model that follows a plan in the prompt, agents of three kinds, and
recording and replaying what they do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from google.antigravity import (
    Agent,
    GeminiAPIEndpoint,
    LocalAgentConfig,
    LocalOpenAIAgentConfig,
    ModelAPIRetryConfig,
    ModelTarget,
    RetryConfig,
    VertexEndpoint,
    policy,
)

import playhead
from playhead.testing import Answer, Fail, ModelServer, Request, Text, ToolCall, ToolCalls

KINDS = ("gemini", "vertex", "openai")

Plan = list[Mapping[str, Any]]
"""One entry for each request to the model: ``text``, ``calls`` (a name and arguments each), ``status``, ``delay``.

One that has ``after`` is given when the model has said that text, in whatever conversation.
"""

_WITHIN_S = 30.0


def say(words: str, plan: Plan) -> str:
    """A prompt that carries what the model is to answer."""
    return f"{words} PLAN={json.dumps(plan)}"


class Model:
    """Answers as plans say, and remembers what it has said."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._spoken = threading.Condition()

    def __call__(self, request: Request) -> Answer:
        entry = _planned(request)
        with self._spoken:
            if "after" in entry and not self._spoken.wait_for(lambda: entry["after"] in self._said, _WITHIN_S):
                raise TimeoutError(f"{entry['after']!r} was not said")
            self._said.add(entry.get("text", ""))
            self._spoken.notify_all()
        return _answer(entry)


def follow_plan(request: Request) -> Answer:
    """Answer as the plan says that is being followed."""
    return _answer(_planned(request))


def _planned(request: Request) -> Mapping[str, Any]:
    """What the last plan in the conversation says, counting what the model has said since."""
    said = [_told(message) for message in request.conversation]
    for at in range(len(said) - 1, -1, -1):
        role, text = said[at]
        if role != "user" or "PLAN=" not in text or "sender=system" in text:
            continue
        try:
            plan, _ = json.JSONDecoder().raw_decode(text[text.index("PLAN=") + 5 :])
        except ValueError:  # a plan that is told again, and cut short
            continue
        done = sum(role == "model" for role, _ in said[at + 1 :])
        entry: Mapping[str, Any] = plan[done] if done < len(plan) else {"text": "the plan has ended"}
        return entry
    return {"text": "no plan"}


def _told(message: Mapping[str, Any]) -> tuple[str, str]:
    parts = message.get("parts", message.get("content")) or []
    if isinstance(parts, str):
        parts = [{"text": parts}]
    if any("functionResponse" in part for part in parts):  # the harness says that the model said it
        return "tool", ""
    role = {"assistant": "model"}.get(message.get("role", "user"), message.get("role", "user"))
    return role, " ".join(part.get("text", "") for part in parts)


def _answer(entry: Mapping[str, Any]) -> Answer:
    delay = entry.get("delay", 0.0)
    if "status" in entry:
        return Fail(entry["status"], "scripted")
    if "calls" in entry:
        return ToolCalls([ToolCall(name, arguments) for name, arguments in entry["calls"]], delay=delay)
    return Text(entry["text"], delay=delay)


class Desk:
    """A folder with what agents need, and where their model is."""

    def __init__(self, kind: str, folder: Path, url: str, *, key: str | None = "a-key") -> None:
        self.kind = kind
        self.folder = folder
        self.url = url
        self.key = key
        self.ran: list[Any] = []
        """The tools whose bodies have run."""
        self.agents: list[Agent] = []
        self.workspace = folder / "work"
        self.workspace.mkdir(exist_ok=True)

    def __deepcopy__(self, memo: Any) -> Desk:
        """The tools are methods of it, and the SDK copies its configuration: no agent at work can be copied."""
        return self

    def agent(self, **settings: Any) -> Agent:
        """An agent with the tools below, that may do anything."""
        common: dict[str, Any] = {
            "tools": [self.add, self.look_up, self.fail, self.crash],
            "policies": [policy.allow_all()],
            "workspaces": [str(self.workspace)],
            "app_data_dir": str(self.folder / "app"),
            "save_dir": str(self.folder / "save"),
            "retry_config": RetryConfig(api_retry=ModelAPIRetryConfig(max_retries=0)),
            **settings,
        }
        if self.kind == "openai":
            made = LocalOpenAIAgentConfig(model="gemma", base_url=f"{self.url}/v1", **common)
        else:
            endpoint = GeminiAPIEndpoint if self.kind == "gemini" else VertexEndpoint
            target = ModelTarget(name="gemini-flash", endpoint=endpoint(base_url=self.url, api_key=self.key))
            made = LocalAgentConfig(models=[target], api_key=self.key, **common)
        agent = Agent(made)
        self.agents.append(agent)
        return agent

    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        self.ran.append(("add", a, b))
        return a + b

    async def look_up(self, city: str) -> dict[str, Any]:
        """Look up the weather in a city."""
        self.ran.append(("look_up", city))
        return {"city": city, "weather": "sunny"}

    def fail(self, reason: str) -> str:
        """Fail."""
        self.ran.append(("fail", reason))
        raise LookupError(f"no luck: {reason}")

    def crash(self) -> str:
        """Kill the harness."""
        self.ran.append(("crash",))
        os.kill(self.agents[-1]._strategy._connection._process.pid, signal.SIGKILL)
        return "done"


Scenario = Callable[[Desk], Coroutine[Any, Any, Any]]


def seen(agent: Agent) -> list[Any]:
    """All that an agent's user can see of its conversation."""
    return [step.model_dump(mode="json") for step in agent.conversation.history]


def play(scenario: Scenario, desk: Desk) -> Any:
    """What the scenario gives, an exception of the SDK included."""
    return asyncio.run(asyncio.wait_for(_settled(scenario, desk), 60))


async def _settled(scenario: Scenario, desk: Desk) -> Any:
    try:
        return await scenario(desk)
    except Exception as error:
        return [type(error).__name__, str(error)]


class Recorded:
    """A scenario that was recorded, its server stopped; ``result`` is what it gave."""

    def __init__(self, scenario: Scenario, kind: str, folder: Path, **settings: Any) -> None:
        self.scenario = scenario
        self.kind = kind
        self.folder = folder
        self.store = folder / "store"
        with ModelServer(Model(), deterministic=True) as server:
            self.url = server.url
            desk = Desk(kind, folder, server.url, **settings)
            with playhead.record(kind=scenario.__name__, store=self.store) as run:
                self.result = play(scenario, desk)
            self.failures = server.failures
        self.ran = desk.ran
        self.run = run
        self.recording = playhead.load(run.id, store=self.store)

    def replay(self, monkeypatch: Any, scenario: Scenario | None = None, **options: Any) -> tuple[Any, Any, Desk]:
        """The result, the report and the desk of a replay without harness, server or key."""
        monkeypatch.setenv("ANTIGRAVITY_HARNESS_PATH", "/nonexistent/harness")
        desk = Desk(self.kind, self.folder, self.url, key=None)
        with playhead.replay(options.pop("recording", self.recording), **options) as replay:
            result = play(scenario or self.scenario, desk)
        return result, replay.report, desk

    @property
    def tools(self) -> list[Any]:
        """The exchanges with tools, those that the harness carried out among them."""
        return [exchange for exchange in self.recording.steps if exchange.question.kind == "tool.called"]

    def named(self, name: str) -> list[Any]:
        """The recorded questions of this name."""
        return [event for event in self.recording.events if getattr(event.body, "name", None) == name]
