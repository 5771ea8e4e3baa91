"""Putting the boundary into the SDK: which of its names are replaced, and what is said where one has changed."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Patches, current_lane, pass_uncaptured
from playhead.errors import PlayheadWarning
from playhead.integrations._imports import when_imported

KNOWN_VERSIONS = ("0.1.22",)
"""The versions of google-antigravity that this was tried with."""

_CONNECTION = "google.antigravity.connections.local.local_connection"
_PROCESSOR = "google.antigravity.connections.local.event_processor"
_RUNNER = "google.antigravity.tools.tool_runner"
_POLICY = "google.antigravity.hooks.policy"

_EXPECTED = {
    (_CONNECTION, "_get_default_binary_path"): ("env",),
    (_CONNECTION, "LocalConnectionStrategy._validate_connection"): ("self",),
    (_CONNECTION, "LocalConnectionStrategy._spawn_harness_and_connect_ws"): ("self", "use_interactions_api"),
    (_CONNECTION, "LocalConnection._start_stderr_reader"): ("self", "stderr_stream"),
    (_CONNECTION, "LocalConnection._send_input_event"): ("self", "event"),
    (_CONNECTION, "LocalConnection.receive_steps"): ("self",),
    (_PROCESSOR, "BaseLocalEventProcessor._dispatch_question_interaction"): ("self", "questions_list"),
    (_RUNNER, "ToolRunner.process_tool_calls"): ("self", "tool_calls"),
    (_RUNNER, "ToolRunner.execute"): ("self", "tool_name", "kwargs"),
    (_RUNNER, "ToolRunner._execute_fn"): ("self", "fn", "kwargs"),
    (_POLICY, "_execute_ask_user"): ("policy", "tool_call", "reason"),
}
"""What is replaced, and the parameters that it has."""


def install(patches: Patches) -> None:
    """Have the conversations with harnesses cross the boundary, once the SDK is imported."""

    def patch(connection: ModuleType) -> None:
        changed = find_changed(sys.modules)
        if changed:
            _say(changed, connection, patches)
        else:
            _replace(patches)

    when_imported(_CONNECTION, patch, patches)


def find_changed(modules: Any) -> list[str]:
    """The names that the SDK in ``modules`` does not have as expected."""
    return [
        f"{module}.{path}"
        for (module, path), parameters in _EXPECTED.items()
        if _parameters(modules.get(module), path) != parameters
    ]


def _parameters(owner: Any, path: str) -> tuple[str, ...] | None:
    for name in path.split("."):
        owner = getattr(owner, name, None)
    try:
        return tuple(inspect.signature(owner).parameters)
    except (TypeError, ValueError):
        return None


def _replace(patches: Patches) -> None:
    from playhead.integrations.antigravity import _starting, _tools

    around: dict[str, Callable[..., Any]] = {
        "_get_default_binary_path": _starting.finding,
        "_validate_connection": _starting.checking,
        "_spawn_harness_and_connect_ws": lambda original: _starting.starting(original, _version()),
        "_start_stderr_reader": _starting.reading,
        "_send_input_event": _starting.sending,
        "receive_steps": _starting.receiving,
        "_dispatch_question_interaction": _tools.questioning,
        "process_tool_calls": _tools.processing,
        "execute": _tools.executing,
        "_execute_fn": _tools.calling,
        "_execute_ask_user": _tools.asking,
    }
    for module, path in _EXPECTED:
        *owners, name = path.split(".")
        owner: Any = sys.modules[module]
        for each in owners:
            owner = getattr(owner, each)
        patches.replace(owner, name, around[name](getattr(owner, name)))


def _say(changed: Iterable[str], connection: ModuleType, patches: Patches) -> None:
    """Nothing can be replaced: that is said now, and in each recording; a replay refuses to start a harness."""
    warnings.warn(
        f"google-antigravity {_version()} is not recorded: {', '.join(changed)} changed; "
        f"known to work: {', '.join(KNOWN_VERSIONS)}",
        PlayheadWarning,
        stacklevel=2,
    )
    strategy = connection.LocalConnectionStrategy
    original = strategy.__aenter__

    @wraps(original)
    async def enter(self: Any) -> Any:
        lane = current_lane()
        if lane is not None and not lane.opaque:
            pass_uncaptured(lane, "Antigravity conversation", f"google-antigravity {_version()}")
        return await original(self)

    patches.replace(strategy, "__aenter__", enter)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # slow to import, and a run seldom asks

    try:
        return version("google-antigravity")
    except PackageNotFoundError:
        return "of an unknown version"
