"""What the gateway costs: the first byte of a stream through it and direct, and two hundred streams at once.

Rounds direct and through the gateway take turns, so that what the machine does besides is in both; the first figure is
the difference of their medians. Clients, gateway and server share this process and its interpreter lock, so what it
takes is told too much rather than too little.
"""

from __future__ import annotations

import json
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from urllib.parse import urlsplit

from _measuring import Figure, report

import playhead
from playhead.boundary import current_lane, outside_runs
from playhead.gateway import Gateway
from playhead.testing import ModelServer, Text

ROUNDS = 150
CROWD = 200
ANSWER = Text("It is said that the seventh step is the one that matters. " * 4)


class Client:
    """One connection that is kept open."""

    def __init__(self, base: str) -> None:
        place = urlsplit(base)
        self._path = f"{place.path}/chat/completions"
        self._sock = socket.create_connection((place.hostname, place.port), timeout=60)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._sock.makefile("rb")

    def ask(self, text: str) -> tuple[float, int]:
        """Milliseconds to the first byte of the body, and how many bytes the body has."""
        said = {"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": text}]}
        body = json.dumps(said).encode()
        head = f"POST {self._path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        begun = time.perf_counter()
        self._sock.sendall(head + body)
        while self._file.readline().strip():
            pass
        size = int(self._file.readline(), 16)
        first, total = time.perf_counter() - begun, 0
        while size:
            total += size
            self._file.read(size + 2)
            size = int(self._file.readline(), 16)
        self._file.readline()
        return first * 1e3, total

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._sock.close()


@contextmanager
def standing() -> Iterator[tuple[str, str]]:
    """The base URLs of a server, direct and through a gateway that is recorded."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServer(ANSWER) as server,
        playhead.record(kind="bench", store=folder),
    ):
        lane = current_lane()
        assert lane is not None
        with Gateway(lane, {"openai": server.openai_url}) as gateway, outside_runs():
            yield server.openai_url, gateway.url("openai")


def first_bytes(urls: dict[str, str]) -> dict[str, float]:
    """The median by way, in milliseconds."""
    clients = {way: Client(url) for way, url in urls.items()}
    seen: dict[str, list[float]] = {way: [] for way in urls}
    for number in range(ROUNDS + 15):
        for way, client in clients.items():
            first, _ = client.ask(f"question {number}")
            if number >= 15:
                seen[way].append(first)
    for client in clients.values():
        client.close()
    return {way: statistics.median(times) for way, times in seen.items()}


def crowd(url: str) -> float:
    """Megabytes a second over two hundred streams at once."""
    clients = [Client(url) for _ in range(CROWD)]
    begin = threading.Barrier(CROWD + 1)

    def ask(number: int) -> int:
        with outside_runs():
            begin.wait()
            return clients[number].ask(f"number {number}")[1]

    with ThreadPoolExecutor(CROWD) as pool:
        waiting = [pool.submit(ask, number) for number in range(CROWD)]
        begin.wait()
        begun = time.perf_counter()
        total = sum(each.result() for each in waiting)
        taken = time.perf_counter() - begun
    for client in clients:
        client.close()
    return total / 1e6 / taken


def main() -> None:
    with standing() as (direct, through):
        firsts = first_bytes({"direct": direct, "through": through})
        rates: dict[str, list[float]] = {"direct": [], "through": []}
        for _ in range(3):
            rates["direct"].append(crowd(direct))
            rates["through"].append(crowd(through))
    more = firsts["through"] - firsts["direct"]
    rate = {way: statistics.median(each) for way, each in rates.items()}
    figures = [
        Figure("first byte of a stream, gateway minus direct", more, "ms", 5.0, "direct", firsts["direct"]),
        Figure(f"{CROWD} streams at once", rate["through"], "MB/s", None, "direct", rate["direct"], better="higher"),
    ]
    report("gateway", figures, extra={"first_byte_ms": firsts, "rates": rate})


if __name__ == "__main__":
    main()
