"""Lanes: lines of execution, named by where they were created, and the session each belongs to.

The current lane is a context variable, so that it flows through tasks, generators and callbacks as the
program's own context does. A thread or a task gets its lane when it is created, in the creator's context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import Context, ContextVar, Token
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from playhead.boundary._working import Activity

if TYPE_CHECKING:
    from playhead.boundary._sessions import Session

MAIN = "main"
"""The name of the lane in which a run begins."""


class Lane:
    """One line of execution of a run, sequential in itself.

    ``name`` is the path of ``name#ordinal`` from the main lane. ``opaque`` lanes lie inside a tool: what
    crosses there belongs to the tool and is neither recorded nor answered. ``state`` is the session's own. ``by`` is
    who makes what crosses there, where that is not the program: another process with which it speaks. What that makes
    ``behind`` the conversation reaches the program only through it: whoever answers the one need not ask for the other.
    """

    __slots__ = (
        "__weakref__",
        "_inside",
        "_ordinals",
        "behind",
        "by",
        "name",
        "opaque",
        "parent",
        "readied",
        "session",
        "state",
    )

    def __init__(
        self,
        session: Session,
        *,
        name: str = MAIN,
        parent: Lane | None = None,
        opaque: bool = False,
        by: str | None = None,
        behind: bool = False,
    ) -> None:
        self.session = session
        self.name = name
        self.parent = parent
        self.opaque = opaque
        self.by = by
        self.behind = behind
        self.state: Any = None
        self.readied = -1
        """What its loop's watch had counted when a task in it was last made ready to go on."""
        self._inside: Lane | None = None
        self._ordinals: dict[str, count[int]] = {}

    def child(self, name: str, *, by: str | None = None, behind: bool = False) -> Lane:
        """The next lane that this one creates under ``name``; its ordinal counts from 1 among equal names."""
        if self.opaque:
            return self
        label = name.replace("/", ".") or "?"
        ordinal = next(self._ordinals.setdefault(label, count(1)))
        path = f"{self.name}/{label}#{ordinal}"
        lane = Lane(self.session, name=path, parent=self, by=by or self.by, behind=behind or self.behind)
        self.session.follows(lane, self)
        return lane

    @property
    def outer(self) -> Lane | None:
        """This lane, or where it is a tool's own body, the one that called the tool; ``None`` outside every run."""
        lane: Lane | None = self
        while lane is not None and lane.opaque:
            lane = lane.parent
        return lane

    @property
    def activity(self) -> Activity:
        """Who works in the lanes of its session."""
        return _UNWATCHED if self is _OUTSIDE else self.session.activity

    @property
    def is_over(self) -> bool:
        """Whether its run or replay has ended, though this lane may go on. What lies outside of every run never has."""
        return self is not _OUTSIDE and self.session.is_over

    @property
    def root(self) -> Lane:
        """The lane in which the run began."""
        lane = self
        while lane.parent is not None:
            lane = lane.parent
        return lane

    def count(self, name: str) -> int:
        """How often this has been asked for ``name`` in this lane, this time included."""
        return next(self._ordinals.setdefault(f"\0{name}", count(1)))

    def body(self) -> Lane:
        """`inside`, of one call alone: another may go on beside it in the same lane."""
        return Lane(self.session, name=self.name, parent=self, opaque=True)

    def inside(self) -> Lane:
        """The lane of a tool's own body."""
        if self._inside is None:
            self._inside = Lane(self.session, name=self.name, parent=self, opaque=True)
        return self._inside

    def __repr__(self) -> str:
        return f"<Lane {self.name}>"


_UNWATCHED = Activity()
_OUTSIDE: Lane = Lane(cast("Session", None), name="outside", opaque=True)

_current: ContextVar[Lane | None] = ContextVar("playhead_lane", default=None)
_fallback: Lane | None = None
_strangers: frozenset[int] = frozenset()


def current_lane() -> Lane | None:
    """The lane of the code that asks, or ``None`` outside every run."""
    lane = _current.get()
    if lane is None and _fallback is not None:
        return _adopt()
    return lane


def woken_in(context: Context) -> Lane | None:
    """The lane of the code that runs in ``context``; ``None`` where whoever asks goes on itself, outside of a tool."""
    lane = context.get(_current)
    return None if lane is None or (lane is _current.get() and not lane.opaque) else lane


def _adopt() -> Lane | None:
    """Give a context that knows no lane (a thread made in C, a callback) one of the process-wide run."""
    import threading

    if _fallback is None:
        return None
    _current.set(_OUTSIDE)  # while the interpreter makes an object of a thread that has none, with locks of its own
    if threading.get_ident() in _strangers:
        return _OUTSIDE
    lane = _fallback.child(f"thread.{threading.current_thread().name}")
    _current.set(lane)
    return lane


enter_lane: Callable[[Lane | None], Token[Lane | None]] = _current.set
"""Make a lane the current one in this context; give the token to `leave_lane`."""


def leave_lane(token: Token[Lane | None]) -> None:
    """Undo `enter_lane`. Leaving in another context than the one entered is not an error."""
    try:
        _current.reset(token)
    except ValueError:
        _current.set(token.old_value if token.old_value is not Token.MISSING else None)


def leave_out_others() -> None:
    """The threads that there are beside this one, such as a debugger's, belong to no run."""
    import sys
    import threading

    global _strangers
    _strangers = frozenset(sys._current_frames()) - {threading.get_ident()}


def forget_lanes() -> None:
    """In a fork: what goes on here is no part of what the process that forked was doing."""
    global _fallback
    _fallback = None
    _current.set(None)


@contextmanager
def in_lane(lane: Lane | None) -> Iterator[Lane | None]:
    """Run a block in ``lane``."""
    token = enter_lane(lane)
    try:
        yield lane
    finally:
        leave_lane(token)


def outside_runs() -> AbstractContextManager[Lane | None]:
    """Run a block that belongs to no run, whatever its context and the process are doing: the recorder's own work."""
    return in_lane(_OUTSIDE)


@contextmanager
def as_fallback(lane: Lane) -> Iterator[None]:
    """Let code without a lane, anywhere in the process, belong to ``lane``'s run meanwhile."""
    global _fallback
    before, _fallback = _fallback, lane
    try:
        yield
    finally:
        _fallback = before
