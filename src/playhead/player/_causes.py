"""Naming what is behind a difference, where it can be recognised."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from playhead.player._differences import Difference
from playhead.player._masked import name_changed, without_placeholders

_CHANGED = {
    "user": "the user's message changed",
    "assistant": "an earlier answer of the model changed",
    "model": "an earlier answer of the model changed",
    "tool": "an earlier tool result changed",
}
_TRACE = re.compile(r'File "[^"]*", line \d+|\bat 0x[0-9a-f]+|Traceback \(most recent call last\)')


def name_causes(differences: Iterable[Difference], recorded: Any = None) -> tuple[str, ...]:
    """The recognised causes, each once, in the order of the differences. ``recorded`` is the recorded request."""
    found: dict[str, None] = {}
    listed = list(differences)
    if _is_reordering(listed):
        found["order of tool results"] = None
    for difference in listed:
        masked = name_changed(difference)
        if masked is not None:
            found[masked] = None
            if without_placeholders(difference.recorded) == without_placeholders(difference.asked):
                continue
        cause = _cause(difference, _role_at(difference.path, recorded))
        if cause:
            found[cause] = None
    return tuple(found)


def _cause(difference: Difference, role: str | None) -> str | None:
    path, recorded, asked = difference.path, difference.recorded, difference.asked
    if role in ("system", "developer"):
        return "system prompt changed"
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
        return _CHANGED.get(role or "", "an earlier message or tool result changed")
    return "the user's message changed" if path == "/input" else None


def _role_at(path: str, recorded: Any) -> str | None:
    """Whose message ``path`` lies in; ``system`` also for a prompt that stands beside the messages."""
    if path.startswith(("/system", "/instructions", "/systemInstruction")):
        return "system"
    found = re.match(r"/(messages|input|contents)/(\d+)/", path)
    if found is None or not isinstance(recorded, dict):
        return None
    messages = recorded.get(found[1])
    at = int(found[2])
    message = messages[at] if isinstance(messages, list) and at < len(messages) else None
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else None


def _is_reordering(differences: list[Difference]) -> bool:
    """Whether the same list items stand in another order."""
    changed = [each for each in differences if each.kind == "changed" and re.search(r"/\d+/", each.path)]
    gone = sorted(repr(each.recorded) for each in changed)
    new = sorted(repr(each.asked) for each in changed)
    return len(changed) > 1 and gone == new
