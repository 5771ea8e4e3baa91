"""The conversation with the harness: each frame to it is a question, and so is each wait for a frame from it.

A conversation is told from others by what it asks. The answer to its configuration says what it is called in the
recording, and once more that to the first frame after it, since agents that are configured alike may say other things.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from playhead.boundary import Arguments, Call, Lane, cross_async, current_lane, is_cancellation
from playhead.integrations.antigravity._actions import Actions
from playhead.integrations.antigravity._frames import Growth, comparable, name_frame
from playhead.integrations.antigravity._harness import HarnessProcess, not_running
from playhead.integrations.antigravity._models import stand_before

_LOOK_S = 0.01
_LOOKS = 100
"""How often, and how many times at most, it is looked whether a harness that has gone has said its last words."""

_SESSION_START = "LIFECYCLE_HOOK_ON_SESSION_START"


class Conversation:
    """Stands for the websocket: ``live`` is the real one, ``process`` is at its other end.

    ``environment`` is the part of that one's own that the program gives it.
    """

    def __init__(self, process: HarnessProcess, live: Any, *, environment: Mapping[str, str]) -> None:
        self._process = process
        self._live = live
        self._environment = environment
        self._new, self._whole = Growth(), Growth()
        self._actions: Actions | None = None
        self._is_configured = False
        self._is_named = asyncio.Event()
        self._received = 0
        self.failure: BaseException | None = None
        """By what the receiving of frames ended, where the SDK does not tell it: a divergence."""
        self._idle: asyncio.Event | None = None
        self._came: str | bytes | None = None
        """The frame as a live harness has just sent it: that is what the program gets."""

    async def send(self, message: str | bytes) -> None:
        """Send a frame."""
        frame = json.loads(message)
        lane = current_lane()
        if lane is None or lane.opaque:
            await self._alive().send(message)
            return
        asked: dict[str, Any] = {"frame": comparable(frame)}
        names = not self._is_named.is_set()
        if not names:
            asked = {"conversation": self._process.conversation, **asked}
        call = Call("wrap", f"antigravity.{name_frame(frame)}", Arguments(Conversation.send, (), asked))
        answer = await cross_async(lane, call, lambda: self._send(lane, frame, names=names))
        if "closed" in answer:
            raise _closing(answer["closed"])
        if names:
            self._take_name(answer["conversation"], frame)

    async def _send(self, lane: Lane, frame: Any, *, names: bool) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        wire = frame
        if names and not self._is_configured:
            self._process.conversation = f"c{lane.root.count('antigravity')}"
            wire, self._process.gateway = stand_before(frame, lane, self._environment)
        try:
            await self._alive().send(json.dumps(wire))
        except ConnectionClosed as error:
            return {"closed": _told(error)}
        return {"conversation": self._process.conversation} if names else {}

    def _take_name(self, name: str, frame: Any) -> None:
        self._process.conversation = name
        config = frame.get("config", {}) if isinstance(frame, dict) else {}
        speaks_first = not isinstance(config, dict) or _SESSION_START in config.get("enabledHooks", ())
        if self._is_configured or speaks_first:
            self._is_named.set()
        self._is_configured = True

    async def recv(self) -> str | bytes:
        """The next frame. Raises what the websocket raises where there is none any more."""
        lane = current_lane()
        if lane is None or lane.opaque:
            received: str | bytes = await self._alive().recv()
            return received
        if self._received:
            await self._is_named.wait()  # what comes first answers the configuration
        self._received += 1
        asked = {"conversation": self._process.conversation, "number": self._received}
        call = Call("wrap", "antigravity.receive", Arguments(Conversation.recv, (), asked))
        try:
            answer = await cross_async(lane, call, self._receive)
        except BaseException as error:
            self._fail(error)
            raise
        self._process.stderr.tell(answer.get("stderr", []))
        if "closed" in answer:
            raise _closing(answer["closed"])
        came, self._came = self._came, None
        if "text" in answer:
            return str(answer["text"]) if came is None else came
        frame = self._whole.lengthen(answer)
        if self._is_named.is_set():
            if self._actions is None:
                self._actions = Actions(lane.root.child(f"antigravity.{self._process.conversation}", by="antigravity"))
            try:
                frame = await self._actions.follow(frame, seen_in=lane)
            except BaseException as error:
                self._fail(error)
                raise
        return json.dumps(frame, ensure_ascii=False) if came is None else came

    def wake(self, idle: asyncio.Event) -> None:
        """Set ``idle`` where nothing more is received because of a failure."""
        self._idle = idle

    def _fail(self, error: BaseException) -> None:
        """The SDK's reader ends by what it knows nothing of: who waits for more would wait for ever."""
        if not isinstance(error, Exception) and not is_cancellation(error):
            self.failure = error
            if self._idle is not None:
                self._idle.set()

    async def _receive(self) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        try:
            message = await self._alive().recv()
        except ConnectionClosed as error:
            for _ in range(_LOOKS):
                if self._process.has_written_all:
                    break
                await asyncio.sleep(_LOOK_S)
            return self._with_lines({"closed": _told(error)})
        self._came = message
        try:
            frame = json.loads(message)
        except ValueError:
            return self._with_lines({"text": message if isinstance(message, str) else message.decode(errors="replace")})
        return self._with_lines(self._new.shorten(frame))

    def _with_lines(self, answer: dict[str, Any]) -> dict[str, Any]:
        lines = self._process.take_lines()
        return {**answer, "stderr": lines} if lines else answer

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        from websockets.exceptions import ConnectionClosedOK

        try:
            while True:
                yield await self.recv()
        except ConnectionClosedOK:
            return

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection."""
        lane = current_lane()
        if lane is None or lane.opaque:
            await self._alive().close(code, reason)
            return
        asked = {"conversation": self._process.conversation}
        call = Call("wrap", "antigravity.close", Arguments(Conversation.close, (), asked))
        await cross_async(lane, call, lambda: self._alive().close(code, reason))

    def _alive(self) -> Any:
        if self._live is None:
            raise not_running()
        return self._live


def _told(error: Any) -> dict[str, Any]:
    """How a connection ended."""

    def side(frame: Any) -> Any:
        return None if frame is None else [frame.code, frame.reason]

    return {
        "clean": type(error).__name__ == "ConnectionClosedOK",
        "received": side(error.rcvd),
        "sent": side(error.sent),
        "received_first": error.rcvd_then_sent,
    }


def _closing(told: dict[str, Any]) -> Exception:
    """The same exception again."""
    from websockets.exceptions import ConnectionClosedError, ConnectionClosedOK
    from websockets.frames import Close

    def side(told: Any) -> Close | None:
        return None if told is None else Close(*told)

    cls = ConnectionClosedOK if told["clean"] else ConnectionClosedError
    return cls(side(told["received"]), side(told["sent"]), told["received_first"])
