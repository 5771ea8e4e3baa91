"""Classes by name, and the state of their instances, without running any code of theirs.

A class is written as ``module:qualname``. It is found again only among what the program has imported already:
nothing is imported, no attribute hook (of modules, metaclasses or instances) is run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MemberDescriptorType, ModuleType
from typing import Any

from playhead.errors import MissingTypeError, ValueRefusedError

Slots = Mapping[str, MemberDescriptorType]

_HEAP_TYPE = 1 << 9
_module_of = type.__dict__["__module__"].__get__
_qualname_of = type.__dict__["__qualname__"].__get__
_namespace_of = type.__dict__["__dict__"].__get__


def class_name(cls: type) -> str:
    """``module:qualname`` of a class. Never raises."""
    try:
        module = _module_of(cls)
    except AttributeError:
        module = None
    name = f"{module if type(module) is str else '?'}:{_qualname_of(cls)}"
    return name if name.isascii() else name.encode("utf-8", "replace").decode()


def class_attribute(cls: type, name: str) -> Any:
    """An attribute of a class as it lies in its namespace or a base's, not bound; ``None`` where there is none."""
    for base in cls.__mro__:
        namespace = _namespace_of(base)
        if name in namespace:
            return namespace[name]
    return None


def is_python_class(cls: type) -> bool:
    """Whether a class was made by a class statement (or looks like it), rather than compiled into a module."""
    return bool(cls.__flags__ & _HEAP_TYPE)


def find_class(name: Any, kind: str, is_kind: Callable[[type], bool]) -> type:
    """The class that a recording names, where it is here and really of this kind.

    Raises `MissingTypeError` where its module is not imported, the path leads to no class, or the class is of
    another kind; `ValueRefusedError` where the name is no name.
    """
    if type(name) is not str or not 2 < len(name) < 2000 or name.count(":") != 1:
        raise refused("a recorded value names its class in a form that is not module:qualname")
    module_name, _, qualname = name.partition(":")
    module = sys.modules.get(module_name)
    if not isinstance(module, ModuleType):
        raise missing(name, kind, "its module is not imported in this program")
    found = _lookup(ModuleType.__getattribute__(module, "__dict__"), qualname)
    if not isinstance(found, type):
        raise missing(name, kind, "its module has no such class now")
    if not is_kind(found):
        raise missing(name, kind, "the class of that name is of another kind now")
    if class_attribute(found, "__del__") is not None:
        raise missing(name, kind, "its instances run code when they are dropped, so none is made")
    return found


def _lookup(namespace: Mapping[str, Any], qualname: str) -> Any:
    # A generic pydantic model is called Box[pkg.Item] and lies in its module under that whole name.
    if qualname in namespace:
        return namespace[qualname]
    found: Any = None
    for part in qualname.split("."):
        found = namespace.get(part)
        if not isinstance(found, type):
            return None
        namespace = _namespace_of(found)
    return found


def missing(name: str, kind: str, reason: str, *, why: str = "missing type") -> MissingTypeError:
    """The error that says which class a recorded value needs and why it cannot be had; ``why`` in two words."""
    module, _, qualname = name.partition(":")
    shown = ascii(name[:200])[1:-1]
    if why == "missing type":
        command = f"import {ascii(module[:100])[1:-1]} before the replay, or record the run again"
    else:
        command = "playhead show RUN#STEP"
    return MissingTypeError(
        f"a recorded {kind} cannot be rebuilt: {shown}: {reason}",
        next=command,
        facts={"module": module, "qualname": qualname, "kind": kind, "reason": reason, "why": why},
    )


def refused(message: str, *, tag: Any = None) -> ValueRefusedError:
    """The error that says what is wrong with a tree; of the tree itself it shows at most the tag."""
    shown = f": {tag[:40]!a}" if type(tag) is str else ""
    return ValueRefusedError(message + shown, next="playhead verify RUN")


def slots_of(cls: type) -> Slots:
    """The slots that Python classes in the line of ``cls`` declared, by name."""
    return {
        name: member
        for base in reversed(cls.__mro__)
        if is_python_class(base) and "__slots__" in _namespace_of(base)
        for name, member in _namespace_of(base).items()
        if type(member) is MemberDescriptorType
    }


def read_state(value: Any, slots: Slots) -> dict[str, Any]:
    """What an instance holds in its slots and its ``__dict__`` (a fresh dict, values by reference)."""
    state = {}
    for name, member in slots.items():
        try:
            state[name] = member.__get__(value)
        except AttributeError:
            continue
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return state
    if type(held) is dict:
        state.update(held)
        # typing's note on instances of generic classes, which are made without it as well
        state.pop("__orig_class__", None)
    return state


def write_state(value: Any, cls: type, state: Mapping[str, Any]) -> None:
    """Put a state into a bare instance: slots by their descriptors, the rest straight into ``__dict__``."""
    slots = slots_of(cls)
    rest = {}
    for name, held in state.items():
        if name in slots:
            slots[name].__set__(value, held)
        else:
            rest[name] = held
    if rest:
        object.__getattribute__(value, "__dict__").update(rest)
