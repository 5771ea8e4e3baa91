"""One narrow file for each library whose calls cross the boundary, and for clock, chance and lanes."""

from __future__ import annotations

from importlib import import_module

from playhead.boundary import Installer, Patches
from playhead.integrations._captured import Captured, find_captured
from playhead.integrations._scope import Scope
from playhead.integrations._sites import current_scope, set_scope
from playhead.integrations._zone import apply_zone, read_zone

__all__ = ["INSTALLERS", "Captured", "Scope", "apply_zone", "current_scope", "find_captured", "read_zone", "set_scope"]


def _installer(name: str) -> Installer:
    """The ``install`` of one file, which is imported when it is called."""

    def install(patches: Patches) -> None:
        import_module(f"playhead.integrations.{name}").install(patches)

    return install


INSTALLERS: tuple[Installer, ...] = tuple(
    map(
        _installer,
        (
            "tasks",
            "wakeups",
            "threads",
            "anyio",
            "langchain",
            "waits",
            "locks",
            "sleeps",
            "clock",
            "datetimes",
            "chance",
            "httpx",
            "urllib3",
            "aiohttp",
            "websockets",
            "antigravity",
            "processes",
            "subprocess",
            "multiprocessing",
            "process_pools",
        ),
    )
)
"""Applies the patches of everything that is recorded, in order."""
