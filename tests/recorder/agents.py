"""An agent of several lanes that goes on until it is stopped, for tests that stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx2

import playhead
from playhead.errors import DivergenceError, LateCrossingError

Report = Callable[[str, int, Any], None]
"""Told of each crossing that has returned: the kind, its number among them, and what came back."""


@playhead.tool
def look_up(number: int) -> dict[str, Any]:
    return {"number": number, "text": "x" * (number * 131 % 3000)}


ponder = playhead.model(lambda number: f"thought {number}", name="pondering")


def ask(url: str, number: int) -> str:
    body = {"model": "big", "messages": [{"role": "user", "content": f"question {number}"}]}
    answer = httpx2.post(url, json=body, timeout=30)
    return str(answer.json()["choices"][0]["message"]["content"])


def act(url: str, report: Report) -> None:
    """Tools, models by HTTP and by function, and reads of the clock, in four lanes at once, without an end.

    It ends where a replay has nothing more to answer with.
    """
    ended = threading.Event()

    def goes_on(kind: str, cross: Callable[[int], Any], pause_s: float) -> threading.Thread:
        def lane() -> None:
            number = 0
            try:
                while not ended.is_set():
                    number += 1
                    report(kind, number, cross(number))
                    ended.wait(pause_s)
            except (DivergenceError, LateCrossingError):  # late where another lane has ended the replay
                pass

        lane.__qualname__ = kind
        thread = threading.Thread(target=lane, daemon=True)
        thread.start()
        return thread

    lanes = [
        goes_on("tool", look_up, 0.002),
        goes_on("ponder", ponder, 0.003),
        goes_on("ask", lambda number: ask(url, number), 0.005),
    ]
    number = 0
    while any(lane.is_alive() for lane in lanes):
        number += 1
        report("clock", number, time.time())
        ended.wait(0.004)
