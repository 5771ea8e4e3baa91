"""Putting parts and lists back into the bodies that refer to them (the terms are in `_parts`).

A reference goes back to an earlier event only, so there are no rings. What is put in place is shared, not
copied, so a tree can come to far more than the memory it takes: each piece carries what it would come to if
written out, and how deep it is, and what goes beyond the limits is hostile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec

from playhead.eventlog._format import Limits, corrupt, hostile
from playhead.eventlog._parts import may_refer, unescape_key
from playhead.eventlog._printing import counted

_LISTS_KEPT: Final = 64
_PARTS_KEPT: Final = 256 * 1024 * 1024
_SHALLOW: Final = 32
_CONTAINERS: Final = frozenset({dict, list})

Path = tuple[str | int, ...]


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A resolved value, the bytes it comes to at the most when written out, and how deeply it is nested."""

    value: Any
    weight: int
    depth: int


ERASED: Final = Piece({"$t": "erased"}, 16, 1)
"""What stands in place of a part that was erased."""


class _List(msgspec.Struct, frozen=True):
    values: list[Any]
    weights: list[int]
    depth: int


class _Base(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list that begins as an earlier one does."""

    of: int
    path: Path
    keep: Annotated[int, msgspec.Meta(ge=0)]
    then: list[Any]


class _ListNode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    base: _Base = msgspec.field(name="$list")


class Resolver:
    """Resolves the bodies of one recording.

    ``body(seq)`` gives a body's text, ``None`` where it was erased; ``part(digest)`` the ``seq`` of a part,
    ``None`` where it is among the erased, `LookupError` where it is not there.
    """

    def __init__(
        self, *, name: str, limits: Limits, body: Callable[[int], bytes | None], part: Callable[[str], int | None]
    ) -> None:
        self._name = name
        self._limits = limits
        self._body = body
        self._part = part
        self._parts: dict[str, tuple[int, Piece]] = {}
        self._parts_weight = 0
        self._lists: OrderedDict[tuple[int, Path], _List] = OrderedDict()
        self._work = 0

    def resolve(self, seq: int, text: bytes) -> Any:
        """The tree of the body of event ``seq``, with everything in its place. Treat it as read-only.

        Raises `HostileRecordingError` or `CorruptRecordingError`.
        """
        self._work = 0
        try:
            tree = msgspec.json.decode(text)
            return self._walk(tree, seq, (), 0).value if type(tree) in _CONTAINERS else tree
        except RecursionError:
            raise self._too_deep(seq) from None
        except msgspec.MsgspecError as error:
            raise corrupt(self._name, f"the body of event {seq} is not JSON", seq=seq) from error

    def _walk(self, node: Any, seq: int, path: Path, level: int) -> Piece:
        """What stands at ``path``, a list or an object, with everything in its place."""
        if level > self._limits.depth:
            raise self._too_deep(seq)
        if type(node) is list:
            return self._piece(self._items(node, seq, path, level), seq)
        if "$part" in node:
            return self._resolve_part(node, seq)
        if "$list" in node:
            return self._piece(self._resolve_list(seq, path, node), seq)
        tree: dict[str, Any] = {}
        weight, depth = 2, 0
        for key, value in node.items():
            name = unescape_key(key) if key[:1] == "$" else key
            if type(value) in _CONTAINERS:
                piece = self._walk(value, seq, (*path, key), level + 1)
                tree[name] = piece.value
                weight += len(name) + 4 + piece.weight
                depth = max(depth, piece.depth)
            else:
                tree[name] = value
                weight += len(name) + 4 + _weight(value)
        return self._checked(Piece(tree, weight, depth + 1), seq)

    def _items(self, nodes: list[Any], seq: int, path: Path, level: int) -> _List:
        values = nodes.copy()
        weights: list[int] = []
        depth = 0
        for at, node in enumerate(nodes):
            if type(node) in _CONTAINERS:
                is_part = "$part" in node and type(node) is dict
                piece = self._resolve_part(node, seq) if is_part else self._walk(node, seq, (*path, at), level + 1)
                values[at] = piece.value
                weights.append(piece.weight)
                if piece.depth > depth:
                    depth = piece.depth
            else:
                weights.append(_weight(node))
        return _List(values, weights, depth + 1)

    def _piece(self, found: _List, seq: int) -> Piece:
        weight = 2 + sum(found.weights) + len(found.weights)
        return self._checked(Piece(found.values, weight, found.depth), seq)

    def _checked(self, piece: Piece, seq: int) -> Piece:
        if piece.weight > self._limits.resolved:
            why = f"the body of event {seq} comes to more than {self._limits.resolved} bytes when written out"
            raise hostile(self._name, why, seq=seq)
        if piece.depth > self._limits.depth:
            raise self._too_deep(seq)
        return piece

    def _resolve_part(self, node: dict[str, Any], seq: int) -> Piece:
        digest = node["$part"]
        if len(node) > 1 or not isinstance(digest, str):
            raise corrupt(self._name, f"event {seq} refers to something that is not a part", seq=seq)
        known = self._parts.get(digest)
        if known is not None and known[0] < seq:
            return known[1]
        try:
            at = self._part(digest)
        except LookupError:
            raise corrupt(self._name, f"event {seq} refers to a part that is not there", seq=seq) from None
        if at is None:
            return ERASED
        if at >= seq:
            raise hostile(self._name, f"event {seq} refers to a part that is not before it", seq=seq)
        text = self._earlier(at, seq) or b"{}"
        content = msgspec.json.decode(text).get("content")
        if type(content) in _CONTAINERS and may_refer(text):
            piece = self._walk(content, at, ("content",), 0)
        else:
            piece = self._checked(Piece(content, len(text), _depth(content, text)), seq)
        self._parts[digest] = (at, piece)
        self._parts_weight += piece.weight
        while self._parts_weight > _PARTS_KEPT and len(self._parts) > 1:
            self._parts_weight -= self._parts.pop(next(iter(self._parts)))[1].weight
        return piece

    def _resolve_list(self, seq: int, path: Path, node: Any) -> _List:
        """The list at ``path`` of event ``seq``: back along what it begins with, then forward again."""
        pending: list[tuple[tuple[int, Path], int, list[Any]]] = []
        while (known := self._lists.get((seq, path))) is None:
            if node is None and (node := self._find(seq, path, pending[-1][0][0])) is None:
                known = self._erased(pending[-1][1], seq)
                break
            base, then = self._read_list(node, seq)
            if base is None:
                known = self._keep_list(seq, path, self._items(then, seq, path, len(path)))
                break
            pending.append(((seq, path), base.keep, then))
            seq, path, node = base.of, base.path, None
        for (at, where), keep, then in reversed(pending):
            if keep > len(known.values):
                raise corrupt(
                    self._name, f"event {at} keeps {counted(keep, 'item')} of a list of {len(known.values)}", seq=at
                )
            new = self._items(then, at, where, len(where))
            both = _List(
                known.values[:keep] + new.values, known.weights[:keep] + new.weights, max(known.depth, new.depth)
            )
            known = self._keep_list(at, where, both)
        return known

    def _keep_list(self, seq: int, path: Path, found: _List) -> _List:
        self._lists[(seq, path)] = found
        while len(self._lists) > _LISTS_KEPT:
            self._lists.popitem(last=False)
        return found

    def _read_list(self, node: Any, seq: int) -> tuple[_Base | None, list[Any]]:
        if type(node) is list:
            return None, node
        try:
            base = msgspec.convert(node, _ListNode).base
        except msgspec.ValidationError:
            why = f"event {seq} goes on with something that is not a list"
            raise corrupt(self._name, why, seq=seq) from None
        if not 0 <= base.of < seq:
            raise hostile(self._name, f"event {seq} goes on with a list that is not before it", seq=seq)
        return base, base.then

    def _earlier(self, at: int, seq: int) -> bytes | None:
        """The body of ``at``, which ``seq`` refers to. How much one body may make us read is limited."""
        text = self._body(at)
        self._work += len(text or b"")
        if self._work > self._limits.resolved:
            why = f"to read event {seq}, more than {self._limits.resolved} bytes of others have to be read"
            raise hostile(self._name, why, seq=seq)
        return text

    def _erased(self, keep: int, seq: int) -> _List:
        """What is left of a list whose event was erased."""
        self._checked(Piece(None, keep * ERASED.weight, 0), seq)
        return _List([ERASED.value] * keep, [ERASED.weight] * keep, ERASED.depth + 1)

    def _find(self, seq: int, path: Path, by: int) -> Any:
        """The unresolved node at ``path`` in the body of ``seq``; ``None`` where that was erased."""
        text = self._earlier(seq, by)
        if text is None:
            return None
        node = msgspec.json.decode(text)
        for step in path:
            try:
                node = node[step]
            except (LookupError, TypeError):
                raise corrupt(self._name, f"event {by} goes on with a list that is not there", seq=by) from None
        return node

    def _too_deep(self, seq: int) -> Exception:
        return hostile(self._name, f"event {seq} is nested more than {self._limits.depth} levels deep", seq=seq)


def _weight(atom: Any) -> int:
    """What something that holds nothing comes to."""
    return len(atom) + 2 if type(atom) is str else 8


def _depth(tree: Any, text: bytes) -> int:
    """How deeply a JSON tree in ``text`` is nested at the most: exactly, where it could be deep."""
    depth = text.count(b"{") + text.count(b"[")
    if depth < _SHALLOW:
        return depth
    depth = 0
    level = [tree]
    while level := [child for node in level for child in _children(node)]:
        depth += 1
    return depth + isinstance(tree, dict | list) * (depth == 0)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []
