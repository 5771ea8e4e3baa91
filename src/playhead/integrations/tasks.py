"""Tasks of asyncio: each that is created in a lane has a lane of its own, named by its coroutine.

``loop.create_task`` is where all of them pass, whether they come from ``asyncio.create_task``, ``gather``, a task
group or a library; only a direct ``asyncio.Task(...)`` does not, and stays in its creator's lane. No task factory
is installed, and one that the program has installed is called as before; else the tasks are such as lie in sets where
their lane puts them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial, wraps
from types import CodeType, ModuleType
from typing import Any

from playhead.boundary import Lane, Patches, current_lane, enter_lane, leave_lane
from playhead.integrations._callables import name_awaitable
from playhead.integrations._imports import when_imported
from playhead.integrations._lane_tasks import in_given_order, make_task


def install(patches: Patches) -> None:
    """Give every task a lane, once asyncio, or uvloop, is imported."""

    def patch_asyncio(module: ModuleType) -> None:
        _patch(module.BaseEventLoop, patches)

    def patch_uvloop(module: ModuleType) -> None:
        _patch(module.Loop, patches)

    def patch_sets(module: ModuleType) -> None:
        patches.replace(module, "set", in_given_order)

    when_imported("asyncio.base_events", patch_asyncio, patches)
    when_imported("asyncio.tasks", patch_sets, patches)
    when_imported("uvloop", patch_uvloop, patches)


def _patch(loop: Any, patches: Patches) -> None:
    patches.replace(loop, "create_task", _in_lanes(loop.create_task))


def _in_lanes(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def create_task(self: Any, coro: Any, *args: Any, **kwargs: Any) -> Any:
        lane = current_lane()
        if lane is None or lane.opaque or _goes_on(sys._getframe(1)):
            return original(self, coro, *args, **kwargs)
        child = lane.child(name_awaitable(coro))
        make = original if args else partial(_make, original, child)
        context = kwargs.get("context")
        if context is not None:
            try:
                context.run(enter_lane, child)
            except RuntimeError:
                pass  # someone is in this context now: the task shares it, and so the lane
            return make(self, coro, *args, **kwargs)
        # A task copies the context in which it is made. To hand it a context would ask more of a task factory
        # than it may know.
        token = enter_lane(child)
        try:
            return make(self, coro, *args, **kwargs)
        finally:
            leave_lane(token)
            if kwargs.get("eager_start") or self.get_task_factory() is not None:
                lane.session.follows(lane, child)  # an eager task has begun, or even ended, within this call

    return create_task


def _make(original: Callable[..., Any], lane: Lane, loop: Any, coro: Any, **options: Any) -> Any:
    task = make_task(loop, coro, options, lane.name)
    return original(loop, coro, **options) if task is None else task


def _goes_on(frame: Any) -> bool:
    """Whether the task only carries on its creator, which waits for it: `asyncio.wait_for` before Python 3.12."""
    code = _wait_for_code()
    if code is None:
        return False
    for _ in range(3):
        if frame is None or frame.f_code is code:
            break
        frame = frame.f_back
    return frame is not None and frame.f_code is code


def _wait_for_code() -> CodeType | None:
    if sys.version_info >= (3, 12):
        return None
    code: CodeType = sys.modules["asyncio.tasks"].wait_for.__code__
    return code
