"""The store that settings name."""

from __future__ import annotations

import os
from pathlib import Path

from playhead._configuration import Settings, read_settings
from playhead.stores import LocalStore, find_store


def store_path(settings: Settings) -> Path:
    """Where recordings are kept: the ``store`` setting, else the project's place for them."""
    if settings.store is None:
        return find_store()
    return Path(settings.base, os.path.expanduser(settings.store))


def choose_store(settings: Settings | None = None) -> LocalStore:
    """The store of ``settings`` (those that hold here)."""
    return LocalStore(store_path(settings or read_settings()))
