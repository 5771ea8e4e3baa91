"""Places where a thread may have to wait for others: counted in each lane, whether it has to or not.

Whether it has to is luck. So a waiting that was recorded is found again by the number of its place, and a replay lets
the thread go on there in its turn also where it need not wait now.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from playhead.boundary import Lane, current_lane, running_watch

_UNCOUNTED = ("concurrent.futures.", "threading")
"""What waits in these does so as often as luck will have it."""

_own = threading.local()
_NOWHERE = -1
_LAST = "_playhead_last"
"""The attribute of a shared object that names the lane which had it last."""
_LOOP = " of a loop"
"""Stands for all lanes of a thread that runs a loop; no lane has such a name."""


def go_on(lane: Lane) -> None:
    """This thread, which works in ``lane``, has waited for others and goes on."""
    number = _number()
    if number != _NOWHERE:
        _own.has_gone_on = True
        lane.session.open(lane, waited=number)


def _number() -> int:
    """The number of the place in which this thread waits, 0 where it is none that is counted."""
    number: int = getattr(_own, "number", 0)
    return number


def pass_by() -> None:
    """What this thread would wait for is there already: where it goes on may be seen by others all the same.

    A replay may have to wait for it here, and what runs in between is told by nothing else. Not in a thread that
    runs a loop: its turns tell.
    """
    lane = current_lane()
    if lane is not None and not lane.opaque and _number() > 0 and running_watch() is None:
        go_on(lane)


def hand_to(lane: Lane, last: str | None) -> tuple[str, bool]:
    """Who has something now that threads share and ``last`` had before; and whether a moment is to be kept of it.

    It is where another lane had it, which may have been quicker by luck alone. The tasks of a loop are as one.
    """
    if running_watch() is not None:
        return _LOOP, False
    return lane.name, lane.name != last


@contextmanager
def waiting_nowhere() -> Iterator[None]:
    """Whom the block waits for is no matter: it may hold locks of its own meanwhile, that others wait for."""
    before, _own.number = _number(), _NOWHERE
    try:
        yield
    finally:
        _own.number = before


@contextmanager
def waiting_here() -> Iterator[None]:
    """The block is a place where this thread may have to wait."""
    lane = current_lane()
    if lane is None or lane.opaque or _number():
        yield
        return
    number = _own.number = lane.count("wait")
    try:
        if lane.activity.is_followed:
            lane.session.open(lane, waited=number)
        yield
    finally:
        _own.number = 0


def in_place(original: Callable[..., Any], *, is_shared: bool = False) -> Callable[..., Any]:
    """``original``, each call of which is such a place, unless the libraries of threads make it for themselves.

    Of an object that ``is_shared`` it is kept which lane has it next, also where it need not wait.
    """

    @wraps(original)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        if str(sys._getframe(1).f_globals.get("__name__")).startswith(_UNCOUNTED):
            return original(self, *args, **kwargs)
        with waiting_here():
            if not is_shared:
                return original(self, *args, **kwargs)
            _own.wanted, _own.has_gone_on = self, False
            try:
                got = original(self, *args, **kwargs)
                if got is not False:
                    take()
                return got
            finally:
                _own.wanted = None

    return wait


def take() -> None:
    """This thread has got what it wanted, if it wanted anything: it may still hold what keeps others away."""
    wanted = getattr(_own, "wanted", None)
    if wanted is None:
        return
    _own.wanted = None
    lane = current_lane()
    if lane is None or lane.opaque:
        return
    held = vars(wanted)
    held[_LAST], is_handed = hand_to(lane, held.get(_LAST))
    if is_handed and _number() > 0 and not _own.has_gone_on:
        go_on(lane)


def at_hand(original: Callable[..., Any]) -> Callable[..., Any]:
    """``original``, after which the lane that called it was the last that had the object."""

    @wraps(original)
    def use(self: Any, *args: Any, **kwargs: Any) -> Any:
        lane = current_lane()
        if lane is not None and not lane.opaque:
            vars(self)[_LAST], _ = hand_to(lane, None)
        return original(self, *args, **kwargs)

    return use
