"""Which sessions have threads at work in their lanes, so that what guards a session can outlast it for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playhead.boundary._sessions import Session

_lock = threading.Lock()
_at_work: dict[int, int] = {}
_waiting: dict[int, list[Callable[[], None]]] = {}


@contextmanager
def at_work(session: Session) -> Iterator[None]:
    """While the block lasts, a thread works in a lane of ``session`` that need not end with it."""
    key = id(session)  # the lane that is worked in holds the session
    with _lock:
        _at_work[key] = _at_work.get(key, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _at_work[key] -= 1
            last = _at_work[key] == 0
            if last:
                del _at_work[key]
            actions = _waiting.pop(key, []) if last else []
        for action in actions:
            action()


def when_idle(session: Session, action: Callable[[], None]) -> None:
    """Call ``action`` as soon as no thread works in a lane of ``session``: now, or in the last of them as it ends."""
    with _lock:
        if id(session) in _at_work:
            _waiting.setdefault(id(session), []).append(action)
            return
    action()
