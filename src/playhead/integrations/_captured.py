"""What could not be caught: functions that the agent's modules took before we came, where no one can replace them.

A default argument, a default factory, a value in a container or a closure hands the original out without any
name being looked up. Such places are listed, so that a report never says "identical" about what it did not see.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import msgspec

from playhead.integrations._rebinding import originals, own_classes, own_namespaces, unreachable

_FIELDS = frozenset({"__attrs_attrs__", "__dataclass_fields__", "__pydantic_fields__"})
_METHODS = frozenset({classmethod, staticmethod})
_CONTAINERS = frozenset({frozenset, list, set, tuple})
_CLOCKS = frozenset({"now", "today", "utcnow"})


class Captured(msgspec.Struct, frozen=True, order=True):
    """One place that reads clock or chance unseen: ``where`` in ``module``, and ``what`` it holds."""

    module: str
    where: str
    what: str


def find_captured() -> list[Captured]:
    """The places in the agent's modules that hold an original, sorted. To be called once all is installed."""
    found = {Captured("datetime", name, "not replaceable in this interpreter") for name in unreachable}
    for namespace in own_namespaces():
        name = str(namespace["__name__"])
        found.update(Captured(name, where, what) for where, what in _look_through(namespace))
    return sorted(found)


def _look_through(namespace: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in list(namespace.items()):
        if name[:2] != "__":
            yield from _in_value(name, value, namespace)
    for owner in own_classes(namespace):
        for name, value in list(vars(owner).items()):
            if name in _FIELDS:
                yield from _in_fields(owner.__qualname__, value)
            else:
                yield from _in_value(f"{owner.__qualname__}.{name}", value, namespace)


def _in_value(where: str, value: Any, namespace: dict[str, Any]) -> list[tuple[str, str]]:
    kind = type(value)
    if kind is FunctionType:
        return _in_function(where, value) if value.__globals__ is namespace else []
    if kind in _METHODS:
        return _in_value(where, value.__func__, namespace)
    if kind is property:
        return _in_value(where, value.fget, namespace)
    if kind is random.Random:
        return [(where, "a generator made before")]
    held: list[tuple[str, Any]] = []
    if kind in _CONTAINERS:
        held = [(f"{where}[...]", item) for item in list(value)]
    elif kind is dict:
        held = [(f"{where}[{key!r:.40}]", item) for key, item in list(value.items()) if _read_by(item)]
    elif kind is partial:
        held = [(where, item) for item in (value.func, *value.args, *value.keywords.values())]
    return _named(held)


def _in_function(where: str, function: FunctionType) -> list[tuple[str, str]]:
    defaults, by_name, cells = function.__defaults__, function.__kwdefaults__, function.__closure__
    if defaults is None and by_name is None and cells is None:
        return []
    code = function.__code__
    held: list[tuple[str, Any]] = []
    if defaults is not None and any(map(_read_by, defaults)):
        names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
        held += [(f"{where}({name}=)", value) for name, value in zip(names, defaults, strict=True)]
    if by_name is not None:
        held += [(f"{where}({name}=)", value) for name, value in by_name.items()]
    for name, cell in zip(code.co_freevars, cells or (), strict=True):
        try:
            held.append((f"{where} (closes over {name})", cell.cell_contents))
        except ValueError:  # nothing in it yet
            continue
    return _named(held)


def _in_fields(where: str, fields: Any) -> list[tuple[str, str]]:
    """The default factories of a dataclass, a pydantic model or an attrs class."""
    named = fields.items() if isinstance(fields, dict) else ((field.name, field) for field in fields)
    held = []
    for name, field in named:
        factory = getattr(field, "default_factory", None) or getattr(getattr(field, "default", None), "factory", None)
        held.append((f"{where}.{name} (default factory)", factory))
    return _named(held)


def _named(held: list[tuple[str, Any]]) -> list[tuple[str, str]]:
    return [(where, what) for where, value in held if (what := _read_by(value)) is not None]


def _read_by(value: Any) -> str | None:
    """The full name of the read that ``value`` makes unseen when it is called."""
    known = originals.get(id(value))
    if known is not None:
        return known[1]
    if type(value) is not BuiltinFunctionType or value.__name__ not in _CLOCKS:
        return None
    owner: Any = value.__self__
    if issubclass(type(owner), type) and issubclass(owner, date):
        return f"{owner.__name__}.{value.__name__}"
    return None
