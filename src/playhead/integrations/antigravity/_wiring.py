"""Where the harness is sent for its models: to their own addresses, or to a gateway that stands before them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal, Protocol

from playhead.integrations.antigravity._frames import endpoints


class Gateway(Protocol):
    """A place on this machine through which requests to models go."""

    def route(self, kind: Literal["gemini", "vertex", "openai"], base_url: str | None) -> str:
        """The base URL under which the models at ``base_url`` are reached through it; ``None`` means the usual one."""
        ...


def point_at(frame: Any, gateway: Gateway) -> Any:
    """The configuration with its models behind ``gateway``; any other frame as it is. Keys stay, for the models."""
    frame = deepcopy(frame)
    for kind, endpoint in endpoints(frame):
        endpoint["baseUrl"] = gateway.route(kind, endpoint.get("baseUrl") or None)  # type: ignore[arg-type]
    return frame
