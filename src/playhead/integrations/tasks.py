"""Tasks of asyncio: each that is created in a lane has a lane of its own, named by its coroutine.

``loop.create_task`` is where all of them pass, whether they come from ``asyncio.create_task``, ``gather``, a task
group or a library; only a direct ``asyncio.Task(...)`` does not, and stays in its creator's lane. No task factory
is installed, and one that the program has installed is called as before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from types import CodeType, ModuleType
from typing import Any

from playhead.boundary import Patches, current_lane, enter_lane, leave_lane
from playhead.integrations._callables import name_awaitable
from playhead.integrations._imports import when_imported


def install(patches: Patches) -> None:
    """Give every task a lane, once asyncio, or uvloop, is imported."""

    def patch_asyncio(module: ModuleType) -> None:
        _patch(module.BaseEventLoop, patches)

    def patch_uvloop(module: ModuleType) -> None:
        _patch(module.Loop, patches)

    when_imported("asyncio.base_events", patch_asyncio, patches)
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
        context = kwargs.get("context")
        if context is not None:
            try:
                context.run(enter_lane, child)
            except RuntimeError:
                pass  # someone is in this context now: the task shares it, and so the lane
            return original(self, coro, *args, **kwargs)
        # A task copies the context in which it is made. To hand it a context would ask more of a task factory
        # than it may know.
        token = enter_lane(child)
        try:
            return original(self, coro, *args, **kwargs)
        finally:
            leave_lane(token)
            if kwargs.get("eager_start") or self.get_task_factory() is not None:
                lane.session.follows(lane, child)  # an eager task has begun, or even ended, within this call

    return create_task


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
