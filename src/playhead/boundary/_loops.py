"""Watching the turns of event loops: which came in one, and when a loop had nothing more to do.

Between two turns asyncio asks its selector for what is ready. There, and nowhere else, a loop says that it is idle.
A loop without such a selector (uvloop) is not watched.
"""

from __future__ import annotations

import sys
import threading
import weakref
from _thread import get_ident
from collections.abc import Callable
from typing import Any

Select = Callable[[float | None], list[Any]]

Pacer = Callable[["LoopWatch", float | None, Select], list[Any]]
"""Stands in for a selector's ``select(timeout)``, which it is given."""

_NAME = "_playhead_watch"
_lock = threading.Lock()
_watches: set[weakref.ref[LoopWatch]] = set()
_latest: dict[int, LoopWatch] = {}
"""By thread, the loop that was watched there last: to ask asyncio for it is a system call before Python 3.12."""

_users = 0


class LoopWatch:
    """The watch of one loop.

    ``turn`` counts its turns and ``marks`` what crossed in them; ``pacer`` decides, if it is there, what comes next.
    """

    __slots__ = (
        "__weakref__", "_ahead", "_by", "_idle", "_last", "_latest", "is_selecting", "loop", "marks", "pacer",
        "pieces", "select", "thread", "turn",
    )  # fmt: skip

    def __init__(self, loop: Any) -> None:
        self.loop = loop
        self.turn = 0
        self.marks = 0
        self.pacer: Pacer | None = None
        self.thread = 0
        self.is_selecting = False
        """Whether the loop, having nothing to do, waits for what is ready."""
        self._idle = 0
        self._last = self._latest = (0, -1)
        self._by: object = None
        self._ahead = 0
        self.pieces = 0
        """How many pieces of streams have come in it."""
        selector = loop._selector
        self.select: Select = selector.select
        ready = loop._ready

        def select(timeout: float | None = None) -> list[Any]:
            self.turn += 1
            if not ready:
                self._idle += 1
            return self.select(timeout) if self.pacer is None else self.pacer(self, timeout, self.select)

        selector.select = select

    @property
    def is_idle(self) -> bool:
        """Whether no callback waits to be run."""
        return not self.loop._ready

    def mark(self, *, ahead: int = 0) -> int | None:
        """How many turns have passed since the last mark; ``None`` where the loop was idle in between.

        The mark is set so many turns ``ahead``.
        """
        self.marks += 1
        turn, idle = self._last
        self._last = self._latest = (self.turn + ahead, self._idle)
        self._by = None
        return self.turn - turn if idle == self._idle else None

    def mark_alone(self) -> bool:
        """Mark, where the loop is paced and no callback waits to be run; whether it was so.

        It is not counted: that is for recorders, and they do not pace.
        """
        if self.loop._ready or self.pacer is None:
            return False
        self._last = self._latest = (self.turn, self._idle)
        return True

    def mark_piece(self, by: object = None, *, ahead: int = 0, is_head: bool = False) -> list[int]:
        """A piece of the stream ``by`` has come, or its head: `after_piece`, but also where no piece came before."""
        found = self._after(by)
        self._latest = (self.turn + ahead, self._idle)
        self._by = by
        self.pieces += not is_head
        return found

    def put_ahead(self) -> None:
        """What stands last in the loop's queue goes on before all others, but for those that were put ahead before."""
        ready = self.loop._ready
        ready.insert(self._ahead, ready.pop())
        self._ahead += 1

    def went_on(self) -> None:
        """What was put ahead goes on, and with it what came last: in this turn, which may be a later one."""
        self._ahead -= 1
        latest = (self.turn, self._idle)
        if self._latest is self._last:
            self._last = latest
        self._latest = latest

    def after_piece(self, by: object = None) -> list[int]:
        """How many turns have passed since a piece came after the last mark, and how many had come, if not ``by`` it.

        Empty where none came, or the loop was idle since.
        """
        return self._after(by) if self._latest is not self._last else []

    def _after(self, by: object) -> list[int]:
        turn, idle = self._latest
        if idle != self._idle:
            return []
        turns = self.turn - turn
        return [turns] if self._by is by or self._latest is self._last else [turns, self.pieces]

    @property
    def since_piece(self) -> int:
        """How many turns have passed since the last mark or piece."""
        return self.turn - self._latest[0]

    @property
    def since_mark(self) -> int:
        """How many turns have passed since the last mark."""
        return self.turn - self._last[0]

    def forget(self) -> None:
        """Leave the loop as it was."""
        selector = self.loop._selector
        if selector is not None:
            vars(selector).pop("select", None)
        vars(self.loop).pop(_NAME, None)


def watch_loops(*, on: bool) -> None:
    """From now on watch the loops that `running_watch` is asked about, or no longer."""
    global _users
    _users += 1 if on else -1
    if _users == 0:
        with _lock:
            watches = _alive()
            _watches.clear()
            _latest.clear()
        for watch in watches:
            watch.forget()


def _alive() -> list[LoopWatch]:
    return [watch for found in list(_watches) if (watch := found()) is not None]


def forget_watches() -> None:
    """In a fork: the loops that ran in the process that forked do not run here."""
    with _lock:
        _watches.clear()
        _latest.clear()


def _look_for_asyncio() -> Any:
    """Until the program has imported asyncio, which is not done to find out; then what that has takes over."""
    global _find_running
    found = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)
    if found is None:
        return None
    _find_running = found
    return found()


_find_running: Callable[[], Any] = _look_for_asyncio


def running_loop() -> Any:
    """The loop of asyncio that runs in this thread, if there is one."""
    return _find_running()


def running_watch() -> LoopWatch | None:
    """The watch of the loop that runs in this thread."""
    me = get_ident()
    watch = _latest.get(me)
    if watch is not None and watch.loop._thread_id == me:
        return watch
    loop = running_loop() if _users else None
    if loop is None:
        return None
    found: LoopWatch | None = getattr(loop, _NAME, None)
    return found or _watch(loop)


def watch_of(loop: Any) -> LoopWatch | None:
    """The watch of ``loop``, if it is watched by now."""
    return getattr(loop, _NAME, None)


def near_watch(me: int) -> LoopWatch | None:
    """The watch of the loop that runs in this thread, ``me``, else of the only one that runs in another."""
    if not _watches and _find_running() is None:
        return None
    watch = _latest.get(me)
    if watch is not None and watch.loop._thread_id == me:
        return watch
    return running_watch() or lone_watch()


def lone_watch() -> LoopWatch | None:
    """The watch of the only loop that runs, in whichever thread; ``None`` where none or several do.

    By its turns one can tell when something came that happened beside it, in a thread without a loop.
    """
    if not _watches:
        return None
    with _lock:
        running = [watch for watch in _alive() if watch.loop.is_running()]
    return running[0] if len(running) == 1 else None


def _watch(loop: Any) -> LoopWatch | None:
    if not (
        hasattr(loop, "_ready")
        and hasattr(loop, "_thread_id")
        and hasattr(getattr(loop, "_selector", None), "__dict__")
    ):
        return None
    watch = LoopWatch(loop)
    setattr(loop, _NAME, watch)
    with _lock:
        _watches.add(weakref.ref(watch, _watches.discard))
        _latest[get_ident()] = watch
    return watch
