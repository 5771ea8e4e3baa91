"""Names of a package that are imported when they are first used, so that importing it costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A ``__getattr__`` for ``package``: it finds each name in the module of the package that ``homes`` gives for it.

    Raises `AttributeError` for another name.
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find
