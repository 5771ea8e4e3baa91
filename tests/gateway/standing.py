"""A gateway in this process, recorded and replayed, and clients that speak to it byte by byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import playhead
from playhead.boundary import Call, Program, Returned, current_lane, outside_runs
from playhead.gateway import Gateway
from playhead.player import ReplayReport

WITHIN_S = 120


@contextmanager
def recorded(folder: Path, **routes: str) -> Iterator[Gateway]:
    """A gateway in a run that is recorded as ``run-1``."""
    with playhead.record(id="run-1", store=folder):
        lane = current_lane()
        assert lane is not None
        with Gateway(lane, routes) as gateway, outside_runs():
            yield gateway


@contextmanager
def replayed(folder: Path, **routes: str) -> Iterator[tuple[Gateway, ReplayReport]]:
    """The same, answered from the recording; the report is whole after the block.

    The clients are looked upon as a command is: while it lives, what is missing may yet be asked.
    """
    with playhead.replay("run-1", store=folder) as replay, Gateway(replay.lane, routes) as gateway, outside_runs():
        lane, key = replay.lane, threading.get_ident()
        program = Program(("clients",), lane.child("clients").name, "served")
        clients = lane.session.begin(lane, Call("process", "clients", program))
        lane.session.attend(clients, lambda: True)
        lane.activity.wait(key)
        try:
            yield gateway, replay.report
        finally:
            lane.activity.wake(key)
            lane.session.finish(clients, Returned({"code": 0, "by": "wait"}))


def question(text: str = "hi", *, stream: bool = True, **more: object) -> bytes:
    """The body of a request to a chat model."""
    messages = [{"role": "user", "content": text}]
    return json.dumps({"model": "gpt-4o", "messages": messages, "stream": stream, **more}).encode()


class Client:
    """One connection to a route of a gateway."""

    def __init__(self, base: str) -> None:
        place = urlsplit(base)
        self.base = place.path
        self.host = place.netloc
        self.sock = socket.create_connection((place.hostname, place.port), timeout=WITHIN_S)
        self.file = self.sock.makefile("rb")

    def send(self, body: bytes, path: str = "/chat/completions", *, method: str = "POST", headers: str = "") -> None:
        """Ask something, and do not wait for the answer."""
        length = f"content-length: {len(body)}\r\n" if body else ""
        head = f"{method} {self.base}{path} HTTP/1.1\r\nhost: {self.host}\r\n{length}{headers}\r\n"
        self.sock.sendall(head.encode() + body)

    def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers of the answer."""
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers

    def piece(self) -> bytes:
        """The next chunk of a body that comes in chunks; empty at its end. Raises `EOFError` where it breaks off."""
        line = self.file.readline()
        if not line:
            raise EOFError
        size = int(line, 16)
        data = self.file.read(size + 2)
        if len(data) < size + 2:
            raise EOFError
        return data[:-2]

    def answer(self) -> tuple[int, bytes]:
        """A whole answer."""
        status, headers = self.head()
        if "content-length" in headers:
            return status, self.file.read(int(headers["content-length"]))
        return status, b"".join(iter(self.piece, b""))

    def ask(self, body: bytes, path: str = "/chat/completions", **how: str) -> tuple[int, bytes]:
        """Ask, and give status and body of the answer."""
        self.send(body, path, **how)
        return self.answer()

    def close(self) -> None:
        """Go away."""
        self.file.close()
        self.sock.close()
