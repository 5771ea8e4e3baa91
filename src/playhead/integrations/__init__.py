"""One narrow file for each library whose calls cross the boundary, and for clock, chance and lanes."""

from __future__ import annotations

from importlib import import_module

from playhead.boundary import Installer, Patches

__all__ = ["INSTALLERS"]


def _installer(name: str) -> Installer:
    """The ``install`` of one file, which is imported when it is called."""

    def install(patches: Patches) -> None:
        import_module(f"playhead.integrations.{name}").install(patches)

    return install


INSTALLERS: tuple[Installer, ...] = tuple(
    map(_installer, ("tasks", "threads", "clock", "datetimes", "chance", "httpx", "urllib3", "aiohttp", "websockets"))
)
"""Applies the patches of everything that is recorded, in order."""
