"""The codec of values: trees of JSON with tags, version 1.

A value becomes a *tree*: text, numbers, ``true``/``false``/``null``, lists and objects stand for themselves.
Everything else is an object with a tag, ``{"$t": tag, …}``:

==============================================  =====================================================================
``int``                                         a whole number outside -2**63 … 2**64-1: ``v`` in hexadecimal
``float``                                       ``v``: ``nan``, ``inf``, ``-inf`` (-0.0 is plain JSON)
``str``                                         text with lone surrogates: ``v``, pieces of text and code points
``dict``                                        keys other than well-formed text: ``v``, pairs in order
``tuple`` ``set`` ``frozenset``                 ``v``: the items; those of a set in the order of their JSON
``slice`` ``range`` ``complex``                 ``v``: the parts
``bytes`` ``bytearray``                         ``utf8`` where they are text without NUL, else ``base64``
``constant``                                    ``v``: ``Ellipsis`` or ``NotImplemented``
``datetime`` ``time`` ``date`` ``timedelta``    ``v`` (ISO 8601; days, seconds, microseconds), ``fold``, ``tz``
``timezone`` ``zone``                           ``v``, ``name``; the key in the time-zone database
``decimal`` ``fraction`` ``uuid`` ``ip``        ``v``, and ``class`` for an address
``path``                                        ``v``, and ``class`` in `pathlib`
``enum``                                        ``class``, ``name``, ``v``
``namedtuple`` ``subclass``                     ``class``, ``v``, ``also`` (attributes), ``maxlen``, ``factory``
``dataclass`` ``attrs`` ``pydantic`` ``struct`` ``class``, ``v`` (fields), ``unset``, ``also``;
                                                ``set``, ``extra``, ``private`` of pydantic
``error``                                       see `playhead.events._exceptions`
``opaque``                                      a value that was not kept: ``class``, ``why``, and what is cheaply known
==============================================  =====================================================================

A key of an ordinary dict that begins with ``$`` gets one more ``$`` in front. Classes are ``module:qualname``.

Encoding never raises and never runs code of the value, except the ``__str__`` of an exception that defines one.
What it cannot keep it marks as ``opaque`` and counts. Decoding makes fresh objects, imports nothing, and calls
nothing that the tree names; it ends in a value, `ValueRefusedError` or `MissingTypeError`, whatever the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from playhead.errors import MissingTypeError, ValueRefusedError
from playhead.events._classes import class_name, missing, refused
from playhead.events._exceptions import rebuild_error
from playhead.events._objects import (
    MODELS,
    decode_enum,
    decode_model,
    decode_named_tuple,
    decode_subclass,
    object_encoder,
)
from playhead.events._opaque import Opaque, OpaqueError, Why, facts_of
from playhead.events._scalars import (
    DECODERS,
    INT_HIGH,
    INT_LOW,
    encode_float,
    encode_int,
    encode_text,
    encoder_of,
    is_well_formed,
    keys_are_plain,
)

DEPTH = 200
"""Containers inside one another that are kept; an instance counts for itself and for its fields."""
NODES = 2_000_000
SIZE = 64 << 20
"""Items of containers, and characters or bytes in long texts, that are kept of one value."""

_SMALL_DEPTH = 40
_DECODED_DEPTH = DEPTH + 8
_SHORT_TEXT = 64
_EQUAL_HASHES = 1_000
_text_of = msgspec.json.encode
_ATOMS = frozenset({bool, float, int, str, type(None)})

Tree = dict[str, Any]


class Encoder:
    """Turns one value into a tree of at most ``nodes`` items. ``losses`` counts what was not kept, by `Why`."""

    def __init__(self, *, nodes: int = NODES) -> None:
        self._limit = nodes
        self.losses: dict[str, int] = {}

    def _begin(self, depth: int) -> None:
        self.losses = {}
        self._depth = depth
        self._nodes = self._limit
        self._size = SIZE
        self._open: set[int] = set()

    def encode(self, value: Any) -> Any:
        """The tree of a value; where the program's own stack is nearly full, with fewer levels."""
        for depth in (DEPTH, _SMALL_DEPTH):
            self._begin(depth)
            try:
                return self._value(value)
            except RecursionError:
                continue
        self._begin(0)
        return self._opaque(type(value), "deep")

    def _value(self, value: Any) -> Any:
        cls = type(value)
        if cls is str:
            if len(value) > self._size or not value.isascii():
                return self._text(value)
            self._size -= len(value)
            return value
        if cls is int:
            return value if INT_LOW <= value < INT_HIGH else self._big_int(value)
        if cls is float:
            return value if value - value == 0 else encode_float(value)
        if cls is bool or value is None:
            return value
        open_, identity = self._open, id(value)
        if identity in open_:
            return self._opaque(cls, "cycle")
        if len(open_) >= self._depth:
            return self._opaque(cls, "deep")
        open_.add(identity)
        try:
            if cls is dict:
                tree = value.copy()
                if not keys_are_plain(tree):
                    return self._keyed(tree)
                return self._settle(tree, tree.items(), cls)
            if cls is list:
                tree = value.copy()
                return self._settle(tree, enumerate(tree), cls)
            return self._other(value, cls)
        finally:
            open_.discard(identity)

    def _settle(self, tree: Any, places: Iterable[tuple[Any, Any]], cls: type) -> Any:
        """Put trees into the places of a container's shallow copy; most of what it holds is a tree already."""
        if len(tree) > self._nodes:
            return self._opaque(cls, "too big", length=len(tree))
        self._nodes -= len(tree)
        for place, held in places:
            kind = type(held)
            if kind is str:
                if len(held) <= _SHORT_TEXT and held.isascii():
                    continue
            elif kind is int:
                if INT_LOW <= held < INT_HIGH:
                    continue
            elif kind is float:
                if held - held == 0:
                    continue
            elif kind is bool or held is None:
                continue
            tree[place] = self._value(held)
        return tree

    def _keyed(self, value: dict[Any, Any]) -> Any:
        """A dict some of whose keys have to be escaped, or cannot be keys of JSON at all."""
        keys, held = list(value), self._settle(list(value.values()), enumerate(value.values()), dict)
        if type(held) is not list:
            return held
        if all(type(key) is str and is_well_formed(key) for key in keys):
            return {"$" + key if key[:1] == "$" else key: tree for key, tree in zip(keys, held, strict=True)}
        return {"$t": "dict", "v": [[self._value(key), tree] for key, tree in zip(keys, held, strict=True)]}

    def _text(self, value: str) -> Any:
        if len(value) > self._size:
            return self._opaque(str, "too big", length=len(value))
        self._size -= len(value)
        return value if value.isascii() or is_well_formed(value) else encode_text(value)

    def _big_int(self, value: int) -> Any:
        digits = value.bit_length() // 4
        if digits > self._size:
            return self._opaque(int, "too big", bits=value.bit_length())
        self._size -= digits
        return encode_int(value)

    def _other(self, value: Any, cls: type) -> Any:
        try:
            tree = self._known(value, cls)
            return self._opaque(cls, "unknown", **facts_of(value, cls)) if tree is None else tree
        except RecursionError:
            raise
        except Exception:
            # A class built to surprise (or a container changed by another thread) is marked, not raised.
            return self._opaque(cls, "unknown")

    def _known(self, value: Any, cls: type) -> Any:
        if cls is tuple or cls is set or cls is frozenset:
            items = list(value)
            tree = self._settle(items, enumerate(items), cls)
            if tree is not items:
                return tree
            if cls is not tuple:
                # The order of a set differs from process to process and has no meaning.
                items.sort(key=_text_of)
            return {"$t": cls.__name__, "v": items}
        if cls is bytes or cls is bytearray:
            if len(value) > self._size:
                return self._opaque(cls, "too big", length=len(value))
            self._size -= len(value)
        if cls is slice:
            return {"$t": "slice", "v": [self._value(part) for part in (value.start, value.stop, value.step)]}
        if cls is Opaque:
            return dict(value.tree)
        encoder = encoder_of(cls, class_name(cls).partition(":")[0]) or object_encoder(cls)
        return encoder and encoder(value, self._value)

    def _opaque(self, cls: type, why: Why, **facts: Any) -> Tree:
        self.losses[why] = self.losses.get(why, 0) + 1
        return {"$t": "opaque", "class": class_name(cls), "why": why, **facts}


def decode(tree: Any, *, missing: Literal["raise", "opaque"] = "raise") -> Any:
    """The value of a tree, made afresh.

    Raises `MissingTypeError` for a value whose class this program does not have (or has as something else), or
    that was not kept when it was recorded; with ``missing="opaque"`` an `Opaque` takes its place. Raises
    `ValueRefusedError` for what is no tree of this codec.
    """
    if type(tree) is dict and _ATOMS.issuperset(map(type, tree.values())) and keys_are_plain(tree):
        return tree.copy()  # as most are, at a glance
    try:
        return _Decoder(missing).value(tree)
    except RecursionError:
        raise refused("a recorded value is nested too deeply for this program's stack") from None


def decode_error(tree: Any, *, missing: Literal["raise", "opaque"] = "raise") -> BaseException:
    """The exception of a tree, made afresh, without traceback, ready to be raised.

    Raises as `decode` does. With ``missing="opaque"`` an `OpaqueError` stands for an exception whose class this
    program does not have.
    """
    error = decode(tree, missing=missing)
    if isinstance(error, Opaque):
        return OpaqueError(error)
    if not isinstance(error, BaseException):
        raise refused("a recorded error is no exception")
    return error


class _Decoder:
    def __init__(self, mode: Literal["raise", "opaque"]) -> None:
        self._mode = mode
        self._depth = 0
        self._opaques = 0

    def value(self, tree: Any) -> Any:
        cls = type(tree)
        if cls in _ATOMS:
            return tree
        if self._depth >= _DECODED_DEPTH:
            raise refused(f"a recorded value is nested more than {DEPTH} levels deep")
        self._depth += 1
        try:
            if cls is list:
                return self._settle(items := tree.copy(), enumerate(items))
            if cls is dict:
                if "$t" in tree:
                    return self._tagged(tree)
                value = tree.copy() if keys_are_plain(tree) else _unescaped(tree)
                return self._settle(value, value.items())
        finally:
            self._depth -= 1
        raise refused(f"a recorded value holds a {cls.__name__}, which JSON has not")

    def _settle(self, value: Any, places: Iterable[tuple[Any, Any]]) -> Any:
        for place, held in places:
            if type(held) not in _ATOMS:
                value[place] = self.value(held)
        return value

    def _tagged(self, tree: Tree) -> Any:
        tag = tree["$t"]
        decoder = _TAGS.get(tag) if type(tag) is str else None
        if decoder is None:
            raise refused("a recorded value has a tag that this version does not know", tag=tag)
        opaques = self._opaques
        try:
            try:
                return decoder(self, tree)
            except (ValueRefusedError, RecursionError):
                raise
            except Exception:
                if self._opaques == opaques:
                    raise refused("a recorded value does not have the form of its tag", tag=tag) from None
                raise missing(_named(tree), tag, "a part of it was not kept", why="incomplete") from None
        except MissingTypeError as error:
            if self._mode == "raise":
                raise
            self._opaques += 1
            return Opaque(_named(tree), error.facts["why"], tree)

    def lenient(self, tree: Any) -> Any:
        mode, self._mode = self._mode, "opaque"
        try:
            return self.value(tree)
        finally:
            self._mode = mode

    def items(self, tree: Tree) -> list[Any]:
        items = tree["v"]
        if type(items) is not list:
            raise ValueError("not items")
        return list(self._settle(items.copy(), enumerate(items)))

    def pairs(self, tree: Tree) -> dict[Any, Any]:
        pairs = [(self.value(key), self.value(held)) for key, held in tree["v"]]
        _check_hashes([key for key, _ in pairs])
        value = dict(pairs)
        if len(value) != len(pairs):
            raise ValueError("a repeated key")
        return value

    def members(self, tree: Tree, cls: type) -> Any:
        items = self.items(tree)
        _check_hashes(items)
        value = cls(items)
        if len(value) != len(items):
            raise ValueError("a repeated member")
        return value

    def opaque(self, tree: Tree) -> Any:
        why = tree["why"]
        if type(why) is not str or why not in Why.__args__:  # type: ignore[attr-defined]
            raise ValueError("not a reason")
        raise missing(_named(tree), "value", f"it was not kept when it was recorded ({why})", why=why)


def _unescaped(tree: Tree) -> Tree:
    value = {}
    for key, held in tree.items():
        if type(key) is not str or (key[:1] == "$" and key[:2] != "$$"):
            raise refused("a recorded value has a key that begins with $ and is no tag")
        value[key[1:] if key[:1] == "$" else key] = held
    return value


def _check_hashes(items: list[Any]) -> None:
    """Thousands of keys with one hash (easily made of large numbers) would take hours to put into a table."""
    if len(items) > _EQUAL_HASHES and len(items) - len(set(map(hash, items))) > _EQUAL_HASHES:
        raise ValueError("too many equal hashes")


def _named(tree: Tree) -> str:
    name = tree.get("class")
    return name if type(name) is str else f"playhead:{tree['$t']}"


def _slice(start: Any, stop: Any, step: Any) -> slice[Any, Any, Any]:
    return slice(start, stop, step)


def _model_decoder(tag: str) -> Callable[[_Decoder, Tree], Any]:
    return lambda self, tree: decode_model(tag, tree, self.value)


def _scalar_decoder(tag: str) -> Callable[[_Decoder, Tree], Any]:
    return lambda self, tree: DECODERS[tag](tree, self.value)


_TAGS: dict[str, Callable[[_Decoder, Tree], Any]] = {
    "dict": _Decoder.pairs,
    "enum": lambda self, tree: decode_enum(tree, self.value, Encoder().encode),
    "error": lambda self, tree: rebuild_error(tree, self.value, self.lenient),
    "frozenset": lambda self, tree: self.members(tree, frozenset),
    "namedtuple": lambda self, tree: decode_named_tuple(tree, self.value),
    "opaque": _Decoder.opaque,
    "set": lambda self, tree: self.members(tree, set),
    "slice": lambda self, tree: _slice(*self.items(tree)),
    "subclass": lambda self, tree: decode_subclass(tree, self.value),
    "tuple": lambda self, tree: tuple(self.items(tree)),
    **{tag: _model_decoder(tag) for tag in MODELS},
    **{tag: _scalar_decoder(tag) for tag in DECODERS},
}
