"""The thread that writes a recording.

The program's threads only append to a queue. The writer's thread alone carries out what is in it and touches the
file, so that no signal, finalizer or exception of the program can come in the middle of an event. It commits what it
wrote at the latest 100 ms after it was handed over, and holds the program back only when more is waiting than
memory should carry.

Whatever calls in here may itself have interrupted anything, this file included: a signal handler, a ``__del__``, a
fork. So nothing on the way in takes a lock that cannot be taken twice.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from playhead import _system
from playhead.boundary import outside_runs
from playhead.eventlog import LogWriter
from playhead.recorder._losses import tell_failure, tell_loss
from playhead.recorder._processes import attend, forget
from playhead.recorder._syncing import Syncer
from playhead.recorder._threads import start_unwatched

_COMMIT_AFTER_NS = 40_000_000
_COMMIT_WITHIN_NS = 50_000_000
"""What was put so long ago is committed when nothing else is waiting, and in any case.

With the length of a turn, and some lateness on a busy machine, both stay under 100 ms.
"""

_COMMIT_EVERY_NS = 20_000_000
"""No commit comes sooner after another: where jobs wait longer than they should, each would be due at once."""

_TURN_S = 0.01
_HOLD_NS = 300_000
"""Jobs are carried out for so long before other threads are let in."""

_BEHIND_NS = 20_000_000
"""Where jobs have waited for so long, the others are let in only when the interpreter sees to it, every 5 ms.

Among threads that compute, each letting in costs the writer their whole turns, and it would never catch up.
"""

_REST_S = 1.0
_PATIENCE_S = 0.5
_LARGE = 4096
_VERY_LARGE = 1 << 17
"""A job of so many bytes takes milliseconds: what was put before is committed before."""

_MAX_BYTES = 64 << 20
_MAX_JOBS = 20_000

Job = tuple[Any, ...]
"""A function and its arguments, to be called on the writer's thread. In the queue, the moment it was put is before."""

_now = _system.SystemClock.mono_ns
_this_thread = _thread.get_ident


class Writer:
    """Calls jobs in the order they were put, on a thread of its own.

    ``failure`` says why nothing more is written, once the disk has failed; ``lost`` counts jobs that were not
    carried out. ``is_orphan`` is true in a forked child, where all this belongs to the parent.
    """

    def __init__(self, log: LogWriter, *, durability: Literal["group", "every"] = "group") -> None:
        self.failure: str | None = None
        self.lost = 0
        self.is_orphan = False
        self.eager = durability == "every"
        """Whether `put` returns only when the job is done and on disk."""
        self._log = log
        self._queue: deque[Job] = deque()
        self._turn = threading.RLock()
        """Held while a job is carried out: a fork waits for it, so that no job is cut in two in the child."""
        self._bell = _thread.allocate_lock()
        self._bell.acquire()
        self._counting = threading.RLock()
        self._waiting_bytes = 0
        self._pausers: set[int] = set()
        self._busy = False
        self._resting = False
        self._closing = False
        self._since_ns: int | None = None
        """When the first of what is carried out and not committed was put."""
        self._committed_ns = 0
        self._last: Callable[[], Any] | None = None
        self._ident = 0
        self._thread = threading.Thread(target=self._run, name="playhead-writer", daemon=True)
        self._syncer = Syncer(self._sync)
        attend(self)
        if not start_unwatched(self._thread):
            self.eager = True  # the program's own threads do it

    def put(self, job: Job, size: int = 0) -> None:
        """Have ``job`` called soon. ``size`` is about how many bytes it keeps in memory."""
        if self._closing:  # what comes while a run ends, or after, is no part of it
            return
        if self.failure is not None:
            self.lost += 1
            return
        if size >= _LARGE:
            job = (self._sized, size, *job)
            with self._counting:
                self._waiting_bytes += size
        self._queue.append((_now(), *job))
        if self._resting:
            self._ring()
        if self.eager:
            self.drain()
        elif self._waiting_bytes > _MAX_BYTES or len(self._queue) > _MAX_JOBS:
            self._hold_back()

    def drain(self, *, within_s: float | None = None) -> None:
        """Wait until all that is waiting now has been carried out and is on disk, or ``within_s`` seconds.

        Where waiting would never end (on the writer's own thread, or during a fork) it does nothing.
        """
        if self.is_orphan or not self._may_wait():
            return
        told = _thread.allocate_lock()
        told.acquire()
        self._queue.append((_now(), self._commit_and_tell, told))
        self._ring()
        until = None if within_s is None else _now() + int(within_s * 1e9)
        while self._is_running():
            if told.acquire(timeout=_PATIENCE_S) or (until is not None and _now() > until):
                return
        self._take_over()

    def close(self, last: Callable[[], Any]) -> None:
        """Carry out what is waiting, then ``last``, also when the disk has failed; and end the thread.

        Later jobs are passed over. Called on the writer's own thread it returns at once, and ``last`` comes after.
        """
        if self.is_orphan or self._closing:
            return
        self._last = last
        self._closing = True
        self._ring()
        if _this_thread() != self._ident:
            while self._is_running():
                self._thread.join(_PATIENCE_S)
            self._take_over()

    def orphan(self) -> None:
        """Let go of the file: it belongs to the parent process, or is to go away."""
        self.is_orphan = self._closing = True
        self._turn = threading.RLock()
        self._counting = threading.RLock()
        self._queue.clear()
        self._last = None
        self._log.abandon()
        self._ring()
        forget(self)

    def pause(self, *, within_s: float) -> bool:
        """Keep the thread from beginning another job until `go_on`; whether it could be kept in that time.

        A commit that is on its way is not waited for: a slow disk does not hold up a fork.
        """
        self._pausers.add(_this_thread())
        return self._turn.acquire(timeout=within_s)

    def go_on(self, *, paused: bool) -> None:
        """Undo `pause`, which gave ``paused``."""
        self._pausers.discard(_this_thread())
        if paused:
            self._turn.release()

    def _is_running(self) -> bool:
        return self._thread.is_alive() and not sys.is_finalizing()

    def _may_wait(self) -> bool:
        """Whether this thread is none that what it would wait for needs itself."""
        this = _this_thread()
        return this not in (self._ident, self._syncer.ident) and this not in self._pausers

    def _ring(self) -> None:
        self._resting = False
        try:
            self._bell.release()
        except RuntimeError:
            pass  # rung already

    def _run(self) -> None:
        self._ident = _this_thread()
        with outside_runs():
            while not self._closing:
                if self._work() or self._since_ns is not None:
                    self._bell.acquire(timeout=_TURN_S)
                else:
                    self._rest()
            self._conclude()

    def _rest(self) -> None:
        self._resting = True
        if not self._queue and not self._closing:
            self._bell.acquire(timeout=_REST_S)
        self._resting = False

    def _conclude(self) -> None:
        """The last turn of all."""
        self._work()
        self._commit()
        self._syncer.stop()
        last, self._last = self._last, None
        if last is not None:
            self._call(last)
        forget(self)

    def _take_over(self) -> None:
        """Do on this thread what there is to do, since the writer's own cannot (any more).

        Not if that stopped in the middle of something, which only the end of the interpreter does.
        """
        if self._turn.acquire(timeout=_PATIENCE_S):
            try:
                if not self._busy:
                    if self._closing:
                        self._conclude()
                    else:
                        self._work()
                        self._commit()
            finally:
                self._turn.release()

    def _work(self) -> bool:
        """Carry out what is waiting; whether there was anything."""
        queue = self._queue
        worked = False
        let_go_ns = _now() + _HOLD_NS
        while queue:
            worked = True
            with self._turn:
                self._busy = True
                put_ns = self._carry_out(queue)
                self._busy = False
            now = _now()
            if (now >= let_go_ns and now - put_ns < _BEHIND_NS) or self._pausers:
                # Others get the interpreter: with a queue full of work this thread would keep it. Not after every
                # job: in a program that computes it takes 5 ms or more to get it back.
                _system.sleep(_TURN_S / 10 if self._pausers else 0)
                let_go_ns = _now() + _HOLD_NS
            self._commit_if_older(_COMMIT_WITHIN_NS)
        self._commit_if_older(_COMMIT_AFTER_NS)
        return worked

    def _commit_if_older(self, age_ns: int) -> None:
        if self._since_ns is not None:
            now = _now()
            if now - self._since_ns >= age_ns and now - self._committed_ns >= _COMMIT_EVERY_NS:
                self._commit()

    def _carry_out(self, queue: deque[Job]) -> int:
        """Carry out the first job; when it was put."""
        try:
            put_ns, function, *arguments = queue.popleft()
        except IndexError:  # the file was let go of
            return 0
        if function == self._sized and arguments[0] >= _VERY_LARGE:
            self._commit_if_older(0)
        if self._since_ns is None:
            self._since_ns = put_ns
        if self.failure is not None and function not in (self._commit_and_tell, self._sized):
            self.lost += 1
        else:
            self._call(function, *arguments)
        return int(put_ns)

    def _call(self, function: Callable[..., Any], *arguments: Any) -> bool:
        """Call something that writes. Nothing is raised; whether it went well."""
        try:
            function(*arguments)
        except BaseException as error:
            if isinstance(error, OSError) or getattr(error, "slug", "") == "store-not-writable":
                self._fail(error)
            else:
                self.lost += 1
                if self.lost == 1:
                    tell_loss(error)
            return False
        return True

    def _sized(self, size: int, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            if self.failure is None:
                function(*arguments)
            else:
                self.lost += 1
        finally:
            with self._counting:
                self._waiting_bytes -= size

    def _commit_and_tell(self, told: Any) -> None:
        self._commit(told)

    def _commit(self, told: Any = None) -> None:
        """Hand what was written to the system, and have it put on disk; ``told`` is released when it is."""
        self._since_ns = None
        self._committed_ns = _now()
        if self.failure is None and not self.is_orphan:
            busy, self._busy = self._busy, True
            self._call(self._log.flush)
            self._busy = busy
        self._syncer.ask(told)

    def _sync(self) -> None:
        """Called by the syncer, on its thread."""
        if self.failure is None and not self.is_orphan:
            self._call(self._log.sync)

    def _fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
            tell_failure(self.failure)

    def _hold_back(self) -> None:
        """Wait while too much is waiting."""
        while (
            (self._waiting_bytes > _MAX_BYTES or len(self._queue) > _MAX_JOBS)
            and self.failure is None
            and not self._closing
            and self._may_wait()
            and self._is_running()
        ):
            _system.sleep(_TURN_S)
