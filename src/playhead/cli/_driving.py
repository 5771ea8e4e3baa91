"""The front end's hold on a program that is replayed: how far it is to go, and what it says where it is stopped."""

from __future__ import annotations

import os
import selectors
import sys
from collections.abc import Callable

import msgspec

from playhead._program import Reply, Request
from playhead.errors import NoReportError


class Driven:
    """One process. ``show`` is given what the program prints, but for the first ``known`` bytes of it."""

    def __init__(self, show: Callable[[bytes], None], *, known: int = 0) -> None:
        self._show = show
        self._known = known
        self.printed = 0
        replies, sink = os.pipe()
        source, requests = os.pipe()
        output, printer = os.pipe()
        self.control = (source, sink)
        self.printer = printer
        for descriptor in self.control:
            os.set_inheritable(descriptor, True)
        self._replies, self._requests, self._output = replies, requests, output
        self._theirs = [source, sink, printer]
        self._selector = selectors.DefaultSelector()
        self._selector.register(replies, selectors.EVENT_READ)
        self._selector.register(output, selectors.EVENT_READ)
        self._said = b""
        self.at: Reply | None = None
        """Where it is stopped; ``None`` where it runs or has ended."""

    def __enter__(self) -> Driven:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.leave()
        self._selector.close()
        for descriptor in (self._replies, self._output, *self._theirs):
            os.close(descriptor)

    def begin(self) -> Reply | None:
        """It has been started: wait until it stops; ``None`` where it ends before."""
        for descriptor in self._theirs:
            os.close(descriptor)
        self._theirs = []
        self.at = self._await()
        return self.at

    def go(self, step: int) -> Reply | None:
        """Let it go on until it has come to ``step``."""
        self._ask(Request("go", step=step))
        self.at = self._await()
        return self.at

    def ask(self, what: str, text: str = "") -> tuple[str, ...]:
        """What it says of its frame."""
        self._ask(Request(what, text=text))
        reply = self._await()
        if reply is None:
            self.at = None
            raise NoReportError("the program has ended", next="goto 1")
        return reply.lines

    def leave(self) -> None:
        """Have it end."""
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1

    def drain(self) -> None:
        """Show what it printed to its end."""
        while data := os.read(self._output, 65536):
            self._take(data)

    def _ask(self, request: Request) -> None:
        try:
            os.write(self._requests, msgspec.json.encode(request) + b"\n")
        except BrokenPipeError:
            pass  # it has ended, which is told by its silence

    def _await(self) -> Reply | None:
        while b"\n" not in self._said:
            ready = {key.fd for key, _ in self._selector.select()}
            if self._output in ready:
                data = os.read(self._output, 65536)
                if not data:
                    self._selector.unregister(self._output)
                self._take(data)
            elif self._replies in ready:
                data = os.read(self._replies, 65536)
                if not data:
                    return None
                self._said += data
        line, _, self._said = self._said.partition(b"\n")
        return msgspec.json.decode(line, type=Reply)

    def _take(self, data: bytes) -> None:
        new = data[max(0, self._known - self.printed) :]
        self.printed += len(data)
        if new:
            self._show(new)


def show_output(data: bytes) -> None:
    """Let through what the program prints."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
