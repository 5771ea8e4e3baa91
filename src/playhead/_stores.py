"""The store that settings name."""

from __future__ import annotations

from playhead._configuration import Settings, read_settings, store_path
from playhead.stores import LocalStore


def choose_store(settings: Settings | None = None) -> LocalStore:
    """The store of ``settings`` (those that hold here)."""
    return LocalStore(store_path(settings or read_settings()))
