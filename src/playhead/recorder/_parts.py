"""Keeping each part of a conversation once.

Every model request repeats the whole conversation. The parts of a request that were seen before are known by
their raw bytes, so that only new ones are decoded, masked, hashed and written; a list that begins like the
one before it in its lane is written as "so many of those, then these".
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from playhead.eventlog import escape
from playhead.masking import Masker
from playhead.recorder._repeats import Abridged, Repeats, find_values

_LONG = 1024
"""Strings of more characters become parts wherever they stand."""

_SMALL = 160
"""Parts of fewer bytes are written where they stand: a reference would not be shorter."""

_decode_top = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class NotPlainJsonError(ValueError):
    """The text is not a JSON object, or repeats a key, and has to be kept as text."""


class PartKeeper:
    """The parts of one recording, and the last lists of each of its lanes."""

    def __init__(self, masker: Masker, keep: Callable[[bytes], str]) -> None:
        """``keep`` writes a part's content and gives the digest under which it is found."""
        self._masker = masker
        self._keep = keep
        self._written: dict[bytes, msgspec.Raw] = {}
        self._seen: dict[bytes, msgspec.Raw] = {}
        self._lists: dict[tuple[str, str], tuple[int, list[bytes]]] = {}
        self._new_lists: dict[str, list[bytes]] = {}
        self._last: tuple[str, Abridged, dict[str, int]] | None = None
        self._repeats = Repeats()
        self.abridge = self._repeats.abridge

    def request(self, lane: str, request: Abridged) -> msgspec.Raw:
        """The JSON of a request with references for what is known; then call `requested` with its position.

        Raises `NotPlainJsonError` where it is not an object whose keys are all different.
        """
        self._last = None
        self._new_lists.clear()
        try:
            top = _decode_top(request.text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise NotPlainJsonError(str(error)) from error
        places = find_values(request.text, top)
        if places is None:
            _refuse_repeated_keys(request.text)
        written: dict[str, Any] = {}
        small: dict[str, Any] = {}
        for key, value in top.items():
            text = bytes(value)
            if key == request.key:
                written[key] = self._list(lane, key, text, request.left_out)
            elif len(text) > _SMALL and text[:1] == b"[":
                written[key] = self._list(lane, key, text, 0)
            else:
                small[key] = _decode(text)
        written.update(self.lift(escape(self._masker.value(small))))
        self._last = (lane, request, places or {})
        return msgspec.Raw(_encode(written))

    def requested(self, seq: int) -> None:
        """The last `request`, unless it was refused, stands at ``seq``; later ones may refer to its lists."""
        if self._last is None:
            return
        lane, request, places = self._last
        for key, items in self._new_lists.items():
            self._lists[lane, key] = (seq, items)
        key = request.key or max(self._new_lists, key=lambda key: sum(map(len, self._new_lists[key])), default="")
        items = self._new_lists[key][request.left_out :] if key in places else []
        self._repeats.remember(lane, request._replace(key=key), places.get(key, 0), items)

    def lift(self, tree: Any) -> Any:
        """``tree``, masked already, with its long strings as parts; the same object where it has none."""
        kind = type(tree)
        if kind is str:
            return self._part(_encode(tree)) if len(tree) > _LONG else tree
        if kind is not dict and kind is not list:
            return tree
        lifted = tree
        for place, held in tree.items() if kind is dict else enumerate(tree):
            kind = type(held)
            if (kind is str and len(held) > _LONG) or kind is dict or kind is list:
                new = self.lift(held)
                if new is not held:
                    lifted = tree.copy() if lifted is tree else lifted
                    lifted[place] = new
        return lifted

    def _list(self, lane: str, key: str, text: bytes, left_out: int) -> Any:
        seq, before = self._lists.get((lane, key), (0, []))
        items = before[:left_out] + list(map(bytes, _decode_items(text)))
        kept = left_out
        for new, old in zip(items[left_out:], before[left_out:], strict=False):
            if new != old:
                break
            kept += 1
        self._new_lists[key] = items
        then = [self._item(item) for item in items[kept:]]
        if kept == 0:
            return then
        return {"$list": {"of": seq, "path": ["request", key], "keep": kept, "then": then}}

    def _item(self, text: bytes) -> msgspec.Raw:
        known = self._seen.get(text)
        if known is None:
            tree = _decode(text)
            if _encode(tree) != text:
                _refuse_repeated_keys(text)
            masked = escape(tree if self._masker.is_clean_json(text) else self._masker.value(tree))
            lifted = masked if type(masked) is str else self.lift(masked)
            known = self._seen[text] = self._part(_encode(lifted))
        return known

    def _part(self, content: bytes) -> msgspec.Raw:
        if len(content) <= _SMALL:
            return msgspec.Raw(content)
        known = self._written.get(content)
        if known is None:
            known = self._written[content] = msgspec.Raw(b'{"$part":"%s"}' % self._keep(content).encode())
        return known


def _refuse_repeated_keys(text: bytes) -> None:
    def check(pairs: list[tuple[str, Any]]) -> None:
        if len({key for key, _ in pairs}) != len(pairs):
            raise NotPlainJsonError("a key is repeated")

    json.loads(text, object_pairs_hook=check)
