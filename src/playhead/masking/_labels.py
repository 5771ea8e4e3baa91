"""What a decoded value stands under: the secret name of its key, of its header pair, of its schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from playhead.masking._assignments import JSON_TYPES, SCHEMA_VALUES, SCHEMA_WORDS, TOKEN_SIBLINGS
from playhead.masking._names import is_secret_name

__all__ = ["Label", "has_secret_name", "label_items", "label_members"]


@dataclass(frozen=True, slots=True)
class Label:
    """A secret's ``name``. It goes for all strings below, for the examples in a schema, or for the second of a pair."""

    name: str
    scope: Literal["all", "schema", "second"] = "all"


def has_secret_name(names: Collection[str], firsts: Collection[str]) -> bool:
    """Whether a tree with these keys and these first members of pairs can have a label at all."""
    return "value" in names or any(map(is_secret_name, names)) or any(map(is_secret_name, firsts))


def label_items(node: Mapping[Any, Any], inherited: Label | None) -> list[Label | None] | None:
    """The label of each value of an object, or ``None`` if none has one."""
    if inherited is not None:
        if inherited.scope == "all":
            return [inherited] * len(node)
        return [
            Label(inherited.name) if key in SCHEMA_VALUES else _label(key, value, node) for key, value in node.items()
        ]
    if not any(is_secret_name(key) for key in node if isinstance(key, str)):
        return _label_named_value(node) if "value" in node else None
    return [_label(key, value, node) for key, value in node.items()]


def _label(key: Any, value: Any, node: Mapping[Any, Any]) -> Label | None:
    if not isinstance(key, str) or not is_secret_name(key):
        return None
    if isinstance(value, dict) and _is_schema(value):
        return Label(key, "schema")
    if key.lower() == "token" and not TOKEN_SIBLINGS.isdisjoint(node):
        return None
    return Label(key)


def _is_schema(value: Mapping[Any, Any]) -> bool:
    kind = value.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if all(isinstance(one, str) and one in JSON_TYPES for one in kinds):
        return True
    return any(word in value for word in SCHEMA_WORDS if word != "type")


def _label_named_value(node: Mapping[Any, Any]) -> list[Label | None] | None:
    """``{"name": "Authorization", "value": "…"}``."""
    name = node.get("name", node.get("key"))
    if not isinstance(name, str) or not is_secret_name(name):
        return None
    return [Label(name) if key == "value" else None for key in node]


def label_members(node: Sequence[Any], inherited: Label | None) -> Sequence[Label | None] | None:
    """The label of each member of a list: of ``["Authorization", "…"]`` among such pairs, the second is secret."""
    if inherited is not None:
        return (None, Label(inherited.name)) if inherited.scope == "second" else [inherited] * len(node)
    if not node or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str) for pair in node
    ):
        return None
    labels = [Label(pair[0], "second") if is_secret_name(pair[0]) else None for pair in node]
    return labels if any(labels) else None
