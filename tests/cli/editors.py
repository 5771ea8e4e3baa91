"""What an editor says to a debugger that it attaches to, in the Debug Adapter Protocol: as little as is needed."""

from __future__ import annotations

import json
import socket
from itertools import count
from typing import Any

_WITHIN_S = 60


class Editor:
    """An editor that has attached on a port of this machine."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=_WITHIN_S)
        self._file = self._socket.makefile("rb")
        self._numbers = count(1)
        self._events: list[dict[str, Any]] = []
        self.ask("initialize", adapterID="test", linesStartAt1=True, columnsStartAt1=True, pathFormat="path")
        attaching = self._send("attach", justMyCode=True)
        self._await_event("initialized")
        self.ask("configurationDone")
        self._answer(attaching)

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._file.close()
        self._socket.close()

    def await_stop(self) -> int:
        """The number of the thread that is stopped."""
        return int(self._await_event("stopped")["body"]["threadId"])

    def frames(self, thread: int) -> list[dict[str, Any]]:
        """Its frames, the innermost first."""
        found: list[dict[str, Any]] = self.ask("stackTrace", threadId=thread)["stackFrames"]
        return found

    def evaluate(self, expression: str, frame: dict[str, Any]) -> str:
        """What an expression is in a frame."""
        return str(self.ask("evaluate", expression=expression, frameId=frame["id"], context="repl")["result"])

    def step_over(self, thread: int) -> None:
        """On to the next line."""
        self.ask("next", threadId=thread)
        self.await_stop()

    def go_on(self, thread: int) -> None:
        """On to the next stop or the end."""
        self.ask("continue", threadId=thread)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The body of the answer to a request."""
        return self._answer(self._send(command, **arguments))

    def _send(self, command: str, **arguments: Any) -> int:
        number = next(self._numbers)
        text = {"seq": number, "type": "request", "command": command, "arguments": arguments}
        data = json.dumps(text).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        return number

    def _answer(self, number: int) -> dict[str, Any]:
        while True:
            message = self._read()
            if message["type"] == "response" and message["request_seq"] == number:
                assert message["success"], message
                body: dict[str, Any] = message.get("body") or {}
                return body
            self._events.append(message)

    def _await_event(self, name: str) -> dict[str, Any]:
        while True:
            for message in self._events:
                if message.get("event") == name:
                    self._events.remove(message)
                    return message
            self._events.append(self._read())

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self._file.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self._file.read(length))
        return message
