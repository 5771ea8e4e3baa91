"""What an event loop does in a replay when it has nothing more to do: it lets the turnstile go on."""

from __future__ import annotations

import threading
from typing import Any

from playhead.boundary import LoopWatch, Select, lone_watch
from playhead.player._stillness import Stillness
from playhead.player._turnstile import Turnstile

_POLL_S = 0.002
_LONGEST_POLL_S = 0.05
_SHORTEST_POLL_S = 0.0002
_SPARE_NS = 10_000_000
"""So much more than when recorded may threads compute before their loop goes on."""

_PATIENCE_S = 10.0
_SHORT_S = 2.0
"""How long real files and real timers may be waited for before nothing is said to come any more."""


class Pacing:
    """Stands before the selectors of the loops that run in a replay."""

    def __init__(self, stile: Turnstile, lock: Any) -> None:
        self._stile = stile
        self._lock = lock
        self._still = Stillness(stile.activity)
        self._seen = 0
        self._failed_s = 0.0
        """How long loops have been idle since the replay failed."""

    def follow(self, watch: LoopWatch) -> None:
        """Have the loop of ``watch``, which runs in this thread, wait for its turns."""
        watch.pacer = self._select
        watch.thread = threading.get_ident()
        self._stile.watches.append(watch)

    def leave(self) -> None:
        """Let all loops go on by themselves."""
        for watch in self._stile.watches:
            watch.pacer = None

    def _select(self, watch: LoopWatch, timeout: float | None, select: Select) -> list[Any]:
        stile = self._stile
        if not watch.is_idle:
            if stile.is_waited_for or not stile.activity.is_alone(watch.thread):
                self._begin_turn(watch)
            return select(timeout)
        found = select(0)
        if found or watch.loop._stopping:
            return found
        if stile.failure is not None:
            return self._wind_up(watch, timeout, select)
        return self._rest(watch, timeout, select)

    def _wind_up(self, watch: LoopWatch, timeout: float | None, select: Select) -> list[Any]:
        """The replay has failed. Who was told may be a task that nobody waits for: then the loop is told."""
        begun_s, stile, failure = self._failed_s, self._stile, self._stile.failure
        while True:
            wait_s = _LONGEST_POLL_S if timeout is None else min(timeout, _LONGEST_POLL_S)
            found = select(wait_s)
            self._failed_s += max(wait_s, _SHORTEST_POLL_S)
            if found or not watch.is_idle:
                return found
            is_alone = stile.activity.is_alone(watch.thread) and len(watch.loop._selector.get_map() or ()) <= 1
            is_long = self._failed_s > (_SHORT_S if is_alone else _PATIENCE_S)
            if failure is not None and (is_long or (is_alone and timeout is None)):
                self._failed_s = 0.0
                raise failure
            if timeout is not None and self._failed_s - begun_s >= timeout:
                return found

    def _begin_turn(self, watch: LoopWatch) -> None:
        """Let those go on whose turn has come; what threads do then comes between two turns of their only loop."""
        is_lone = lone_watch() is watch
        if is_lone:
            self._let_rest(watch)
        while self._stile.poll_turn(watch) and is_lone:
            self._let_rest(watch)

    def _let_rest(self, watch: LoopWatch) -> None:
        """Wait for the other threads to come to rest, or to have computed for longer than they did when recorded."""
        stile, poll_s = self._stile, _SHORTEST_POLL_S
        while True:
            with self._lock:
                if stile.activity.rests_beside(watch.thread):
                    self._still.reset()
                    return
                if self._seen != stile.course.happenings:
                    self._seen = stile.course.happenings
                    self._still.renew()
                if self._still.allows(stile.order.gap_ns(stile.order.head) + _SPARE_NS, but=watch.thread):
                    return
            stile.rested.acquire(timeout=poll_s)
            poll_s = min(2 * poll_s, _POLL_S)

    def _rest(self, watch: LoopWatch, timeout: float | None, select: Select) -> list[Any]:
        """Nothing is ready: those who wait at the turnstile come, then whatever comes from outside."""
        stile, me = self._stile, watch.thread
        # A loop has one file of its own, by which threads wake it. Whatever else it listens to is real.
        patience_s = _PATIENCE_S if len(watch.loop._selector.get_map() or ()) > 1 else min(timeout or 0, _SHORT_S)
        watch.is_selecting = True
        left_s, poll_s, rested_s = timeout, _POLL_S, 0.0
        try:
            with self._lock:
                stile.is_real = patience_s > 0
                stile.activity.wait(me)
                if not stile.activity.is_known(me):
                    stile.poll_turn(watch)
            while watch.is_idle:
                wait_s = left_s
                if stile.is_waited_for:
                    wait_s = poll_s if left_s is None else min(left_s, poll_s)
                    poll_s = min(2 * poll_s, _LONGEST_POLL_S)
                found = select(wait_s)
                if found:
                    return found
                rested_s += wait_s or 0
                stile.is_real = patience_s > rested_s
                if left_s is not None and wait_s is not None:
                    left_s -= wait_s
                    if left_s <= 0:
                        return found
                stile.poll()
            return []
        finally:
            with self._lock:
                watch.is_selecting = False
                stile.activity.wake(me)
