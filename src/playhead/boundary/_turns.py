"""Turns: in a replay an answer is given when all that was recorded before it has happened."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Protocol


class Gate(Protocol):
    """What a thread waits at that others may let go on."""

    @property
    def is_expired(self) -> bool:
        """Whether it was the turn that came, and not somebody who let it go on."""
        ...

    def acquire(self, *, timeout: float) -> bool:
        """Wait so many seconds; whether it was opened."""
        ...

    def expire(self) -> None:
        """Open it because the turn has come."""
        ...


class Turn(Protocol):
    """The moment at which one answer, or one piece of a stream, may be given to the program.

    It is waited for once, in one of four ways. Each raises the session's `DivergenceError` where the moment
    cannot come any more.
    """

    @property
    def is_next(self) -> bool:
        """Whether nothing that was recorded has to come before it."""
        ...

    @property
    def never(self) -> bool:
        """Whether it does not come, what it limits having ended before when recorded."""
        ...

    @property
    def is_recorded(self) -> bool:
        """Whether the moment came when recorded, so that it comes again."""
        ...

    def wait(self) -> None:
        """Block this thread until then."""
        ...

    def wait_at(self, gate: Gate) -> bool:
        """Block this thread until ``gate`` is opened by others or the turn comes; whether it was the others."""
        ...

    def __await__(self) -> Generator[Any, None, None]:
        """Let other tasks of the running loop go on until then. Where there is no asyncio loop, that is now."""
        ...

    def call(self, action: Callable[[], None]) -> None:
        """Have ``action`` called then, on the running loop's thread. It is not called where the turn was dropped."""
        ...

    def drop(self) -> None:
        """Nobody waits for it any more."""
        ...


class Pace(Protocol):
    """The turns of a stream. Each is ``None`` where there is nothing to wait for."""

    def piece(self, after_ns: int, turns: Sequence[int]) -> Turn | None:
        """The turn of the piece that came ``after_ns`` nanoseconds after the question, ``turns`` as in `Streamed`."""
        ...

    def end(self) -> Turn | None:
        """The turn of its end. Where it was cancelled, only the program's own cancellation ends the waiting."""
        ...
