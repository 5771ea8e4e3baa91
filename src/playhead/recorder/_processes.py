"""What is done with the writers of a process when it forks or ends."""

from __future__ import annotations

import _thread
import atexit
import os
from typing import Protocol

from playhead.boundary import before_abrupt_end

_ABRUPTLY_WITHIN_S = 5.0
_FORK_WITHIN_S = 1.0


class Attended(Protocol):
    """What a writer has to be able to do."""

    eager: bool

    def drain(self, *, within_s: float | None = None) -> None: ...
    def orphan(self) -> None: ...
    def pause(self, *, within_s: float) -> bool: ...
    def go_on(self, *, paused: bool) -> None: ...


_writers: set[Attended] = set()
"""Not weakly held: the removal of a dead one is a call in the midst of the program, in which a Ctrl-C gets lost."""

_held: dict[int, list[tuple[Attended, bool]]] = {}
"""The writers that a fork has paused, by the thread that forks."""
_watching = False
_ending = False


def attend(writer: Attended) -> None:
    """Have ``writer`` looked after until it is forgotten."""
    global _watching
    if not _watching:
        _watching = True
        atexit.register(_end)
        before_abrupt_end(lambda: drain_all(within_s=_ABRUPTLY_WITHIN_S))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)
    _writers.add(writer)
    writer.eager = writer.eager or _ending


def forget(writer: Attended) -> None:
    """Look after ``writer`` no longer."""
    _writers.discard(writer)


def drain_all(*, within_s: float | None = None) -> None:
    """Have what every writer of this process has waiting on disk; for the moments before a process ends."""
    for writer in list(_writers):
        writer.drain(within_s=within_s)


def _end() -> None:
    """At exit: what crosses from now on, in functions that are called later, may have no later."""
    global _ending
    _ending = True
    for writer in list(_writers):
        writer.eager = True
    drain_all()


def _before_fork() -> None:
    _held[_thread.get_ident()] = [(writer, writer.pause(within_s=_FORK_WITHIN_S)) for writer in list(_writers)]


def _in_parent() -> None:
    for writer, paused in _held.pop(_thread.get_ident(), ()):
        writer.go_on(paused=paused)


def _in_child() -> None:
    _held.clear()
    for writer in list(_writers):
        writer.orphan()
