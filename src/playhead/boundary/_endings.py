"""The moment before a process ends without the interpreter's own end, as by ``os._exit``."""

from __future__ import annotations

from collections.abc import Callable

_callbacks: list[Callable[[], None]] = []


def before_abrupt_end(callback: Callable[[], None]) -> None:
    """Have ``callback`` called each time the process is about to end, or become another program, without cleaning up.

    It is called on whichever thread ends the process, in the midst of anything: it must be quick and not raise.
    """
    _callbacks.append(callback)


def announce_abrupt_end() -> None:
    """The process is about to end abruptly. Nothing is raised."""
    for callback in tuple(_callbacks):
        try:
            callback()
        except Exception:  # the process ends in any case
            pass
