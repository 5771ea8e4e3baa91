"""The thread pools of langchain, which langgraph uses too: what they map keeps the lane that each call was given.

Its ``map`` runs each call in a copy of the caller's context, and with it in the caller's lane.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Patches, current_lane, in_lane
from playhead.integrations._callables import given_lane
from playhead.integrations._imports import when_imported


def install(patches: Patches) -> None:
    """Have what is mapped run in the lane of its call."""

    def patch_config(module: ModuleType) -> None:
        pool = module.ContextThreadPoolExecutor
        patches.replace(pool, "map", _mapping(pool.map))

    when_imported("langchain_core.runnables.config", patch_config, patches)


def _mapping(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def map_calls(self: Any, fn: Callable[..., Any], *iterables: Any, **options: Any) -> Any:
        if current_lane() is None:
            return original(self, fn, *iterables, **options)

        @wraps(fn)
        def call(*args: Any) -> Any:
            with in_lane(given_lane()):
                return fn(*args)

        return original(self, call, *iterables, **options)

    return map_calls
