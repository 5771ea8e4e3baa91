"""Which threads work in the lanes of a session, and which of them run rather than wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any


class Activity:
    """The threads of one session, by identifier, and the work that no thread has begun yet, by a token of its own.

    ``settled`` is called, with the lock held, each time one of them ends or begins to wait: a session that gives
    its answers in turn then looks whose turn it is. A session without it is not told who waits.
    """

    def __init__(self, *, lock: Any = None, settled: Callable[[], None] | None = None) -> None:
        self._lock = lock or threading.RLock()
        self._working: dict[Hashable, int] = {}
        self._waiting: set[Hashable] = set()
        self._running: set[Hashable] = set()
        self.alone: Hashable = None
        """Who runs while nobody else does."""
        self.calm: Hashable = None
        """For the session: who was found to run alone, nobody waiting; forgotten as soon as anyone begins or ends."""
        self._when_idle: list[Callable[[], None]] = []
        self._settled = settled

    @property
    def is_followed(self) -> bool:
        """Whether the session wants to know who waits."""
        return self._settled is not None

    @property
    def running(self) -> list[Hashable]:
        """Who works and does not wait."""
        return list(self._running)

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def is_quiet(self) -> bool:
        """Whether nobody runs."""
        return not self._running

    def rests_beside(self, key: Hashable) -> bool:
        """Whether nobody runs but ``key``, be it running or not."""
        return not self._running or self.alone == key

    def is_alone(self, key: Hashable) -> bool:
        """Whether ``key`` is the only one at work."""
        return len(self._working) == 1 and key in self._working

    def is_known(self, key: Hashable) -> bool:
        """Whether ``key`` is at work."""
        return key in self._working

    def begin(self, key: Hashable) -> None:
        """``key`` works, once more."""
        with self._lock:
            before = self._working.get(key, 0)
            self._working[key] = before + 1
            if not before:
                self._runs(key)

    def end(self, key: Hashable) -> None:
        """Undo one `begin`."""
        with self._lock:
            left = self._working.get(key, 1) - 1
            if left:
                self._working[key] = left
                return
            self._working.pop(key, None)
            self._waiting.discard(key)
            self._runs_no_more(key)
            actions: list[Callable[[], None]] = []
            if not self._working:
                actions, self._when_idle = self._when_idle, []
            elif self._settled is not None:
                self._settled()
        for action in actions:
            action()

    def wait(self, key: Hashable) -> None:
        """``key`` begins to wait for something that others do."""
        with self._lock:
            if key in self._working and key not in self._waiting:
                self._waiting.add(key)
                self._runs_no_more(key)
                if self._settled is not None:
                    self._settled()

    def wake(self, key: Hashable) -> None:
        """What ``key`` waits for is there: said by who brings it, before that one itself ends or waits."""
        with self._lock:
            if key in self._waiting:
                self._waiting.discard(key)
                self._runs(key)

    def _runs(self, key: Hashable) -> None:
        self.alone, self.calm = None if self._running else key, None
        self._running.add(key)

    def _runs_no_more(self, key: Hashable) -> None:
        self._running.discard(key)
        self.calm = None
        self.alone = next(iter(self._running)) if len(self._running) == 1 else None

    def when_idle(self, action: Callable[[], None]) -> None:
        """Call ``action`` as soon as nobody works: now, or by the last one as it ends."""
        with self._lock:
            if self._working:
                self._when_idle.append(action)
                return
        action()


@contextmanager
def at_work(activity: Activity) -> Iterator[None]:
    """While the block lasts, this thread works."""
    key = threading.get_ident()
    activity.begin(key)
    try:
        yield
    finally:
        activity.end(key)
