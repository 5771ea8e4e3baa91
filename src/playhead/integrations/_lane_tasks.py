"""Tasks whose places in sets follow from their lanes, not from their addresses.

asyncio keeps tasks in sets: what has been waited for is given, and what is left over cancelled, in the order in which
a set is gone through. By its address a task would come to lie in another place in each process.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any
from zlib import crc32


def make_task(loop: Any, coro: Any, options: dict[str, Any], lane: str) -> Any:
    """A task of ``loop`` in the lane of this name; ``None`` where only the program's own factory may make one."""
    factory = loop.get_task_factory()
    tasks = sys.modules["asyncio.tasks"]
    if loop.is_closed():
        return None
    if factory is not None:
        if factory is not getattr(tasks, "eager_task_factory", None):
            return None
        options = {**options, "eager_start": True}
    kind = _kind(tasks.Task)
    task = kind.__new__(kind)
    task._playhead_place = crc32(lane.encode())
    task.__init__(coro, loop=loop, **options)
    if task._source_traceback:
        del task._source_traceback[-1]
    return task


@cache
def _kind(base: type[Any]) -> Any:
    """Tasks like those of ``base``, and to be told from them only by their type."""

    def find_place(self: Any) -> int:
        place: int = self._playhead_place
        return place

    body = {
        "__slots__": ("_playhead_place",),
        "__hash__": find_place,
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
    }
    return type(base.__name__, (base,), body)


def place_future(future: Any, lane: str) -> None:
    """Have a future of `concurrent.futures`, as new as can be, lie in sets where ``lane`` puts it."""
    kind = _future_kind()
    if type(future) is kind.__base__:
        future._playhead_place = crc32(lane.encode())
        future.__class__ = kind


@cache
def _future_kind() -> Any:
    from concurrent.futures import Future  # not to be imported by us where the program does not

    class LaneFuture(Future[Any]):
        """A future like any other."""

        def __hash__(self) -> int:
            place: int = vars(self)["_playhead_place"]
            return place

    LaneFuture.__name__, LaneFuture.__qualname__, LaneFuture.__module__ = "Future", "Future", Future.__module__
    return LaneFuture


def in_given_order(given: Iterable[Any] = ()) -> Any:
    """Each of ``given`` once, in their order: stands in for `set` where asyncio only goes through what it was given."""
    return dict.fromkeys(given) if given else set()
