"""An event loop in which time passes at once, and each timer fires in a turn of its own."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Never waits: the loop's clock goes on by what it would have waited."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(0)
        if not found and timeout is not None:
            self.passed += timeout
        return found


class UnhurriedLoop(asyncio.SelectorEventLoop):
    """What a busy machine does to the order of timers that are close together does not happen here."""

    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        """Seconds that have passed."""
        return self._clock.passed


def run_unhurried(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in such a loop."""
    with asyncio.Runner(loop_factory=UnhurriedLoop) as runner:
        return runner.run(main)


class FrugalLoop(asyncio.SelectorEventLoop):
    """A loop that fails where it goes round more often than any program of these tests has to."""

    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        assert self.turns < 5_000, "the loop goes round and round"
        super()._run_once()  # type: ignore[misc]


def run_in_few_turns(main: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in such a loop."""
    with asyncio.Runner(loop_factory=FrugalLoop) as runner:
        return runner.run(main)
