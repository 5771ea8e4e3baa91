"""What stands for a value that was not kept, or that cannot be rebuilt here."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Why = Literal["cycle", "deep", "too big", "unknown"]
"""Why a value was not kept: it holds itself; it is nested too deeply; it is too big; its kind is not known."""


class Opaque(msgspec.Struct, frozen=True, eq=False):
    """The place of a value that is not here: its class by name, why it is not here, and the tree as recorded.

    ``why`` is one of `Why`, or ``"missing type"`` for a value that was kept but whose class this program does
    not have. Encoding an `Opaque` gives its tree back unchanged, so nothing is lost by passing it on.
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
