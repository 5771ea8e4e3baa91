"""`websockets` (asyncio, sync, trio and legacy clients): a session over one is not captured, and that is said.

Each client looks at its address right before it connects. There a recording is told that something went by
unrecorded, and a replay refuses.
"""

from __future__ import annotations

from functools import partial, wraps
from types import ModuleType
from typing import Any

from playhead.boundary import Patches, current_lane, pass_uncaptured
from playhead.integrations._imports import when_imported


def install(patches: Patches) -> None:
    """Have the connections of `websockets` clients noticed, once one of them is imported."""
    for name in ("asyncio", "sync", "trio", "legacy"):
        when_imported(f"websockets.{name}.client", partial(_instrument, patches=patches), patches)


def _instrument(client: ModuleType, *, patches: Patches) -> None:
    parse_uri = client.parse_uri

    @wraps(parse_uri)
    def noticed(uri: str) -> Any:
        address = parse_uri(uri)
        lane = current_lane()
        place = f"{address.host}:{address.port}"
        if lane is not None and not lane.opaque and not lane.session.ignores(place):
            scheme = "wss" if address.secure else "ws"
            pass_uncaptured(lane, "websocket", f"{scheme}://{place}{address.path}")
        return address

    patches.replace(client, "parse_uri", noticed)
