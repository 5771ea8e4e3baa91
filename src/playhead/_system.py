"""The one reader of the real clock, chance, ids and environment.

The originals are taken when this module is imported, before anything is patched, so the recorder's own reads
are never mistaken for the program's.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Protocol

__all__ = [
    "ENVIRONMENT",
    "Clock",
    "SystemClock",
    "TickingClock",
    "random_bytes",
    "random_hex",
    "sleep",
    "thread_cpu_ns",
    "thread_sleeps",
]

_time_ns = time.time_ns
_monotonic_ns = time.monotonic_ns
_sleep = time.sleep
_urandom = os.urandom

ENVIRONMENT: Mapping[str, str] = os.environ
"""The process's environment, live."""


class Clock(Protocol):
    """Two clocks, both in nanoseconds: one tells the date, the other never goes back."""

    def wall_ns(self) -> int: ...
    def mono_ns(self) -> int: ...


class SystemClock:
    """The real clocks, as they were before anything was patched."""

    wall_ns = staticmethod(_time_ns)
    mono_ns = staticmethod(_monotonic_ns)


class TickingClock:
    """A clock for tests: it starts at ``start_ns`` and moves on by ``tick_ns`` at every read of either kind."""

    def __init__(self, *, start_ns: int = 1_700_000_000_000_000_000, tick_ns: int = 1_000_000) -> None:
        self._ticks = iter(_count(start_ns, tick_ns))
        self._lock = threading.Lock()
        self._start = start_ns

    def wall_ns(self) -> int:
        with self._lock:
            return next(self._ticks)

    def mono_ns(self) -> int:
        return self.wall_ns() - self._start


def _count(start: int, step: int) -> Iterator[int]:
    while True:
        yield start
        start += step


def random_bytes(count: int) -> bytes:
    """``count`` bytes from the operating system."""
    return _urandom(count)


def random_hex(digits: int) -> str:
    """``digits`` random hexadecimal digits."""
    return _urandom((digits + 1) // 2).hex()[:digits]


def sleep(seconds: float) -> None:
    """Really wait."""
    _sleep(seconds)


def thread_cpu_ns(ident: int) -> int:
    """The processor time that a thread has used, in nanoseconds; 0 where the system does not tell, or it has ended."""
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    if clock_of is None:
        return 0
    try:
        return time.clock_gettime_ns(clock_of(ident))
    except (OSError, OverflowError):
        return 0


def thread_sleeps(ident: int) -> bool | None:
    """Whether the system has a thread waiting, rather than run or about to; ``None`` where it does not tell."""
    thread = threading._active.get(ident)  # type: ignore[attr-defined]
    try:
        with open(f"/proc/self/task/{thread.native_id}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] not in (b"R", b"D")
    except (OSError, AttributeError, IndexError):
        return None


def python_version() -> str:
    """The running interpreter's version, such as ``3.12.1``."""
    return ".".join(map(str, sys.version_info[:3]))
