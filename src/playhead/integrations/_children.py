"""Child processes that are started in a lane: their start and their end cross the boundary, in their turn."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from playhead._system import SystemClock, sleep
from playhead.boundary import (
    Call,
    Errand,
    Lane,
    Pause,
    Program,
    Raised,
    Returned,
    Ticket,
    await_turn,
    current_lane,
    in_lane,
)

_ENDED = Returned(None)
_NEAR = 10
"""How many callers up a start is looked for who asked for it."""

_COMES_WITHIN_NS = 10_000_000_000
_LOOK_S = 0.005
"""How long a child is let come as far as it came when recorded, and how often it is looked whether it has."""

_OF_THE_MACHINE = ("platform", "ctypes.util", "uuid")
_own = threading.local()

Form = Literal["command", "function", "task"]

By = Literal["wait", "poll", "loop"]
"""How a program learns of an end: it waits for it, asks whether it has come, or is told by its event loop."""


class ChildProcess:
    """A process that was started in a lane."""

    __slots__ = ("_lock", "by_loop", "is_learned", "ticket")

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.is_learned = False
        self.by_loop = False
        """Whether an event loop looks after it."""
        self._lock = threading.Lock()

    def learn(self, code: int, by: By) -> None:
        """The program is about to learn that it has ended, once its turn has come."""
        with self._lock:
            if self.is_learned:
                return
            self.is_learned = True
        ticket = self.ticket
        if by != "loop":
            await_turn(ticket)
        ticket.lane.session.finish(ticket, Returned({"code": code, "by": by}))

    def attend(self, is_alive: Callable[[], bool]) -> None:
        """It has begun; until it is learned that it has ended, ``is_alive`` says whether it may yet do anything."""
        self.ticket.lane.session.attend(self.ticket, is_alive)

    def fail(self, error: BaseException) -> None:
        """It could not be started."""
        self.is_learned = True
        await_turn(self.ticket)
        self.ticket.lane.session.finish(self.ticket, Raised(error))

    def may_be_asked(self) -> bool:
        """Whether who asks now may be told that it has ended: always where it is recorded, else when that was told."""
        turn = self.ticket.turn
        if turn is None or self.ticket.lane.is_over:
            return True
        answer = self.ticket.answer
        told = answer.value if isinstance(answer, Returned) else None
        return isinstance(told, dict) and told.get("by") == "poll" and turn.is_next

    @property
    def is_held(self) -> bool:
        """Whether its end is told in a turn."""
        return self.ticket.turn is not None and not self.ticket.lane.is_over

    def let_come(self, pid: int) -> None:
        """Before it is sent a signal: one that was killed when recorded comes as far as then, and ends there."""
        answer, errand = self.ticket.answer, self.ticket.errand
        told = answer.value if isinstance(answer, Returned) else None
        if not (self.is_held and errand is not None and errand.run and isinstance(told, dict) and told["code"] < 0):
            return
        deadline_ns = SystemClock.mono_ns() + _COMES_WITHIN_NS
        with waiting():
            while is_running(pid) and SystemClock.mono_ns() < deadline_ns:
                sleep(_LOOK_S)

    def wait(self, timeout: float | None, live: Callable[[float | None], int | None]) -> int | None:
        """Wait for its end: the exit code, or ``None`` where the time limit was reached; ``live`` does it really."""
        lane = current_lane()
        if lane is None or lane.opaque or lane.is_over:
            code = live(timeout)
        elif timeout is None or timeout <= 0:
            code = live(timeout) if timeout is None or self.may_be_asked() else None
        else:
            code = self._wait_within(lane, timeout, live)
        if code is not None:
            self.learn(code, "wait" if timeout is None or timeout > 0 else "poll")
        return code

    def _wait_within(self, lane: Lane, timeout: float, live: Callable[[float | None], int | None]) -> int | None:
        limit = lane.session.begin(lane, Call("sleep", "process.wait", Pause(float(timeout))))
        if limit.turn is None:
            code = live(timeout if limit.answer is None else None)
        elif limit.turn.never:
            code = live(None)
        else:
            await_turn(limit)
            code = None
        if code is None:
            lane.session.finish(limit, _ENDED)
        return code


_started: weakref.WeakKeyDictionary[Any, ChildProcess] = weakref.WeakKeyDictionary()


def child_of(process: Any) -> ChildProcess | None:
    """The child that ``process`` is, where the program has not learned of its end."""
    child = _started.get(process)
    return None if child is None or child.is_learned else child


def starting_lane() -> Lane | None:
    """The lane in which a process that is started now is a child; ``None`` where it is none of the program's own."""
    lane = current_lane()
    if lane is None or lane.opaque or lane.is_over or is_counted() or asks_the_machine():
        return None
    return lane


def begin(lane: Lane, name: str, argv: Sequence[str], *, form: Form = "command") -> ChildProcess:
    """A child is about to be started. ``name`` is that of its lane."""
    words = tuple(word.encode("utf-8", "backslashreplace").decode() for word in argv)
    program = Program(words, lane.child(name).name, form)
    return ChildProcess(lane.session.begin(lane, Call("process", name, program)))


def begin_worker(lane: Lane) -> Errand | None:
    """A worker of a pool is about to be started, which is no child itself: what it is told."""
    return lane.session.begin(lane, Call("process", "worker", Program((), "", "worker"))).errand


def attend(process: Any, child: ChildProcess, pid: int) -> None:
    """It runs, as the process of this number."""
    _started[process] = child
    child.attend(lambda: is_running(pid))


def is_running(pid: int) -> bool:
    """Whether a child has not ended; nobody is kept from asking for its end."""
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except AttributeError:  # not this system
        return True
    except OSError:
        return False


@contextmanager
def waiting() -> Iterator[None]:
    """While the block lasts this thread waits for something real, and what it calls on its way is no crossing."""
    lane = current_lane()
    if lane is None or lane.opaque:
        yield
        return
    activity, key = lane.session.activity, threading.get_ident()
    is_followed = activity.is_followed
    if is_followed:
        activity.wait(key)
    try:
        with in_lane(lane.inside()):
            yield
    finally:
        if is_followed:
            activity.wake(key)


@contextmanager
def counted_once() -> Iterator[None]:
    """What a start is made of, such as a fork, is not noted beside it."""
    depth = getattr(_own, "depth", 0)
    _own.depth = depth + 1
    try:
        yield
    finally:
        _own.depth = depth


def is_counted() -> bool:
    """Whether this thread is starting a process that is noted already."""
    return bool(getattr(_own, "depth", 0))


def leave_fork() -> None:
    """In a fork: nothing is being started here."""
    _own.depth = 0


def asks_the_machine() -> bool:
    """Whether the standard library has started a child to learn about the machine: ``uname``, ``ldconfig``, ``ip``.

    SDKs and libraries have it do so for headers and when they are imported. What it learns is the same for every run on
    the machine, and no part of what the agent observes.
    """
    frame: Any = sys._getframe(1)
    for _ in range(_NEAR):
        if frame is None:
            return False
        if frame.f_globals.get("__name__") in _OF_THE_MACHINE:
            return True
        frame = frame.f_back
    return False


def name_program(command: Any, *, shell: bool = False) -> tuple[str, list[str]]:
    """A name for what a command line starts, and its words, the first without its folder.

    A Python program is named by its file or module: the interpreter says nothing.
    """
    if isinstance(command, str | bytes | os.PathLike):
        text = os.fsdecode(command)
        words = ["sh", "-c", text] if shell else [text]
        names = text.split(maxsplit=1)[:1] if shell else [text]
    else:
        words = [os.fsdecode(word) for word in command]
        names = _names(words)
        if shell:
            words = ["sh", "-c", *words]
    if words:
        words[0] = os.path.basename(words[0])
    return (os.path.basename(names[0].rstrip("/")) if names else "") or "?", words


def _names(words: list[str]) -> list[str]:
    if not words or not os.path.basename(words[0]).lower().startswith("python"):
        return words[:1]
    rest = iter(words[1:])
    for word in rest:
        if word == "-m":
            return [next(rest, "python")]
        if word == "-c":
            return ["python"]
        if not word.startswith("-"):
            return [word]
        if word in ("-W", "-X"):
            next(rest, None)
    return ["python"]
