"""Work that is handed to a thread pool: at work from then on if a thread is free for it, else when one becomes free."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any

from playhead.boundary import Lane, in_lane
from playhead.integrations._joiners import wake_joiners

_NAME = "_playhead_waiting"
_EMPTIED = "_playhead_emptied"
_own = threading.local()


class Pooled:
    """One piece of work in a pool, as the activity of a session sees it."""

    def __init__(self, pool: Any, lane: Lane) -> None:
        self._pool = pool
        self._lane = lane
        self._activity = lane.activity
        self._waiting: deque[Pooled] = vars(pool).setdefault(_NAME, deque())
        self._is_expected = False
        if pool._idle_semaphore._value > 0 or len(pool._threads) < pool._max_workers:
            self.expect()
        else:
            self._waiting.append(self)

    def expect(self) -> None:
        """A thread is free for it."""
        self._is_expected = True
        self._activity.begin(self)

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call ``function`` in the pool's thread."""
        return function(*args, **kwargs)

    def begin(self) -> bool:
        """A thread of the pool has it, and begins it in its turn: until then it may be cancelled.

        False where it did not begin when recorded, and the pool has been shut down meanwhile with all that waited in
        it: a thread took it sooner than then.
        """
        self._activity.begin(threading.get_ident())
        vars(_own).setdefault("done", []).append(self)
        self._taken()
        is_recorded = self._lane.opaque or self._lane.session.open(self._lane)
        return is_recorded or not vars(self._pool).get(_EMPTIED, False)

    def watch(self, future: Any) -> None:
        """Hear of it if it is cancelled before it has begun."""
        with in_lane(None):
            future.add_done_callback(lambda done: self._taken() if done.cancelled() else None)

    def _taken(self) -> None:
        if self._is_expected:
            self._is_expected = False
            self._activity.end(self)
        elif self in self._waiting:
            self._waiting.remove(self)

    def finish(self) -> None:
        """The pool's thread is done with it, its result handed on: the next that waits has its thread."""
        if self._waiting:
            self._waiting.popleft().expect()
        wake_joiners(threading.current_thread(), is_ending=False)
        self._activity.end(threading.get_ident())


def shutting_down(original: Callable[..., Any]) -> Callable[..., Any]:
    """The ``shutdown`` of pools, which notes whether what waits in them is cancelled."""

    @wraps(original)
    def shutdown(self: Any, *args: Any, cancel_futures: bool = False, **options: Any) -> Any:
        if cancel_futures:
            vars(self)[_EMPTIED] = True
        return original(self, *args, cancel_futures=cancel_futures, **options)

    return shutdown


def finishing(original: Callable[..., Any]) -> Callable[..., Any]:
    """The ``run`` of a pool's work items, after which what ran in them is done."""

    def run(self: Any, *args: Any) -> Any:
        function = self.fn if hasattr(self, "fn") else self.task[0]  # since Python 3.14
        work = getattr(function, "__self__", None)
        try:
            if isinstance(work, Pooled) and not self.future.cancelled() and not work.begin():
                self.future.cancel()
            return original(self, *args)
        finally:
            for each in vars(_own).pop("done", ()):
                each.finish()

    return run
