"""Names for the arguments of a call, so that a recording reads as the program does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

_signatures: WeakKeyDictionary[Callable[..., Any], inspect.Signature | None] = WeakKeyDictionary()


def name_arguments(function: Callable[..., Any], kept: Any) -> Any:
    """``kept`` is the tree of ``(args, kwargs)``; the answer maps parameter names to the trees of their values.

    Positional arguments are named after the parameters that take them; those gathered by ``*rest`` are listed
    under that name with its star. Where names cannot be found out, positions stand in their place.
    """
    if not (isinstance(kept, dict) and isinstance(kept.get("args"), list) and isinstance(kept.get("kwargs"), dict)):
        return kept
    args, kwargs = kept["args"], kept["kwargs"]
    names = _positional_names(function)
    named: dict[str, Any] = {}
    rest: list[Any] = []
    for index, value in enumerate(args):
        if index < len(names) and not names[index].startswith("*"):
            named[names[index]] = value
        else:
            rest.append(value)
    if rest:
        star = next((name for name in names if name.startswith("*")), "*")
        named[star] = rest
    named.update(kwargs)
    return named


def _positional_names(function: Callable[..., Any]) -> list[str]:
    try:
        signature = _signatures[function]
    except (KeyError, TypeError):
        signature = _inspect(function)
    if signature is None:
        return []
    kinds = inspect.Parameter
    return [
        f"*{name}" if parameter.kind is kinds.VAR_POSITIONAL else name
        for name, parameter in signature.parameters.items()
        if parameter.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.VAR_POSITIONAL)
    ]


def _inspect(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        signature = None
    try:
        _signatures[function] = signature
    except TypeError:
        pass
    return signature
