"""Programs started with `subprocess`, and by asyncio with it: their ends are told in the recorded order.

Each is told by variables of its own environment, which are gone before its first line, that it is a child of a run.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Errand, Patches
from playhead.integrations._children import (
    attend,
    begin,
    child_of,
    counted_once,
    name_program,
    starting_lane,
    waiting,
)
from playhead.integrations._imports import when_imported


def install(patches: Patches) -> None:
    """Have the start and the end of programs cross the boundary."""

    def patch_subprocess(module: ModuleType) -> None:
        popen = module.Popen
        wait, expired = popen.wait, module.TimeoutExpired
        patches.replace(popen, "__init__", _starting(popen.__init__))
        patches.replace(popen, "wait", _waiting(wait, expired))
        patches.replace(popen, "communicate", _communicating(popen.communicate, expired))
        patches.replace(popen, "poll", _polling(popen.poll, wait))
        patches.replace(popen, "send_signal", _signalling(popen.send_signal))

    def patch_asyncio(module: ModuleType) -> None:
        transport = module.BaseSubprocessTransport
        patches.replace(transport, "_process_exited", _exiting(transport._process_exited))

    when_imported("subprocess", patch_subprocess, patches)
    when_imported("asyncio.base_subprocess", patch_asyncio, patches)


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @wraps(original)
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        lane = starting_lane()
        try:
            given = signature.bind(self, *args, **kwargs)
            name, words = name_program(given.arguments["args"], shell=bool(given.arguments.get("shell")))
        except Exception:  # arguments that only the original understands
            lane = None
        if lane is None:
            with counted_once():
                return original(self, *args, **kwargs)
        child = begin(lane, name, words)
        try:
            if child.ticket.errand is not None:
                _tell(given, child.ticket.errand)
            with counted_once():
                original(*given.args, **given.kwargs)
        except BaseException as error:
            child.fail(error)
            raise
        attend(self, child, self.pid)
        return None

    return start


def _tell(given: inspect.BoundArguments, errand: Errand) -> None:
    """Add to the environment that the program is given."""
    environment = given.arguments.get("env")
    if environment is None:
        environment = os.environ
    try:
        named = {os.fsdecode(name): value for name, value in environment.items()}
        added = errand.variables({name: os.fsdecode(value) for name, value in named.items()})
    except (AttributeError, TypeError, ValueError):
        return  # nothing that a program could be started with
    given.arguments["env"] = {**named, **added}


def _live(original: Callable[..., Any], expired: type[Exception], self: Any, timeout: float | None) -> int | None:
    with waiting():
        try:
            code: int = original(self, timeout)
        except expired:
            return None
    return code


def _waiting(original: Callable[..., Any], expired: type[Exception]) -> Callable[..., Any]:
    @wraps(original)
    def wait(self: Any, timeout: float | None = None) -> Any:
        child = child_of(self)
        if child is None or child.by_loop:
            return original(self, timeout)
        code = child.wait(timeout, partial(_live, original, expired, self))
        if code is None:
            raise expired(self.args, timeout)
        return code

    return wait


def _communicating(original: Callable[..., Any], expired: type[Exception]) -> Callable[..., Any]:
    @wraps(original)
    def communicate(self: Any, input: Any = None, timeout: float | None = None) -> Any:
        child = child_of(self)
        if child is None:
            return original(self, input, timeout)
        got: list[Any] = []

        def live(within: float | None) -> int | None:
            with waiting():
                try:
                    got.append(original(self, input, within))
                except expired:
                    return None
            code: int = self.returncode
            return code

        if child.wait(timeout, live) is None:
            raise expired(self.args, timeout)
        return got[0]

    return communicate


def _polling(original: Callable[..., Any], wait: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def poll(self: Any) -> Any:
        child = child_of(self)
        if child is None or child.by_loop:
            return original(self)
        if not child.may_be_asked():
            return None
        if child.is_held:
            with waiting():
                wait(self)
        code = original(self)
        if code is not None:
            child.learn(code, "poll")
        return code

    return poll


def _signalling(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def send_signal(self: Any, sig: int) -> Any:
        child = child_of(self)
        if child is not None:
            child.let_come(self.pid)
        return original(self, sig)

    return send_signal


def _exiting(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def exited(self: Any, returncode: int) -> None:
        child = child_of(self._proc)
        if child is None:
            original(self, returncode)
            return

        def tell() -> None:
            child.learn(returncode, "loop")
            original(self, returncode)

        turn = child.ticket.turn
        if turn is None or not child.is_held:
            tell()
        else:
            turn.call(tell)

    return exited
