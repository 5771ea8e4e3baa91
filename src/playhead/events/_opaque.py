"""What stands for a value that was not kept, or that cannot be rebuilt here."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any, Literal

import msgspec

from playhead.events._classes import class_name

Why = Literal["cycle", "deep", "too big", "unknown"]
"""Why a value was not kept: it holds itself; it is nested too deeply; it is too big; its kind is not known."""


class Opaque(msgspec.Struct, frozen=True, eq=False):
    """The place of a value that is not here: its class by name, why it is not here, and the tree as recorded.

    ``why`` is one of `Why`; or ``"missing type"`` for a value that was kept but whose class this program does
    not have; or ``"incomplete"`` for one that cannot be rebuilt without a part that was not kept. Encoding an
    `Opaque` gives its tree back unchanged, so nothing is lost by passing it on.
    """

    class_name: str
    why: str
    tree: dict[str, Any]

    def __repr__(self) -> str:
        return f"<not here: {self.class_name} ({self.why})>"


class OpaqueError(Exception):
    """Stands for an exception whose class this program does not have; ``opaque`` says which it was."""

    def __init__(self, opaque: Opaque) -> None:
        super().__init__(opaque)
        self.opaque = opaque


def facts_of(value: Any, cls: type) -> dict[str, Any]:
    """What is known of an unknown value without asking it: the name of a class or function, an array's shape."""
    if issubclass(cls, type):
        return {"name": class_name(value)}
    if cls is FunctionType or cls is BuiltinFunctionType:
        name = f"{value.__module__}:{value.__qualname__}"
        return {"name": name} if name.isascii() else {}
    if cls is getattr(sys.modules.get("numpy"), "ndarray", None):
        return {"dtype": str(value.dtype), "shape": [int(length) for length in value.shape]}
    return {}
