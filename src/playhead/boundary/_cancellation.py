"""Telling a cancellation from other errors."""

from __future__ import annotations


def is_cancellation(error: BaseException) -> bool:
    """Whether ``error`` is the cancellation of asyncio or trio, found by name so that neither need be imported."""
    found = (type(error).__module__.partition(".")[0], type(error).__name__)
    return found in (("asyncio", "CancelledError"), ("trio", "Cancelled"))
