"""The gate for decoded values: one look at all strings of a tree, new containers only where something is masked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from playhead.errors import ValueRefusedError
from playhead.masking._engine import OVERLAP, View
from playhead.masking._labels import Label, has_secret_name, label_items, label_members
from playhead.masking._texts import TextMask

__all__ = ["TreeMask"]

_MOST_CONTAINERS = 4_000_000
_ATOMS = frozenset({int, float, bool, type(None)})

Patches = dict[int, dict[Any, Any]]
"""By container: what goes into which of its slots (a key, or a place in a list)."""


class TreeMask:
    """Masks trees of dict, list, tuple, str and bytes; whatever else is in them is left as it is."""

    def __init__(self, texts: TextMask) -> None:
        self._texts = texts

    def mask(self, root: Any, *, cut: bool) -> Any:
        """``root`` masked; the same object where nothing was. It is walked without recursion, however deep it is."""
        layout = _Layout(root)
        changed = self._mask_strings([*layout.strings, *layout.names], cut=cut)
        patches = self._patch_octets(layout)
        if has_secret_name(layout.names, layout.firsts):
            self._patch_named(layout, patches)
        return layout.rebuild(changed, patches) if changed or patches else root

    def _mask_strings(self, strings: list[str], *, cut: bool) -> dict[str, str]:
        """Each string that holds a secret, with what it becomes."""
        changed = {}
        suspects = self._suspects(strings)
        if cut or self._texts.callables:
            suspects.update((text, suspects.get(text, set())) for text in strings)
        for text, indices in suspects.items():
            masked = self._texts.mask(text, cut=cut, indices=indices)
            if masked != text:
                changed[text] = masked
        return changed

    def _suspects(self, strings: list[str]) -> dict[str, set[int]]:
        """The strings in which patterns may match, with the places of these patterns in the engine."""
        suspects: dict[str, set[int]] = {}
        view = View("\0".join(strings))
        engine = self._texts.engine
        ends: list[int] = []
        for index, windows in engine.scan(view).items():
            ends = ends or list(accumulate([len(text) + 1 for text in strings]))
            position = 0
            for start, end in windows:
                position = max(position, start)
                reach = min(end + OVERLAP, len(view))
                while position < end and (place := engine.search(index, view, position, reach)):
                    leaf = bisect_right(ends, place[0])
                    suspects.setdefault(strings[leaf], set()).add(index)
                    position = ends[leaf]
        return suspects

    def _patch_octets(self, layout: _Layout) -> Patches:
        patches: Patches = {}
        for index, slot, value in layout.octets:
            data = bytes(value)
            masked = self._texts.mask_bytes(data)
            if masked != data:
                patches.setdefault(index, {})[slot] = type(value)(masked)
        return patches

    def _patch_named(self, layout: _Layout, patches: Patches) -> None:
        """The strings that are secret because of a name above them."""
        inherited: dict[int, Label] = {}
        for index, node in enumerate(layout.containers):
            above = inherited.pop(id(node), None)
            items = node.items() if isinstance(node, dict) else enumerate(node)
            labels = label_items(node, above) if isinstance(node, dict) else label_members(node, above)
            for (slot, value), label in zip(items, labels or (), strict=False):
                if label is None:
                    continue
                if isinstance(value, (dict, list, tuple)):
                    inherited[id(value)] = label
                elif isinstance(value, str) and label.scope == "all":
                    masked = self._texts.mask_under(label.name, value)
                    if masked != value:
                        patches.setdefault(index, {})[slot] = masked


class _Layout:
    """A tree laid out breadth first: its containers, whose child each is, and the strings right in each."""

    def __init__(self, root: Any) -> None:
        self.containers: list[Any] = [root]
        self.parents = [0]
        self.strings: list[str] = []
        self.starts: list[int] = []
        self._keys: set[Any] = set()
        self.firsts: set[str] = set()
        self.octets: list[tuple[int, Any, bytes | bytearray]] = []
        self._survey()
        self.names = {key for key in self._keys if isinstance(key, str)}

    def _survey(self) -> None:
        containers, parents, starts, strings = self.containers, self.parents, self.starts, self.strings
        for index, node in enumerate(containers):
            starts.append(len(strings))
            if isinstance(node, dict):
                self._keys.update(node)
                values: Iterable[Any] = node.values()
            else:
                values = node
                if len(node) == 2 and type(node[0]) is str:
                    self.firsts.add(node[0])
            odd = False
            for value in values:
                kind = type(value)
                if kind is str:
                    strings.append(value)
                elif kind is dict or kind is list:
                    containers.append(value)
                    parents.append(index)
                elif kind not in _ATOMS:
                    odd = True
            if odd:
                self._add_odd(index, node)
            if len(containers) > _MOST_CONTAINERS:
                raise ValueRefusedError("a value to mask is too big, or contains itself")

    def _add_odd(self, index: int, node: Any) -> None:
        """Tuples, bytes and the subclasses of what JSON has."""
        for slot, value in node.items() if isinstance(node, dict) else enumerate(node):
            kind = type(value)
            if kind is str or kind is dict or kind is list or kind in _ATOMS:
                continue
            if isinstance(value, str):
                self.strings.append(value)
            elif isinstance(value, (dict, list, tuple)):
                self.containers.append(value)
                self.parents.append(index)
            elif isinstance(value, (bytes, bytearray)):
                self.octets.append((index, slot, value))

    def rebuild(self, changed: dict[str, str], patches: Patches) -> Any:
        """The tree with ``changed`` strings and ``patches``; it shares with the old one what these leave alone."""
        fresh: dict[int, Any] = {}
        renamed = self.names & changed.keys()
        for index in sorted(self._touched(changed, patches, renamed), reverse=True):
            node = self.containers[index]
            fresh[id(node)] = _rebuild_one(node, changed, fresh, patches.get(index, {}))
            if isinstance(node, dict) and not renamed.isdisjoint(node):
                fresh[id(node)] = _rename(fresh[id(node)], changed)
        return fresh.get(id(self.containers[0]), self.containers[0])

    def _touched(self, changed: dict[str, str], patches: Patches, renamed: set[str]) -> set[int]:
        """The containers that hold a change, and all above them."""
        touched: set[int] = set()
        holders = set(patches)
        holders.update(bisect_right(self.starts, leaf) - 1 for leaf, text in enumerate(self.strings) if text in changed)
        if renamed:
            holders.update(
                index
                for index, node in enumerate(self.containers)
                if isinstance(node, dict) and not renamed.isdisjoint(node)
            )
        for index in holders:
            while index not in touched:
                touched.add(index)
                index = self.parents[index]
        return touched


def _rebuild_one(node: Any, changed: dict[str, str], fresh: dict[int, Any], patch: dict[Any, Any]) -> Any:
    if isinstance(node, dict):
        return {
            slot: changed.get(value, value) if isinstance(value, str) else fresh.get(id(value), value)
            for slot, value in node.items()
        } | patch
    members = [changed.get(value, value) if isinstance(value, str) else fresh.get(id(value), value) for value in node]
    for place, value in patch.items():
        members[place] = value
    return tuple.__new__(type(node), members) if isinstance(node, tuple) else members


def _rename(node: dict[Any, Any], changed: dict[str, str]) -> dict[Any, Any]:
    """Keys that become equal by masking stay apart by a number."""
    renamed: dict[Any, Any] = {}
    for key, value in node.items():
        masked = changed.get(key, key) if isinstance(key, str) else key
        name, number = masked, 2
        while name in renamed:
            name = f"{masked}#{number}"
            number += 1
        renamed[name] = value
    return renamed
