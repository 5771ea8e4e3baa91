"""Keeping states: each part of a state once, so that a small change to a large state costs little.

A dict or list of some length becomes a part, whose content refers to those below it. What a frozen value has become
is remembered at the value itself, so that what two states share is looked at once; what comes as plain trees is known
again by its content.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import repeat
from typing import Any, Final

import msgspec

from playhead.eventlog import escape
from playhead.events import FrozenDict, FrozenList, freeze
from playhead.masking import Masker

_SMALL: Final = 160
"""What comes to fewer bytes stands where it is: a reference would not be shorter."""

_LONG: Final = 1024
"""Strings of more characters become parts of their own in a list."""

_STRINGS: Final = 50_000
"""So many long strings in lists are remembered."""

_CONTAINERS: Final = frozenset({dict, list, FrozenDict, FrozenList})
_FROZEN: Final = frozenset({FrozenDict, FrozenList})

_encode = msgspec.json.Encoder().encode


class StateKeeper:
    """The states of one recording; ``keep`` writes a part's content and gives the digest under which it is found."""

    def __init__(self, masker: Masker, keep: Callable[[bytes], str]) -> None:
        self._masker = masker
        self._keep = keep
        self._strings: OrderedDict[int, tuple[str, msgspec.Raw]] = OrderedDict()

    def state(self, value: Any) -> msgspec.Raw:
        """The JSON of a state, masked, that refers to its parts: of a frozen value or, else, of a tree made of one."""
        if type(value) in _CONTAINERS:
            return self._container(value)
        return msgspec.Raw(_encode(escape(self._masker.value(value))))

    def _container(self, node: Any) -> msgspec.Raw:
        is_frozen = type(node) in _FROZEN
        known = getattr(node, "kept", None) if is_frozen else None
        if known is not None and known[0] is self:
            raw: msgspec.Raw = known[1]
            return raw
        is_plain = self._is_plain(node, is_frozen=is_frozen)
        tree = self._shell(node) if is_plain else freeze(_thawed(node)) if is_frozen else node
        text = _encode(escape(self._masker.value(tree)))
        raw = msgspec.Raw(text if len(text) <= _SMALL else self._part(text))
        if is_frozen:
            node.kept = (self, raw)
        return raw

    def _is_plain(self, node: Any, *, is_frozen: bool) -> bool:
        """Whether ``node`` is a list or an object in JSON as well, and no tagged value."""
        if not isinstance(node, dict):
            return True
        if not is_frozen:
            return "$t" not in node
        return all(type(key) is str and key[:1] != "$" and key.isascii() for key in node)

    def _shell(self, node: Any) -> Any:
        """``node`` with references for what is below it, but for what a name in it says is secret."""
        named = self._masker.names_secrets(node)
        if isinstance(node, dict):
            pairs = zip(node.items(), named or repeat(False), strict=False)
            return {key: self._held(held, is_named=name) for (key, held), name in pairs}
        # In a list of pairs the mask tells by all of them that they are such.
        return [self._held(held, is_named=named is not None, in_list=True) for held in node]

    def _held(self, value: Any, *, is_named: bool, in_list: bool = False) -> Any:
        kind = type(value)
        if kind in _CONTAINERS:
            if not is_named:
                return self._container(value)
            return freeze(_thawed(value)) if kind in _FROZEN else value
        if kind is str and value.isascii():
            return self._long_string(value) if in_list and not is_named and len(value) > _LONG else value
        return value if kind is bool or value is None or kind is dict else freeze(_thawed(value))

    def _long_string(self, text: str) -> msgspec.Raw:
        known = self._strings.get(id(text))
        if known is None:
            content = _encode(self._masker.text(text))
            known = self._strings[id(text)] = (text, msgspec.Raw(self._part(content)))
            if len(self._strings) > _STRINGS:
                self._strings.popitem(last=False)
        return known[1]

    def _part(self, content: bytes) -> bytes:
        return b'{"$part":"%s"}' % self._keep(content).encode()


def _thawed(value: Any) -> Any:
    """``value`` with dicts and lists of the plain kind."""
    if isinstance(value, dict):
        return {key: _thawed(held) for key, held in value.items()}
    if isinstance(value, list):
        return list(map(_thawed, value))
    return tuple(map(_thawed, value)) if type(value) is tuple else value
