"""The thread that writes a recording, and what is done with it when the process forks or ends.

The caller's thread only appends to a queue. The writer empties it in turns, commits what it wrote to disk at
the latest 100 ms later, and holds callers back only when more is waiting than memory should carry.
"""

from __future__ import annotations

import atexit
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable
from typing import Any, Literal
from weakref import WeakSet

from playhead import _system
from playhead.errors import PlayheadWarning
from playhead.eventlog import LogWriter

COMMIT_WITHIN_NS = 80_000_000
"""What has been written is committed at the latest so long after; with the turn's length it stays under 100 ms."""

_TURN_S = 0.01
_REST_S = 1.0
_LARGE = 4096
_MAX_BYTES = 64 << 20
_MAX_JOBS = 200_000

Job = tuple[Any, ...]
"""A function and its arguments, to be called on the writer's thread."""

_now = _system.SystemClock.mono_ns


class Writer:
    """Calls jobs in the order they were put, on a thread of its own."""

    def __init__(self, log: LogWriter, *, durability: Literal["group", "every"] = "group") -> None:
        self._log = log
        self._durability = durability
        self._queue: deque[Job] = deque()
        self._turn = threading.RLock()
        self._wake = threading.Event()
        self._space = threading.Condition(threading.Lock())
        self._waiting_bytes = 0
        self._resting = False
        self._closing = False
        self._due_ns: int | None = None
        self.failure: str | None = None
        """Why nothing more is written, once the disk has failed."""
        self.lost = 0
        """Jobs that could not be carried out."""
        self._thread = threading.Thread(target=self._run, name="playhead-writer", daemon=True)
        _writers.add(self)
        _watch_process()
        self._start()

    def put(self, job: Job, size: int = 0) -> None:
        """Have ``job`` called soon. ``size`` is about how many bytes it keeps in memory."""
        if self._closing or self.failure is not None:
            self.lost += 1
            return
        if size >= _LARGE:
            job = (self._sized, size, *job)
            with self._space:
                self._waiting_bytes += size
        self._queue.append(job)
        if self._resting:
            self._wake.set()
        if self._durability == "every":
            self.drain()
        elif self._waiting_bytes > _MAX_BYTES or len(self._queue) > _MAX_JOBS:
            self._hold_back()

    def drain(self) -> None:
        """Carry out, on this thread, all that is waiting, and commit it to disk."""
        with self._turn:
            self._empty()
            self._commit()

    def close(self) -> None:
        """Carry out what is waiting, commit, and end the thread. Later jobs are lost."""
        self._closing = True
        self._wake.set()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self.drain()
        _writers.discard(self)

    def orphan(self) -> None:
        """Let go of a file that belongs to the parent process."""
        self._closing = True
        self.failure = "the process was forked"
        self._queue.clear()
        self._log.abandon()
        _writers.discard(self)

    def _start(self) -> None:
        run_plain = threading.Thread.start
        getattr(run_plain, "__wrapped__", run_plain)(self._thread)

    def _run(self) -> None:
        while not self._closing:
            with self._turn:
                worked = self._empty()
                if self._due_ns is not None and _now() >= self._due_ns:
                    self._commit()
            if worked or self._due_ns is not None:
                _system.sleep(_TURN_S)
            else:
                self._rest()

    def _rest(self) -> None:
        self._wake.clear()
        self._resting = True
        if not self._queue and not self._closing:
            self._wake.wait(_REST_S)
        self._resting = False

    def _empty(self) -> bool:
        queue = self._queue
        worked = bool(queue)
        while queue:
            function, *arguments = queue.popleft()
            self._carry_out(function, arguments)
            if threading.current_thread() is self._thread:
                _system.sleep(0)
        if worked and self._due_ns is None:
            self._due_ns = _now() + COMMIT_WITHIN_NS
        return worked

    def _sized(self, size: int, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            function(*arguments)
        finally:
            with self._space:
                self._waiting_bytes -= size
                self._space.notify_all()

    def _carry_out(self, function: Callable[..., Any], arguments: list[Any]) -> None:
        if self.failure is not None:
            self.lost += 1
            return
        try:
            function(*arguments)
        except OSError as error:
            self._fail(error)
        except BaseException as error:
            if _is_disk_failure(error):
                self._fail(error)
            else:
                self._lose(error)

    def _commit(self) -> None:
        self._due_ns = None
        if self.failure is not None:
            return
        try:
            self._log.commit()
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self.failure = f"{type(error).__name__}: {error}"
        self.lost += 1
        warnings.warn(
            f"playhead cannot write the recording any more; the program goes on, the recording ends here. "
            f"{self.failure}",
            PlayheadWarning,
            stacklevel=2,
        )
        with self._space:
            self._space.notify_all()

    def _lose(self, error: BaseException) -> None:
        self.lost += 1
        if self.lost == 1:
            warnings.warn(
                f"playhead could not keep an event ({type(error).__name__}); the recording is marked incomplete",
                PlayheadWarning,
                stacklevel=2,
            )

    def _hold_back(self) -> None:
        with self._space:
            while (
                (self._waiting_bytes > _MAX_BYTES or len(self._queue) > _MAX_JOBS)
                and self.failure is None
                and self._thread.is_alive()
            ):
                self._space.wait(_TURN_S)


def _is_disk_failure(error: BaseException) -> bool:
    return getattr(error, "slug", "") == "store-not-writable"


_writers: WeakSet[Writer] = WeakSet()
_watching = False


def drain_all() -> None:
    """Commit what every writer of this process has waiting; for the moments before a process ends abruptly."""
    for writer in list(_writers):
        writer.drain()


def _watch_process() -> None:
    global _watching
    if _watching:
        return
    _watching = True
    atexit.register(drain_all)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)


_held: list[Writer] = []


def _before_fork() -> None:
    for writer in list(_writers):
        writer._turn.acquire()
        _held.append(writer)


def _after_fork() -> None:
    while _held:
        _held.pop()._turn.release()


def _in_child() -> None:
    while _held:
        writer = _held.pop()
        writer._turn = threading.RLock()
        writer._space = threading.Condition(threading.Lock())
        writer.orphan()
