"""Generators that stay in one lane, whoever takes their steps.

A generator has no context of its own: each step runs in the context of whoever asks for it, be it another task or
another thread than the one that made it. So the lane is entered at each step and left again before the item goes
out. Closing it from yet another context is a step like any other.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import Any

from playhead.boundary._lanes import Lane, in_lane


def stay_in_lane(lane: Lane, source: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """``source``, every step of it taken in ``lane``; ``send``, ``throw``, ``close`` and its value pass through."""
    try:
        with in_lane(lane):
            item = next(source)
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                with in_lane(lane):
                    source.close()
                raise
            except BaseException as thrown:
                with in_lane(lane):
                    item = source.throw(thrown)
            else:
                with in_lane(lane):
                    item = source.send(sent)
    except StopIteration as stop:
        return stop.value


async def stay_in_lane_async(lane: Lane, source: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
    """`stay_in_lane` for an asynchronous generator."""
    try:
        with in_lane(lane):
            item = await anext(source)
        while True:
            try:
                sent = yield item
            except GeneratorExit:
                with in_lane(lane):
                    await source.aclose()
                raise
            except BaseException as thrown:
                with in_lane(lane):
                    item = await source.athrow(thrown)
            else:
                with in_lane(lane):
                    item = await source.asend(sent)
    except StopAsyncIteration:
        return
