"""Starting the harness: what the SDK does until there is a conversation crosses the boundary, so no replay needs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import wraps
from typing import Any

from playhead.boundary import Arguments, Call, cross, cross_async, current_lane, pass_uncaptured
from playhead.integrations.antigravity._conversation import Conversation
from playhead.integrations.antigravity._harness import HarnessErrors, HarnessProcess


def crossing(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A plain function whose result comes from the recording, under this name, whatever it is called with."""

    def around(original: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(original)
        def cross_it(*args: Any, **kwargs: Any) -> Any:
            lane = current_lane()
            if lane is None or lane.opaque:
                return original(*args, **kwargs)
            call = Call("wrap", name, Arguments(crossing, (), {}))
            return cross(lane, call, lambda: original(*args, **kwargs))

        return cross_it

    return around


finding = crossing("antigravity.binary")
"""`_get_default_binary_path`: where the harness lay when recorded is good enough for a replay."""

checking = crossing("credentials.check")
"""`_validate_connection`, which looks for keys that a replay does not need, also where the harness runs again."""


def starting(original: Callable[..., Any], version: str) -> Callable[..., Any]:
    """`_spawn_harness_and_connect_ws`: a live harness, or what stands for one."""

    @wraps(original)
    async def start(self: Any, *, use_interactions_api: bool = False) -> tuple[HarnessProcess, Conversation, str]:
        lane = current_lane()
        if lane is None or lane.opaque:
            started: tuple[Any, Any, str] = await original(self, use_interactions_api=use_interactions_api)
            return started
        made: list[Any] = []

        async def live() -> dict[str, str]:
            process, socket, url = await original(self, use_interactions_api=use_interactions_api)
            made.extend((HarnessProcess(process), socket))
            return {"sdk": version, "url": url}

        asked = {"interactions": True} if use_interactions_api else {}
        answer = await cross_async(lane, Call("wrap", "antigravity.start", Arguments(starting, (), asked)), live)
        process, socket = made or (HarnessProcess(None), None)
        environment = {str(name): str(value) for name, value in (self._env or {}).items()}
        return process, Conversation(process, socket, environment=environment), answer["url"]

    return start


def reading(original: Callable[..., Any]) -> Callable[..., Any]:
    """`_start_stderr_reader`: of ours the lines come by themselves, and no thread reads them."""

    @wraps(original)
    def start_reader(self: Any, stderr_stream: Any) -> None:
        if isinstance(stderr_stream, HarnessErrors):
            stderr_stream.keep_in(self._stderr_lines)
            self._ws.wake(self._processor.is_idle)
        else:
            original(self, stderr_stream)

    return start_reader


def sending(original: Callable[..., Any]) -> Callable[..., Any]:
    """`_send_input_event`: in a conversation that had begun before the run, that is said, or refused in a replay."""

    @wraps(original)
    async def send(self: Any, event: Any) -> None:
        lane = current_lane()
        if lane is not None and not lane.opaque and not isinstance(self._ws, Conversation):
            pass_uncaptured(lane, "Antigravity conversation", "an agent that was started before the run")
        await original(self, event)

    return send


def receiving(original: Callable[..., Any]) -> Callable[..., Any]:
    """`receive_steps`: where the reader ended by a divergence, so do the steps, instead of being over or late."""

    @wraps(original)
    async def receive(self: Any) -> AsyncIterator[Any]:
        source = original(self)
        try:
            async for step in source:
                yield step
        finally:
            await source.aclose()
        failure = getattr(self._ws, "failure", None)
        if failure is not None:
            raise failure

    return receive
