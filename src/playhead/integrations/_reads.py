"""What every read of clock and chance has in common: whether it is one, and the stand-in for a function.

The current lane is looked up in the context variable itself rather than through `current_lane`: outside a run
a stand-in may cost a tenth of a microsecond, of which a further call would take half.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, MethodType
from typing import Any, Literal, TypeVar

from playhead.boundary import Lane, _lanes, current_lane
from playhead.integrations._sites import find_site

T = TypeVar("T")
Kind = Literal["clock", "random"]

Answer = Callable[[Any, str, Lane, str, tuple[Any, ...], dict[str, Any]], Any]
"""Makes one read: ``answer(original, fn, lane, site, args, kwargs)``."""

_current = _lanes._current.get
_frame = sys._getframe


def reading_lane(frame: FrameType) -> tuple[Lane, str] | None:
    """The lane and site of a read made by ``frame``, or ``None`` where it is not one that is recorded."""
    lane = _current()
    if lane is not None and lane.opaque:
        return None
    site = find_site(frame)
    if site is None:
        return None
    if lane is None:
        lane = current_lane()
        if lane is None or lane.opaque:
            return None
    return lane, site


class _Home:
    """What a stand-in is bound to: pickled and loaded again, the stand-in is the function of that module."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __reduce__(self) -> tuple[Any, ...]:
        import importlib

        return importlib.import_module, (self._module,)


def stand_in(function: Callable[..., Any], original: Any, module: str) -> Any:
    """``function``, whose first parameter is ignored, dressed as ``original``.

    It is a bound method, because a plain function that a class keeps as an attribute would be given the
    instance, and a built-in is not.
    """
    function.__name__ = original.__name__
    function.__qualname__ = original.__name__
    function.__module__ = module
    function.__doc__ = original.__doc__
    return MethodType(function, _Home(module))


def read_plain(kind: Kind, fn: str, original: Callable[[], T], *, again: bool) -> Callable[..., T]:
    """A function for `stand_in` that takes no argument and cannot fail: the usual clock, the usual draw.

    With ``again`` the original is called when replayed as well, so that the state it draws from moves on.
    """

    def read(_: Any, /) -> T:
        lane = _current()
        if lane is None:
            if _lanes._fallback is None:
                return original()
        elif lane.opaque:
            return original()
        site = find_site(_frame(1))
        if site is None:
            return original()
        if lane is None:
            lane = current_lane()
            if lane is None:
                return original()
        if again:
            value = original()
            return lane.session.read(lane, kind, fn, site, lambda: value)
        return lane.session.read(lane, kind, fn, site, original)

    return read


def read_with(fn: str, original: Callable[..., Any], answer: Answer) -> Callable[..., Any]:
    """A function for `stand_in` whose reads are made by ``answer``."""

    def read(_: Any, /, *args: Any, **kwargs: Any) -> Any:
        lane = _current()
        if lane is None:
            if _lanes._fallback is None:
                return original(*args, **kwargs)
        elif lane.opaque:
            return original(*args, **kwargs)
        site = find_site(_frame(1))
        if site is None:
            return original(*args, **kwargs)
        if lane is None:
            lane = current_lane()
            if lane is None:
                return original(*args, **kwargs)
        return answer(original, fn, lane, site, args, kwargs)

    return read


def answer_value(kind: Kind) -> Answer:
    """Reads whose value is kept as it is.

    The original is called first and in any case: what it refuses it refuses when replayed as well, and the
    state of the program's generators moves on as it did.
    """

    def answer(original: Any, fn: str, lane: Lane, site: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        value = original(*args, **kwargs)
        return lane.session.read(lane, kind, fn, site, lambda: value)

    return answer
