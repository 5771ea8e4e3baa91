"""The clocks of the `datetime` module, read by the agent's own code.

The types keep their identity, since others build on it (a validator compares types, subclasses exist): three
entries of the real types' dictionaries are replaced.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from datetime import date, datetime, timezone
from functools import partial
from types import BuiltinFunctionType, MethodType
from typing import Any

from playhead.boundary import Lane, Patches, _lanes, current_lane
from playhead.integrations._reads import reading_lane
from playhead.integrations._rebinding import Rebinding, unreachable

_READS: tuple[tuple[type[date], str], ...] = ((datetime, "now"), (datetime, "utcnow"), (date, "today"))
_NAMES = frozenset(name for _, name in _READS)


def install(patches: Patches) -> None:
    """Have `datetime.now`, `datetime.utcnow` and `date.today`, also of subclasses, cross the boundary.

    Where the interpreter does not let the types be changed they are left alone, and that is noticed.
    """
    unreachable.clear()
    rebinding = Rebinding.of(patches)
    rebinding.also(_replaced, _restored)
    for owner, name in _READS:
        original = vars(owner)[name]
        if _set_entry(owner, name, classmethod(_reader(owner, name, original))):
            patches.add(partial(_put_back, owner, name, original))
        else:
            unreachable.append(f"{owner.__name__}.{name}")
    lane = current_lane()
    if unreachable and lane is not None:
        lane.session.notice(lane, "clock not caught", {"reads": list(unreachable)})
    rebinding.spread()


def _reader(owner: type[date], name: str, original: Any) -> Callable[..., Any]:
    plain = original.__get__(None, owner)
    usual = f"{owner.__name__}.{name}"

    def read_now(cls: type[date], /, tz: Any = None) -> Any:
        made = plain(tz) if cls is owner else original.__get__(None, cls)(tz)
        if current() is None and _lanes._fallback is None:
            return made
        place = reading_lane(frame(1))
        if place is None:
            return made
        lane, site = place
        if tz is None and cls is owner:
            return lane.session.read(lane, "clock", usual, site, lambda: made)
        return _answer(made, usual, lane, site, cls, tz)

    def read_bare(cls: type[date], /) -> Any:
        made = plain() if cls is owner else original.__get__(None, cls)()
        if current() is None and _lanes._fallback is None:
            return made
        place = reading_lane(frame(1))
        if place is None:
            return made
        lane, site = place
        if cls is owner:
            return lane.session.read(lane, "clock", usual, site, lambda: made)
        return _answer(made, usual, lane, site, cls, None)

    current, frame = _lanes._current.get, sys._getframe
    read = read_now if name == "now" else read_bare
    read.__name__ = name
    read.__qualname__ = usual
    read.__module__ = "datetime"
    read.__doc__ = original.__doc__
    return read


def _answer(made: Any, fn: str, lane: Lane, site: str, cls: type[date], zone: Any) -> Any:
    if fn == "date.today" and issubclass(cls, datetime):
        fn = "datetime.today"
    plain = made if zone is None and (cls is datetime or cls is date) else _plain(made)
    kept = lane.session.read(lane, "clock", fn, site, lambda: plain)
    return made if kept is plain else _rebuild(cls, kept, zone)


def _plain(made: Any) -> Any:
    """``made`` as an instance of the standard type itself, its zone reduced to the offset."""
    if not isinstance(made, datetime):
        return date(made.year, made.month, made.day) if isinstance(made, date) else made
    offset = made.utcoffset()
    zone = None if offset is None else timezone(offset)
    return datetime.combine(date(made.year, made.month, made.day), made.time(), zone)


def _rebuild(cls: type[date], kept: Any, zone: Any) -> Any:
    """``kept`` as the program asked for it: in its zone, of its class."""
    if not isinstance(kept, datetime):
        return kept if cls is date else cls(kept.year, kept.month, kept.day)
    if zone is not None and kept.tzinfo is not None:
        kept = kept.astimezone(zone)
    if cls is datetime:
        return kept
    made: Any = cls
    clock = (kept.hour, kept.minute, kept.second, kept.microsecond)
    made = made(kept.year, kept.month, kept.day, *clock, kept.tzinfo)
    return made.replace(fold=1) if kept.fold else made


def _set_entry(owner: type, name: str, value: Any) -> bool:
    """Set an entry of a built-in type's own dictionary, and have the interpreter forget what it cached of it."""
    try:
        import ctypes

        forget = ctypes.pythonapi.PyType_Modified
    except (ImportError, AttributeError):
        return False
    entries = gc.get_referents(vars(owner))
    if len(entries) != 1 or type(entries[0]) is not dict or name not in entries[0]:
        return False
    entries[0][name] = value
    forget(ctypes.py_object(owner))
    return True


def _put_back(owner: type, name: str, original: Any) -> None:
    _set_entry(owner, name, original)


def _replaced(value: Any) -> Any:
    """The stand-in for a bound ``datetime.now`` that was taken before."""
    if type(value) is not BuiltinFunctionType or value.__name__ not in _NAMES:
        return None
    owner = value.__self__
    if not issubclass(type(owner), type) or not issubclass(owner, date):  # type: ignore[arg-type]
        return None
    found = getattr(owner, value.__name__)
    return found if type(found) is MethodType else None


def _restored(value: Any) -> Any:
    """The original for a stand-in that was taken meanwhile."""
    if type(value) is not MethodType or value.__func__.__module__ != "datetime":
        return None
    found = getattr(value.__self__, value.__name__, None)
    return found if type(found) is BuiltinFunctionType else None
