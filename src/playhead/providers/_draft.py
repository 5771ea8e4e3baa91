"""The final JSON of a stream while it is put together, and the notes of what grew in it.

A provider's fold writes ``final`` and says for each delta which leaf of the event went where. Each growing text is
kept as one ``Slot``: in ``final`` it stands once and whole (a secret spread over deltas is one string there), and
the shape of the stream holds nothing of it but lengths.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from playhead.providers._json_text import copy_json

__all__ = ["FIXED_KEYS", "Draft", "Path", "Slot", "look_up"]

Path = tuple[str | int, ...]

FIXED_KEYS: Final = frozenset(
    {"call_id", "finish_reason", "format", "id", "index", "item_id", "model", "name", "native_finish_reason"}
    | {"object", "role", "service_tier", "status", "type"}
)
"""Keys whose strings name something: a delta sets them and does not lengthen them."""

_MISSING: Final = object()


class Slot:
    """A place in ``final`` that a stream filled bit by bit.

    ``text`` grows by characters, ``list`` by items; ``json`` is a text that ``final`` holds parsed, to be written in
    ``style`` again.
    """

    __slots__ = ("kind", "path", "pieces", "style")

    def __init__(self, kind: Literal["text", "list", "json"], path: Path) -> None:
        self.kind: Literal["text", "list", "json"] = kind
        self.path = path
        self.pieces: list[Any] = []
        self.style = ""

    @property
    def whole(self) -> Any:
        """What the pieces add up to."""
        if self.kind == "list":
            return [item for piece in self.pieces for item in piece]
        return "".join(self.pieces)


def look_up(tree: Any, path: Path, default: Any = None) -> Any:
    """What stands at ``path``, ``default`` where nothing does."""
    for part in path:
        if type(tree) is dict:
            inside = part in tree
        else:
            inside = type(tree) is list and type(part) is int and 0 <= part < len(tree)
        if not inside:
            return default
        tree = tree[part]
    return tree


class Draft:
    """``final`` under construction. ``marks[k]`` is a tree that leads to the slots of event ``k``."""

    def __init__(self, count: int) -> None:
        self.final: Any = {}
        self.marks: list[Any] = [None] * count
        self._slots: dict[Path, Slot] = {}

    @property
    def slots(self) -> list[Slot]:
        """All slots, in the order in which they began."""
        return list(self._slots.values())

    def grow(self, event: int, leaf: Path, piece: str | list[Any], slot: Path) -> None:
        """Say that the leaf of an event is the next piece of the slot. An empty piece is no piece."""
        if not piece:
            return
        kind: Literal["text", "list"] = "text" if type(piece) is str else "list"
        known = self._slots.get(slot)
        if known is None:
            known = self._slots[slot] = Slot(kind, slot)
        if known.kind != kind:
            return
        known.pieces.append(piece)
        self._mark(event, leaf, known)

    def _mark(self, event: int, leaf: Path, slot: Slot) -> None:
        if not leaf:
            self.marks[event] = slot
            return
        tree = self.marks[event] = self.marks[event] or {}
        for part in leaf[:-1]:
            tree = tree.setdefault(part, {})
        tree[leaf[-1]] = slot

    def place(self, slot: Slot, value: Any) -> bool:
        """Put a value where the slot is; False where its parent is not there."""
        if not slot.path:
            self.final = value
            return True
        parent, last = look_up(self.final, slot.path[:-1], _MISSING), slot.path[-1]
        if type(parent) is dict and type(last) is str:
            parent[last] = value
            return True
        if type(parent) is list and type(last) is int and 0 <= last < len(parent):
            parent[last] = value
            return True
        return False

    def place_all(self) -> None:
        """Put every slot's whole value where it belongs."""
        for slot in self.slots:
            self.place(slot, slot.whole)

    def absorb(self, event: int, delta: dict[str, Any], leaf: Path, target: dict[str, Any], slot: Path) -> None:
        """Take a delta object into ``target``: texts grow, lists and objects go deeper, the rest is set."""
        for key, value in delta.items():
            at, to = (*leaf, key), (*slot, key)
            if type(value) is str and key not in FIXED_KEYS:
                self.grow(event, at, value, to)
                if type(target.get(key)) is not str:
                    target[key] = ""
            elif type(value) is dict and (value or type(target.get(key)) is dict):
                if type(target.get(key)) is not dict:
                    target[key] = {}
                self.absorb(event, value, at, target[key], to)
            elif type(value) is list:
                if type(target.get(key)) is not list:
                    target[key] = []
                self._absorb_items(event, value, at, target[key], to)
            elif key not in target or (value is not None and value != ""):
                target[key] = copy_json(value)

    def _absorb_items(self, event: int, items: list[Any], leaf: Path, target: list[Any], slot: Path) -> None:
        """Items with an ``index`` are told apart by it; a text part goes on where the last is of its kind."""
        if not any(type(item) is dict and (type(item.get("index")) is int or _is_text_part(item)) for item in items):
            self.grow(event, leaf, items, slot)
            return
        for position, item in enumerate(items):
            if type(item) is not dict:
                target.append(item)
                continue
            place = _find_place(target, item)
            if place == len(target):
                target.append({})
            self.absorb(event, item, (*leaf, position), target[place], (*slot, place))


def _is_text_part(item: dict[str, Any]) -> bool:
    return item.get("type") in ("text", "thinking") and any(key in item for key in ("text", "thinking"))


def _find_place(target: list[Any], item: dict[str, Any]) -> int:
    index = item.get("index")
    if type(index) is int:
        for place, known in enumerate(target):
            if type(known) is dict and known.get("index") == index and _agree(known, item):
                return place
    elif target and _is_text_part(item) and type(target[-1]) is dict and target[-1].get("type") == item["type"]:
        return len(target) - 1
    return len(target)


def _agree(known: dict[str, Any], item: dict[str, Any]) -> bool:
    """Some servers number every call 0 and tell calls apart by a new id only."""
    return not (item.get("id") and known.get("id") and item["id"] != known["id"])
