"""What a piece of work is called, and running it in a lane of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from functools import partial
from types import BuiltinMethodType
from typing import Any

from playhead.boundary import Lane, at_work, enter_lane, leave_lane


def name_callable(function: Any, args: tuple[Any, ...] = ()) -> str:
    """The qualified name of a function that is called with ``args``; else that of its type.

    Seen through ``partial`` and ``Context.run``, which only carry the function really meant.
    """
    while True:
        if type(function) is partial:
            function, args = function.func, (*function.args, *args)
        elif runs_in_context(function) and args:
            function, *rest = args
            args = tuple(rest)
        else:
            break
    return _qualified(function) or _qualified(type(function)) or "?"


def name_awaitable(awaitable: Any) -> str:
    """The qualified name of a coroutine, seen through the wrappers that task groups put around it."""
    name = _qualified(awaitable) or _qualified(type(awaitable)) or "?"
    carried = _CARRIERS.get(name)
    frame = getattr(awaitable, "cr_frame", None)
    if carried is None or frame is None:
        return name
    held = frame.f_locals.get(carried[0])
    for attribute in carried[1:]:
        held = getattr(held, attribute, None)
    return name if held is None else _qualified(held) or name


_CARRIERS: dict[str, tuple[str, ...]] = {
    "TaskHandle._run_coro": ("self", "_coro"),  # anyio from 4.12
    "TaskGroup._run_wrapped_task": ("coro",),  # anyio before
    "run.<locals>.wrapper": ("main",),  # uvloop
}
"""Coroutines that only carry another, and where it is: a local variable and its attributes."""


def _qualified(thing: Any) -> str | None:
    name = getattr(thing, "__qualname__", None)
    return name if isinstance(name, str) else None


def runs_in_context(function: Any) -> bool:
    """Whether ``function`` is the ``run`` of a context, whose first argument is the function really meant."""
    return type(function) is BuiltinMethodType and type(function.__self__) is Context and function.__name__ == "run"


_own = threading.local()


def run_in(lane: Lane, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call ``function`` in ``lane``; afterwards the thread is in the lane that it was in before."""
    token = enter_lane(lane)
    before, _own.lane = given_lane(), lane
    try:
        with at_work(lane.activity):
            if not lane.opaque:
                lane.session.open(lane)
            return function(*args, **kwargs)
    finally:
        _own.lane = before
        leave_lane(token)


def given_lane() -> Lane | None:
    """The lane in which `run_in` runs something in this thread, in whichever context that goes on."""
    lane: Lane | None = getattr(_own, "lane", None)
    return lane


def placed_in(
    lane: Lane, function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What to call, and with which leading arguments, so that ``function`` runs in ``lane``.

    Where a function is run in a context of its own, the lane is entered inside that context.
    """
    if runs_in_context(function):
        return function, (run_in, lane, *args)
    if type(function) is partial and runs_in_context(function.func):
        return partial(function.func, run_in, lane, *function.args, **function.keywords), args
    return run_in, (lane, function, *args)
