"""Time that passes: `time.sleep`, the timers of asyncio, and the clock of its loops.

Every timer of asyncio, whether of ``sleep``, ``timeout``, ``wait_for`` or the program's own, is set by
``loop.call_at``. What is set inside a tool's own body belongs to the tool.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Call, Lane, Patches, Pause, Returned, Ticket, Turn, await_turn, current_lane, watch_loops
from playhead.integrations._imports import when_imported
from playhead.integrations._reads import stand_in
from playhead.integrations._rebinding import Rebinding

_SLEPT = Returned(None)

_SHORT_S = 0.01
"""How long what is not to be waited for takes, so that who waits again and again does not spin."""


def install(patches: Patches) -> None:
    """Have sleeps and timers cross the boundary, and watch the loops in which they are set."""
    watch_loops(on=True)
    patches.add(partial(watch_loops, on=False))
    rebinding = Rebinding.of(patches)
    rebinding.replace(time, "sleep", stand_in(_sleeping(time.sleep), time.sleep, "time"), "time.sleep")
    rebinding.spread()

    def patch_loop(module: ModuleType) -> None:
        loop = module.BaseEventLoop
        patches.replace(loop, "call_at", _calling_at(loop.call_at, loop.time, _held_handle()))
        patches.replace(loop, "time", _telling_time(loop.time, loop._run_once.__code__))

    when_imported("asyncio.base_events", patch_loop, patches)


def _sleeping(original: Callable[[Any], None]) -> Callable[..., None]:
    def sleep(_: Any, seconds: Any, /) -> None:
        lane = current_lane()
        if lane is None or lane.opaque or not isinstance(seconds, int | float) or not seconds > 0:
            original(seconds)
            return
        ticket = lane.session.begin(lane, Call("sleep", "time.sleep", Pause(float(seconds))))
        if ticket.turn is not None:
            await_turn(ticket)
        else:
            original(seconds if ticket.answer is None else min(seconds, _SHORT_S))
        lane.session.finish(ticket, _SLEPT)

    return sleep


def _calling_at(original: Callable[..., Any], original_time: Callable[[Any], float], held: Any) -> Callable[..., Any]:
    @wraps(original)
    def call_at(self: Any, when: float, callback: Any, *args: Any, context: Any = None) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque:
            return original(self, when, callback, *args, context=context)
        pause = Pause(max(0.0, when - self.time()))
        plain = getattr(callback, "__name__", "") == "_set_result_unless_cancelled"
        ticket = lane.session.begin(lane, Call("sleep", "asyncio.sleep" if plain else "timer", pause))
        if ticket.answer is None:
            return original(self, when, _fire, ticket, callback, *args, context=context)
        if ticket.turn is None:
            soon = original_time(self) + min(pause.seconds, _SHORT_S)
            return original(self, soon, callback, *args, context=context)
        handle = held(when, callback, args, self, context)
        handle.turn = ticket.turn
        ticket.turn.call(partial(_make_ready, self, handle))
        return handle

    return call_at


def _fire(ticket: Ticket, callback: Callable[..., Any], *args: Any) -> None:
    ticket.lane.session.finish(ticket, _SLEPT)
    callback(*args)


def _make_ready(loop: Any, handle: Any) -> None:
    if not handle.cancelled():
        loop._ready.append(handle)


def _held_handle() -> Any:
    """A timer's handle that waits at a turn instead of in the loop's heap."""
    from asyncio.events import TimerHandle  # the package itself may be only half imported

    class HeldHandle(TimerHandle):
        """Fires in its turn, unless it is cancelled before."""

        __slots__ = ("turn",)
        turn: Turn

        def cancel(self) -> None:
            """Take the timer back."""
            if not self.cancelled():
                self.turn.drop()
            super().cancel()

    return HeldHandle


def _telling_time(original: Callable[[Any], float], of_the_loop: Any) -> Callable[[Any], float]:
    """In a replay a loop's clock follows the recording, for all but the loop itself."""

    @wraps(original)
    def loop_time(self: Any) -> float:
        now = original(self)
        lane: Lane | None = current_lane()
        if lane is None or lane.opaque or sys._getframe(1).f_code is of_the_loop:
            return now
        return lane.session.tell_time(now)

    return loop_time
