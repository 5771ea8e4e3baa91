"""Naming what is behind a difference, where it can be recognised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from playhead.player._differences import Difference

_TRACE = re.compile(r'File "[^"]*", line \d+|\bat 0x[0-9a-f]+|Traceback \(most recent call last\)')


def name_causes(differences: Iterable[Difference], recorded: Any = None) -> tuple[str, ...]:
    """The recognised causes, each once, in the order of the differences. ``recorded`` is the recorded request."""
    found: dict[str, None] = {}
    listed = list(differences)
    if _is_reordering(listed):
        found["order of tool results"] = None
    for difference in listed:
        cause = "system prompt changed" if _in_system(difference.path, recorded) else _cause(difference)
        if cause:
            found[cause] = None
    return tuple(found)


def _cause(difference: Difference) -> str | None:
    path, recorded, asked = difference.path, difference.recorded, difference.asked
    if path == "/model":
        return f"model id changed: {recorded} → {asked}"
    if path.startswith(("/tools", "/functions")):
        return "tool schema changed"
    if path.startswith(("/temperature", "/seed", "/top_p", "/max_", "/generationConfig")):
        return "parameters changed"
    if difference.renaming:
        return "opaque id, time or address"
    if isinstance(recorded, str) and isinstance(asked, str) and _TRACE.search(recorded) and _TRACE.search(asked):
        return "traceback text: path, line, address"
    if difference.kind == "added" and re.fullmatch(r"/(messages|input|contents)/\d+", path):
        return "a message was added to the conversation"
    if difference.kind == "removed" and re.fullmatch(r"/(messages|input|contents)/\d+", path):
        return "a message is missing from the conversation"
    if re.match(r"/(messages|input|contents)/\d+", path):
        return "an earlier message or tool result changed"
    return None


def _in_system(path: str, recorded: Any) -> bool:
    if path.startswith(("/system", "/instructions", "/systemInstruction")):
        return True
    found = re.match(r"/(messages|input)/(\d+)/", path)
    if found is None or not isinstance(recorded, dict):
        return False
    messages = recorded.get(found[1])
    at = int(found[2])
    message = messages[at] if isinstance(messages, list) and at < len(messages) else None
    return isinstance(message, dict) and message.get("role") in ("system", "developer")


def _is_reordering(differences: list[Difference]) -> bool:
    """Whether the same list items stand in another order."""
    changed = [each for each in differences if each.kind == "changed" and re.search(r"/\d+/", each.path)]
    gone = sorted(repr(each.recorded) for each in changed)
    new = sorted(repr(each.asked) for each in changed)
    return len(changed) > 1 and gone == new
