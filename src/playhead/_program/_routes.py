"""Where a command finds whom to ask: the variables of each route, and who is asked where they say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from playhead.errors import UsageError
from playhead.eventlog import printable
from playhead.gateway import VARIABLES, set_address, usual_addresses

KEYS: Final = (
    *("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("GROQ_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY"),
)
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_NEXT: Final = "playhead gateway --route openai=https://api.openai.com/v1 -- COMMAND"


def find_routes(given: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The upstream base URLs by route: those that are ``given`` as ``NAME=URL``, those that are set, the usual ones.

    Raises `UsageError` where one of them is no address.
    """
    routes = usual_addresses(environment)
    for name, variables in VARIABLES.items():
        value = set_address(name, environment)
        if value is not None:
            routes[name] = _checked(value, variables[0])
    for text in given:
        name, sign, url = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise UsageError(f"--route takes NAME=URL, and {printable(text)} is not that", next=_NEXT)
        routes[name] = _checked(url, f"the route {name}")
    return routes


def set_variables(urls: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables by which a command finds the gateway, whose ``urls`` are given by route."""
    found = {variable: url for name, url in urls.items() for variable in variables_of(name)}
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in environment):
        kept = environment.get("no_proxy") or environment.get("NO_PROXY")
        found["no_proxy"] = found["NO_PROXY"] = f"{kept},127.0.0.1" if kept else "127.0.0.1"
    return found


def variables_of(route: str) -> tuple[str, ...]:
    """The variables in which a command looks for the base URL of a route."""
    return VARIABLES.get(route) or (f"{route.upper().replace('-', '_')}_BASE_URL",)


def _checked(url: str, place: str) -> str:
    try:
        found = urlsplit(url)
        usable = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
    except ValueError:
        usable = False
    if not usable or url.isascii() is False or any(sign in url for sign in "?# "):
        raise UsageError(f"{place} leads to {printable(url)}, which is no base URL", next=_NEXT)
    return url.rstrip("/")
