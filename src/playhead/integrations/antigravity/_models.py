"""The models of a harness: it is sent to a gateway before them, so that what it asks of them is recorded as well."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from playhead.boundary import Lane, pass_uncaptured
from playhead.gateway import Gateway, set_address, usual_addresses
from playhead.integrations.antigravity._frames import endpoints

_KEYS = frozenset({"GEMINI_API_KEY", "GOOGLE_API_KEY"})
_ON_THE_WAY = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"})
"""What a harness is told of its way to the models, which a gateway would not go."""


def stand_before(frame: Any, lane: Lane, environment: Mapping[str, str]) -> tuple[Any, Gateway | None]:
    """The configuration with its models behind a gateway that is running, and the gateway.

    ``environment`` is the part of the harness's own that the program gives it. Models whose address is not known, or
    whose host lies outside the run, are reached as before; where that are all of them there is no gateway. Raises what
    a session has to say of that where nothing may be reached.
    """
    wire, sent = deepcopy(frame), []
    routes: dict[str, str] = {}
    known = {**os.environ, **environment}
    for kind, endpoint in endpoints(wire):
        base = endpoint.get("baseUrl") or _address(kind, endpoint, known)
        is_foreign = base is not None and lane.session.ignores(urlsplit(base).netloc.rpartition("@")[2])
        if base is None or is_foreign or not _ON_THE_WAY.isdisjoint(map(str.upper, environment)):
            if not is_foreign or lane.session.forbids_network:
                pass_uncaptured(lane, "Antigravity model", f"{kind} at {base or 'its usual address'}")
        else:
            route = next((name for name, there in routes.items() if there == base), f"{kind}-{len(routes) + 1}")
            routes[route] = base
            sent.append((endpoint, route))
            if kind == "gemini" and _KEYS.isdisjoint(known):
                endpoint["apiKey"] = endpoint.get("apiKey") or "none"  # looked for before, unless nobody real is asked
    if not sent:
        return frame, None
    gateway = Gateway(lane.child("antigravity.models", by="antigravity", behind=True), routes)
    gateway.__enter__()
    for endpoint, route in sent:
        endpoint["baseUrl"] = gateway.url(route)
    return wire, gateway


def _address(kind: str, endpoint: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """Where a harness looks for models of which its configuration does not say it; ``None`` where that is not known.

    Without a key Vertex depends on project and region. A compatible server has no usual place.
    """
    if kind == "openai":
        return None
    usual = usual_addresses({})[kind] if kind == "gemini" or endpoint.get("apiKey") else None
    return set_address(kind, environment) or usual
