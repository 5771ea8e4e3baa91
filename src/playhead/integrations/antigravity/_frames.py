"""Frames of the conversation with the harness: what they are called, what of them is compared, and how they grow.

A frame is the JSON of one message of the harness's protocol. Of a step it says all that it has said before once more,
so what is kept of such a frame is what is new.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Tree = Any
"""What JSON can hold."""

_NAMES = {
    "config": "configure",
    "userInput": "user_input",
    "toolResponse": "tool_response",
    "toolConfirmation": "tool_confirmation",
    "callHookResponse": "hook_response",
    "policyDecisionResponse": "policy_response",
    "questionResponse": "question_response",
    "haltRequest": "halt",
    "automatedTrigger": "trigger",
    "sessionEndRequest": "session_end",
}
_LONG = 24
"""Texts of fewer letters are written out each time."""

_IDENTITY = frozenset({"/cascadeId", "/trajectoryId", "/parentTrajectoryId"})

_CREDENTIALS = frozenset({"apiKey", "api_key"})
_NAMED_VALUES = frozenset({"env", "headers", "httpHeaders", "http_headers"})
_PATHS = frozenset({"appDataDir", "directory", "skillsPaths"})
_SCRIPT = re.compile(r"[^\s`'\"]*\.agy_workflow_(\w*?)_[a-z0-9_]{8}\.py")
"""A workflow that was written to a temporary file: its folder and the end of its name are new each time."""


def name_frame(frame: Tree) -> str:
    """What a frame to the harness is called: ``user_input``, ``tool_response`` and so on."""
    if isinstance(frame, dict):
        for key in frame:
            if key in _NAMES:
                return _NAMES[key]
        for key in frame:
            if key not in ("type", "event_type"):
                return snake(key)
    return "send"


def comparable(frame: Tree) -> Tree:
    """A frame to the harness without what differs from one machine, or one key, to the next.

    Keys are left out and headers and variables named only: a replay needs none. Folders are told from that of the user
    and the one the program runs in.
    """
    match frame:
        case dict():
            return {key: _comparable_entry(key, value) for key, value in frame.items() if key not in _CREDENTIALS}
        case list():
            return [comparable(each) for each in frame]
        case str():
            return _SCRIPT.sub(r".agy_workflow_\1.py", frame) if ".agy_workflow_" in frame else frame
        case _:
            return frame


def _comparable_entry(key: str, value: Tree) -> Tree:
    if key in _NAMED_VALUES and isinstance(value, dict):
        return sorted(name for name in value if name.lower() not in _KEY_HEADERS)
    if key in _PATHS:
        return [_told_from_here(each) for each in value] if isinstance(value, list) else _told_from_here(value)
    return comparable(value)


_KEY_HEADERS = frozenset({"authorization", "x-goog-api-key", "api-key", "x-api-key"})


def _told_from_here(path: Tree) -> Tree:
    if not isinstance(path, str):
        return path
    for start, sign in ((os.getcwd(), "."), (str(Path.home()), "~")):
        if path == start or path.startswith(start.rstrip(os.sep) + os.sep):
            return sign + path[len(start.rstrip(os.sep)) :]
    return path


class Growth:
    """The steps of one conversation as they grow; one of it shortens, another makes the frames whole again."""

    def __init__(self) -> None:
        self._known: dict[tuple[Tree, Tree], Tree] = {}

    def shorten(self, frame: Tree) -> dict[str, Tree]:
        """The frame with only what is new in each of its long texts, and the places of those that go on."""
        step = _step(frame)
        if step is None:
            return {"frame": frame}
        before = self._take(step)
        continued: list[str] = []
        short = _shorten(before, step, "", continued)
        kept = {"frame": {**frame, "stepUpdate": short}}
        return {**kept, "continued": continued} if continued else kept

    def lengthen(self, kept: dict[str, Tree]) -> Tree:
        """The whole frame again."""
        frame = kept["frame"]
        step = _step(frame)
        if step is None:
            return frame
        whole = _lengthen(self._known.get(_key(step)), step, "", frozenset(kept.get("continued", ())))
        self._take(whole)
        return {**frame, "stepUpdate": whole}

    def _take(self, step: Tree) -> Tree:
        key = _key(step)
        before = self._known.pop(key, None)
        if not is_finished(step):
            self._known[key] = step
        return before


def is_finished(step: Tree) -> bool:
    """Whether nothing more comes of a step."""
    return step.get("state") in ("STATE_DONE", "STATE_ERROR")


def _step(frame: Tree) -> Tree:
    step = frame.get("stepUpdate") if isinstance(frame, dict) else None
    return step if isinstance(step, dict) else None


def _key(step: Tree) -> tuple[Tree, Tree]:
    return str(step.get("trajectoryId")), str(step.get("stepIndex"))


def _shorten(before: Tree, now: Tree, path: str, continued: list[str]) -> Tree:
    if path in _IDENTITY:
        return now
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: _shorten(before.get(key), value, f"{path}/{key}", continued) for key, value in now.items()}
    if isinstance(now, str) and isinstance(before, str) and len(before) >= _LONG and now.startswith(before):
        continued.append(path)
        return now[len(before) :]
    return now


def _lengthen(before: Tree, now: Tree, path: str, continued: frozenset[str]) -> Tree:
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: _lengthen(before.get(key), value, f"{path}/{key}", continued) for key, value in now.items()}
    return before + now if path in continued and isinstance(before, str) and isinstance(now, str) else now


def snake(name: str) -> str:
    """``commandLine`` as ``command_line``."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    """``command_line`` as ``commandLine``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def endpoints(frame: Tree) -> Iterator[tuple[str, Tree]]:
    """The places of a configuration that say where models are, by kind: ``gemini``, ``vertex`` or ``openai``."""
    config = frame.get("config") if isinstance(frame, dict) else None
    for model in config.get("models", ()) if isinstance(config, dict) else ():
        for key, kind in _ENDPOINTS.items():
            if isinstance(model.get(key), dict):
                yield kind, model[key]


_ENDPOINTS = {"geminiApiEndpoint": "gemini", "vertexEndpoint": "vertex", "gemmaEndpoint": "openai"}
