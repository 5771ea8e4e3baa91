"""Replacing functions where they are defined and where the agent's own modules have taken them by name.

``from time import time`` copies a name: the module's own replacement does not reach it. So the globals of the
agent's modules, and the attributes of the classes in them, are looked through once for functions from elsewhere.
Nothing is imported and no lazy attribute is asked for: only what already stands in a dictionary is seen.
"""

from __future__ import annotations

import sys
from _thread import LockType
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from playhead.boundary import Patches
from playhead.integrations._sites import current_scope

Known = Callable[[Any], Any]
"""What takes the place of a value, or ``None``."""

Place = tuple[Any, str, Any]
"""The globals of a module or a class, a name in them, and the function found there."""

originals: dict[int, tuple[Any, str]] = {}
"""The functions that are replaced at present, with their full names, by id."""

unreachable: list[str] = []
"""The reads that cannot be replaced in this interpreter; empty where all can."""


class Rebinding:
    """The replacements made with one `Patches`: those at home, then those in the agent's modules."""

    def __init__(self, patches: Patches) -> None:
        self._patches = patches
        self._there: dict[int, tuple[Any, Any]] = {}
        self._back: dict[int, tuple[Any, Any]] = {}
        self._known: list[tuple[Known, Known]] = []
        self._placed: list[tuple[Any, str, Any, Any]] = []
        self._seen = dict.fromkeys(map(id, sys.modules.values()))
        self._held = list(sys.modules.values())  # so that no id is used again
        self._places = [place for namespace in own_namespaces() for place in _look_through(namespace)]
        patches.add(self._restore)

    @classmethod
    def of(cls, patches: Patches) -> Rebinding:
        """The one for ``patches``. Its undoing is lowest on the pile, so it finds the originals at home again."""
        found = _all.get(patches)
        if found is None:
            found = _all[patches] = cls(patches)
        return found

    def replace(self, owner: Any, name: str, new: Any, full_name: str) -> None:
        """Put ``new`` in the place of ``owner.name``."""
        old = vars(owner)[name]
        self._patches.replace(owner, name, new)
        self._there.setdefault(id(old), (old, new))
        self._back[id(new)] = (new, old)
        originals[id(old)] = (old, full_name)

    def replace_maker(self, owner: Any, name: str, new: Any) -> None:
        """The same of what makes objects: to have made some before is no read that went unseen."""
        old = vars(owner)[name]
        self._patches.replace(owner, name, new)
        self._there.setdefault(id(old), (old, new))

    def replace_made(self, kinds: frozenset[type], make: Callable[[Any], Any]) -> None:
        """Replace the objects of these types in the agent's modules, and their classes, by what ``make`` gives."""
        for namespace in own_namespaces():
            for owner in (namespace, *own_classes(namespace)):
                for name, old in list(_entries(owner).items()):
                    if type(old) in kinds:
                        new = make(old)
                        _assign(owner, name, new)
                        self._placed.append((owner, name, old, new))

    def also(self, there: Known, back: Known) -> None:
        """Replace as well what ``there`` knows: values made anew at each look, which are not told by identity."""
        self._known.append((there, back))

    def spread(self) -> None:
        """Replace the same functions in the agent's modules."""
        for owner, name, old in self._places:
            new = self._find(self._there, old, 0)
            if new is not None and _entries(owner).get(name) is old:
                _assign(owner, name, new)
                self._placed.append((owner, name, old, new))

    def _find(self, known: dict[int, tuple[Any, Any]], value: Any, direction: int) -> Any:
        pair = known.get(id(value))
        if pair is not None:
            return pair[1]
        return next((new for also in self._known if (new := also[direction](value)) is not None), None)

    def _restore(self) -> None:
        _all.pop(self._patches, None)
        for owner, name, old, new in reversed(self._placed):
            if _entries(owner).get(name) is new:
                _assign(owner, name, old)
        for owner, name, new in self._taken_meanwhile():
            old = self._find(self._back, new, 1)
            if old is not None:
                _assign(owner, name, old)
        for key in self._there:
            originals.pop(key, None)

    def _taken_meanwhile(self) -> list[Place]:
        """The functions in modules that were loaded since, and in those of the agent, which may have been reloaded."""
        owns = current_scope().owns_module
        places: list[Place] = []
        for module in list(sys.modules.values()):
            namespace = namespace_of(module)
            if namespace is not None and (id(module) not in self._seen or owns(namespace)):
                places += _look_through(namespace)
        return [place for place in places if type(place[2]) is MethodType]


_all: WeakKeyDictionary[Patches, Rebinding] = WeakKeyDictionary()


def namespace_of(module: object) -> dict[str, Any] | None:
    """The globals of a module as they stand, or ``None`` where it is something else in `sys.modules`."""
    if not issubclass(type(module), ModuleType):
        return None
    found: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return found


def own_namespaces() -> list[dict[str, Any]]:
    """The globals of the agent's own modules."""
    owns = current_scope().owns_module
    found = map(namespace_of, list(sys.modules.values()))
    return [namespace for namespace in found if namespace is not None and owns(namespace)]


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


def _look_through(namespace: dict[str, Any]) -> list[Place]:
    """The functions from elsewhere in a module and its classes."""
    owners: list[Any] = [namespace, *own_classes(namespace)]
    return [
        (owner, name, value)
        for owner in owners
        for name, value in list(_entries(owner).items())
        if (kind := type(value)) is BuiltinFunctionType
        or kind is MethodType
        or (kind is FunctionType and value.__globals__ is not namespace)
        or value is LockType
    ]


def _entries(owner: Any) -> Any:
    return owner if type(owner) is dict else type.__getattribute__(owner, "__dict__")


def _assign(owner: Any, name: str, value: Any) -> None:
    if type(owner) is dict:
        owner[name] = value
    else:
        type.__setattr__(owner, name, value)
