"""Calls that were cancelled when recorded: in a replay they wait until the program cancels them again."""

from __future__ import annotations

from playhead.boundary._sessions import Ticket
from playhead.errors import DivergenceError

_GRACE_S = 10.0


def is_cancellation(error: BaseException) -> bool:
    """Whether ``error`` is the cancellation of asyncio or trio, found by name so that neither need be imported."""
    found = (type(error).__module__.partition(".")[0], type(error).__name__)
    return found in (("asyncio", "CancelledError"), ("trio", "Cancelled"))


async def wait_for_cancellation(ticket: Ticket, error: BaseException | None) -> None:
    """Wait as long as the recorded call did before it was cancelled, and some more, for the program to cancel it.

    Raises ``error``, if there is one, where there is no asyncio loop to wait in, and `DivergenceError` where the
    program lets the time pass.
    """
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        if error is not None:
            raise error from None
        return
    await asyncio.sleep(ticket.waited_ns / 1e9 + _GRACE_S)
    raise DivergenceError(
        f"{ticket.call.kind} {ticket.call.name} in lane {ticket.lane.name} was cancelled when recorded, and is not now",
        next="playhead show RUN",
        facts={"lane": ticket.lane.name},
    )
