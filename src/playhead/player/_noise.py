"""What another process makes anew each time it runs, taken out of what it asks a model.

Ids, times and temporary folders differ between two runs of one agent without anything having changed. Ids and folders
are renamed in the order in which a request names them, so that two that were one stay one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from playhead.player._requests import Request

_NAMED: Final = re.compile(
    r"(?P<id>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b)"
    r"|(?P<folder>(?:/private)?(?:/tmp|/var/tmp|/var/folders/[^/\s]+/[^/\s]+/T)/[\w.+-]+)"
)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d| [A-Z]{3,4})?")
_SESSION: Final = frozenset({"sessionId", "session_id"})


def without_noise(request: Request) -> Request:
    """``request`` to a model with neutral ids, times and temporary folders; any other as it is."""
    if request.boundary != "model":
        return request
    return msgspec.structs.replace(request, content=_neutral(request.content, {}))


def _neutral(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _MOMENT.sub("[time]", _NAMED.sub(lambda found: _name(found, names), value))
    if isinstance(value, Mapping):
        return {key: _neutral(value[key], names) for key in sorted(value) if key not in _SESSION}
    if isinstance(value, list | tuple):
        return [_neutral(each, names) for each in value]
    return value


def _name(found: re.Match[str], names: dict[str, str]) -> str:
    return names.setdefault(found[0], f"[{found.lastgroup} {len(names) + 1}]")
