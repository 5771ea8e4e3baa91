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

from playhead.boundary import Lane, current_lane

_UNCOUNTED = ("concurrent.futures.", "threading")
"""What waits in these does so as often as luck will have it."""

_own = threading.local()


_NOWHERE = -1


def go_on(lane: Lane) -> None:
    """This thread, which works in ``lane``, has waited for others and goes on."""
    number = _number()
    if number != _NOWHERE:
        lane.session.open(lane, waited=number)


def _number() -> int:
    """The number of the place in which this thread waits, 0 where it is none that is counted."""
    number: int = getattr(_own, "number", 0)
    return number


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


def in_place(original: Callable[..., Any]) -> Callable[..., Any]:
    """``original``, each call of which is such a place, unless the libraries of threads make it for themselves."""

    @wraps(original)
    def wait(self: Any, *args: Any, **kwargs: Any) -> Any:
        if str(sys._getframe(1).f_globals.get("__name__")).startswith(_UNCOUNTED):
            return original(self, *args, **kwargs)
        with waiting_here():
            return original(self, *args, **kwargs)

    return wait
