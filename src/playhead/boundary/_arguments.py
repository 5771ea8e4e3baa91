"""Names for the arguments of a call, so that a recording reads as the program does."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

_Names = tuple[tuple[str, ...], str]
"""The parameters that positional arguments go to, in order, and the name, with its star, of what gathers the rest."""

_known: WeakKeyDictionary[Callable[..., Any], _Names] = WeakKeyDictionary()


def name_arguments(function: Callable[..., Any], kept: Any) -> Any:
    """``kept`` is the tree of ``(args, kwargs)``; the answer maps parameter names to the trees of their values.

    Positional arguments are named after the parameters that take them; those gathered by ``*rest`` are listed
    under that name with its star. Where names cannot be found out, positions stand in their place.
    """
    if not (isinstance(kept, dict) and isinstance(kept.get("args"), list) and isinstance(kept.get("kwargs"), dict)):
        return kept
    return name_trees(function, kept["args"], kept["kwargs"])


def name_trees(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """`name_arguments` of trees that are there one by one."""
    names, star = _positional_names(function)
    named: dict[str, Any] = dict(zip(names, args, strict=False))
    if len(args) > len(names):
        named[star] = list(args[len(names) :])
    named.update(kwargs)
    return named


def _positional_names(function: Callable[..., Any]) -> _Names:
    try:
        return _known[function]
    except (KeyError, TypeError):
        names = _inspect(function)
    try:
        _known[function] = names
    except TypeError:
        pass
    return names


def _inspect(function: Callable[..., Any]) -> _Names:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return (), "*"
    kinds = inspect.Parameter
    names = tuple(p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD))
    return names, next((f"*{p.name}" for p in parameters if p.kind is kinds.VAR_POSITIONAL), "*")
