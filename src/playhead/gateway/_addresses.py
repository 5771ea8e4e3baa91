"""Where models are: the variables that say so for each route, and their usual base URLs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VARIABLES: Final = {
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
    "anthropic": ("ANTHROPIC_BASE_URL",),
    "gemini": ("GOOGLE_GEMINI_BASE_URL",),
    "vertex": ("GOOGLE_VERTEX_BASE_URL",),
    "anthropic-vertex": ("ANTHROPIC_VERTEX_BASE_URL",),
}
"""By route: the first that is set says who is asked."""


def set_address(route: str, environment: Mapping[str, str]) -> str | None:
    """The base URL of a route that an environment says."""
    return next((environment[name] for name in VARIABLES.get(route, ()) if environment.get(name)), None)


def usual_addresses(environment: Mapping[str, str]) -> dict[str, str]:
    """The base URLs by route of whom one asks where nothing says otherwise but the region."""
    usual = {
        "openai": "https://api.openai.com/v1",
        "anthropic": "https://api.anthropic.com",
        "gemini": "https://generativelanguage.googleapis.com",
        "vertex": _vertex(environment.get("GOOGLE_CLOUD_LOCATION")),
    }
    region = environment.get("CLOUD_ML_REGION")
    return {**usual, "anthropic-vertex": f"{_vertex(region)}/v1"} if region else usual


def _vertex(location: str | None) -> str:
    place = "" if location in (None, "", "global") else f"{location}-"
    return f"https://{place}aiplatform.googleapis.com"
