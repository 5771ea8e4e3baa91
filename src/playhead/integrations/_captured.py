"""What could not be caught: functions that the agent's modules took away before we came, where no one can replace them.

A default argument, a default factory, a value in a container or a closure hands the original out without any
name being looked up. Such places are listed, so that a report never says "identical" about what it did not see.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import date
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import msgspec

from playhead.integrations._rebinding import namespace_of, originals, own_classes, unreachable
from playhead.integrations._sites import current_scope

_FIELDS = ("__dataclass_fields__", "__pydantic_fields__", "__attrs_attrs__")


class Captured(msgspec.Struct, frozen=True, order=True):
    """One place that reads clock or chance unseen: ``where`` in ``module``, and ``what`` it holds."""

    module: str
    where: str
    what: str


def find_captured() -> list[Captured]:
    """The places in the agent's modules that hold an original, sorted. To be called once all is installed."""
    scope = current_scope()
    found = {Captured("datetime", name, "not replaceable in this interpreter") for name in unreachable}
    for module in list(sys.modules.values()):
        namespace = namespace_of(module)
        if namespace is not None and scope.owns_module(namespace):
            name = str(namespace["__name__"])
            found.update(Captured(name, where, what) for where, what in _look_through(namespace, name))
    return sorted(found)


def _look_through(namespace: dict[str, Any], module: str) -> Iterator[tuple[str, str]]:
    for name, value in list(namespace.items()):
        yield from _in_value(name, value, module)
        if type(value) is random.Random:
            yield name, "a generator made before"
    for owner in own_classes(namespace):
        for name, value in list(vars(owner).items()):
            where = f"{owner.__qualname__}.{name}"
            if name in _FIELDS:
                yield from _in_fields(owner.__qualname__, value)
            else:
                yield from _in_value(where, value, module)


def _in_value(where: str, value: Any, module: str) -> Iterator[tuple[str, str]]:
    kind = type(value)
    if kind in (staticmethod, classmethod):
        yield from _in_value(where, value.__func__, module)
    elif kind is property:
        yield from _in_value(where, value.fget, module)
    elif kind is FunctionType:
        if value.__module__ == module:
            yield from _in_function(where, value)
    elif kind is partial:
        for held in (value.func, *value.args, *value.keywords.values()):
            yield from _named(where, held)
    elif kind in (list, tuple, set, frozenset):
        for held in list(value):
            yield from _named(f"{where}[...]", held)
    elif kind is dict and not where.startswith("__"):
        for key, held in list(value.items()):
            yield from _named(f"{where}[{key!r:.40}]", held)


def _in_function(where: str, function: FunctionType) -> Iterator[tuple[str, str]]:
    code = function.__code__
    defaults = function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(defaults) :]
    for name, held in (*zip(names, defaults, strict=True), *(function.__kwdefaults__ or {}).items()):
        yield from _named(f"{where}({name}=)", held)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield from _named(f"{where} (closes over {name})", cell.cell_contents)
        except ValueError:  # nothing in it yet
            continue


def _in_fields(where: str, fields: Any) -> Iterator[tuple[str, str]]:
    """The default factories of a dataclass, a pydantic model or an attrs class."""
    named = fields.items() if hasattr(fields, "items") else ((field.name, field) for field in fields)
    for name, field in named:
        factory = getattr(field, "default_factory", None) or getattr(getattr(field, "default", None), "factory", None)
        yield from _named(f"{where}.{name} (default factory)", factory)


def _named(where: str, value: Any) -> Iterator[tuple[str, str]]:
    known = originals.get(id(value))
    if known is not None and known[0] is value:
        yield where, known[1]
    elif type(value) is BuiltinFunctionType and value.__name__ in ("now", "today", "utcnow"):
        owner: Any = value.__self__
        if issubclass(type(owner), type) and issubclass(owner, date):
            yield where, f"{owner.__name__}.{value.__name__}"
