"""Reads of clock and chance that the program asks for by name, from anywhere.

They cross the boundary like those of the agent's own code, but whoever's code they stand in: a library that
wants to be replayed uses them. Outside a run, and inside a tool, they are the real thing.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from random import Random
from types import FrameType
from typing import Any

from playhead.boundary import Lane, current_lane
from playhead.integrations._picks import DRAWS, answer_for
from playhead.integrations._sites import find_any_site

__all__ = ["Draws", "now", "random", "uuid4"]

_generator = Random()


def now(tz: tzinfo = UTC) -> datetime:
    """The present moment, aware of its zone.

    >>> now().tzinfo
    datetime.timezone.utc
    """
    made = datetime.now(UTC)
    place = _place(sys._getframe(1))
    if place is not None:
        lane, site = place
        made = lane.session.read(lane, "clock", "playhead.now", site, lambda: made)
    return made if tz is UTC else made.astimezone(tz)


def uuid4() -> uuid.UUID:
    """A random UUID.

    >>> uuid4().version
    4
    """
    made = uuid.uuid4()
    place = _place(sys._getframe(1))
    if place is None:
        return made
    lane, site = place
    return lane.session.read(lane, "random", "playhead.uuid4", site, lambda: made)


class Draws(Random):
    """A generator whose every draw crosses the boundary; otherwise used like the `random` module.

    All instances share one state: there is one `playhead.random`.
    """

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Set the state. What is drawn then is kept all the same."""
        _generator.seed(a, version)

    def getstate(self) -> Any:
        """The state, for `setstate`."""
        return _generator.getstate()

    def setstate(self, state: Any) -> None:
        """Set the state to one that `getstate` gave."""
        _generator.setstate(state)


def _draw(name: str) -> Callable[..., Any]:
    answer = answer_for(name)
    fn = f"playhead.random.{name}"

    def draw(self: Draws, /, *args: Any, **kwargs: Any) -> Any:
        original = getattr(_generator, name)
        place = _place(sys._getframe(1))
        if place is None:
            return original(*args, **kwargs)
        return answer(original, fn, *place, args, kwargs)

    draw.__name__ = name
    draw.__qualname__ = f"Draws.{name}"
    draw.__doc__ = getattr(Random, name).__doc__
    return draw


for _name in DRAWS:
    if hasattr(Random, _name):
        setattr(Draws, _name, _draw(_name))

random = Draws()
"""The generator for draws that are kept: ``playhead.random.choice(seq)`` and so on."""


def _place(frame: FrameType) -> tuple[Lane, str] | None:
    lane = current_lane()
    return None if lane is None or lane.opaque else (lane, find_any_site(frame))
