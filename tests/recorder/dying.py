"""A process that records until it is killed: for each order on stdin it forks a child, which does so.

Children report what has crossed, and that they are running, on stdout: ``kind number moment value``, the moment in
nanoseconds of the clock that all processes share.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

import playhead
from playhead import _system
from tests.recorder.agents import act

PULSE_S = 0.005


def report(kind: str, number: int, value: Any) -> None:
    """One line, in one piece: it is shorter than what pipes keep whole."""
    if isinstance(value, dict):
        value = value["number"]
    os.write(1, f"{kind} {number} {_system.SystemClock.mono_ns()} {value!r}\n".encode())


def pulse() -> None:
    """Tells how late this process runs on a machine that is busy with others."""
    number = 0
    while True:
        number += 1
        report("pulse", number, None)
        _system.sleep(PULSE_S)


def die(order: dict[str, Any]) -> None:
    with playhead.record(kind="dying", id=order["id"], store=order["store"], durability=order["durability"]):
        threading.Thread(target=pulse, daemon=True).start()
        act(order["url"], report)


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            die(json.loads(line))
        os.write(1, f"born {child}\n".encode())
        os.waitpid(child, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main()
