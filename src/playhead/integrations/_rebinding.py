"""Replacing functions where they are defined and where the agent's own modules have taken them by name.

``from time import time`` copies a name: the module's own replacement does not reach it. So the globals of the
agent's modules, and the attributes of the classes in them, are looked through for the originals. Nothing is
imported and no lazy attribute is asked for: only what already stands in a dictionary is seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import MappingProxyType, ModuleType
from typing import Any

from playhead.boundary import Patches
from playhead.integrations._sites import current_scope

Known = Callable[[Any], Any]
"""What takes the place of a value, or ``None``."""

originals: dict[int, tuple[Any, str]] = {}
"""The functions that are replaced at present, with their full names, by id."""

unreachable: list[str] = []
"""The reads that cannot be replaced in this interpreter; empty where all can."""


class Rebinding:
    """The replacements of one integration: those at home, then those in the agent's modules.

    ``also`` and ``back`` know further values that are made anew at each look (bound methods) and cannot be
    told by identity.
    """

    def __init__(self, patches: Patches, *, also: Known | None = None, back: Known | None = None) -> None:
        self._patches = patches
        self._there: dict[int, tuple[Any, Any]] = {}
        self._back: dict[int, tuple[Any, Any]] = {}
        self._also = also
        self._also_back = back
        self._placed: list[tuple[Any, str, Any, Any]] = []
        self._seen: dict[int, object] = {}  # held, so that no id is used again
        # First on the pile, so last to be undone: `back` then finds the originals at home again.
        patches.add(self._restore)

    def replace(self, owner: Any, name: str, new: Any, full_name: str) -> None:
        """Put ``new`` in the place of ``owner.name``."""
        old = vars(owner)[name]
        self._patches.replace(owner, name, new)
        self._there.setdefault(id(old), (old, new))
        self._back[id(new)] = (new, old)
        originals[id(old)] = (old, full_name)

    def spread(self) -> None:
        """Replace the same functions in the agent's modules."""
        owns = current_scope().owns_module
        self._seen = {id(module): module for module in list(sys.modules.values())}
        for module in self._seen.values():
            namespace = namespace_of(module)
            if namespace is not None and owns(namespace):
                for owner, name, old, new in _matches(namespace, self._there, self._also):
                    _assign(owner, name, new)
                    self._placed.append((owner, name, old, new))

    def _restore(self) -> None:
        for owner, name, old, new in reversed(self._placed):
            if _entries(owner).get(name) is new:
                _assign(owner, name, old)
        owns = current_scope().owns_module
        for module in list(sys.modules.values()):
            namespace = namespace_of(module)
            if namespace is not None and (id(module) not in self._seen or owns(namespace)):
                for owner, attribute, _, old in _matches(namespace, self._back, self._also_back):
                    _assign(owner, attribute, old)
        for key in self._there:
            originals.pop(key, None)
        self._seen.clear()


def namespace_of(module: object) -> dict[str, Any] | None:
    """The globals of a module as they stand, or ``None`` where it is something else in `sys.modules`."""
    if not issubclass(type(module), ModuleType):
        return None
    found: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return found


def own_classes(namespace: dict[str, Any]) -> Iterator[type]:
    """The classes that the module with these globals has defined, with those defined inside them."""
    name = namespace.get("__name__")
    found = [value for value in list(namespace.values()) if issubclass(type(value), type)]
    seen: set[int] = set()
    while found:
        owner = found.pop()
        entries = _entries(owner)
        if id(owner) in seen or entries.get("__module__") != name:
            continue
        seen.add(id(owner))
        yield owner
        found += [value for value in list(entries.values()) if issubclass(type(value), type)]


def _matches(
    namespace: dict[str, Any], known: dict[int, tuple[Any, Any]], also: Known | None
) -> list[tuple[Any, str, Any, Any]]:
    owners: list[Any] = [namespace, *own_classes(namespace)]
    found = []
    for owner in owners:
        for name, value in list(_entries(owner).items()):
            pair = known.get(id(value))
            new = pair[1] if pair is not None else also(value) if also is not None else None
            if new is not None:
                found.append((owner, name, value, new))
    return found


def _entries(owner: Any) -> Any:
    return owner if type(owner) is dict else _class_entries(owner)


def _class_entries(owner: type) -> MappingProxyType[str, Any]:
    return type.__getattribute__(owner, "__dict__")  # type: ignore[no-any-return]


def _assign(owner: Any, name: str, value: Any) -> None:
    if type(owner) is dict:
        owner[name] = value
    else:
        type.__setattr__(owner, name, value)
