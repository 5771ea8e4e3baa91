"""The codec of values: trees of JSON with tags, version 1.

A value becomes a *tree*: text, numbers, ``true``/``false``/``null``, lists and objects stand for themselves.
Everything else is an object with a tag, ``{"$t": tag, …}``:

==============================================  =====================================================================
``int``                                         a whole number outside -2**63 … 2**64-1: ``v`` in hexadecimal
``float``                                       ``v``: ``nan``, ``inf``, ``-inf`` (-0.0 is plain JSON)
``str``                                         text with lone surrogates: ``v``, pieces of text and code points
``dict``                                        keys other than well-formed text: ``v``, pairs in order
``tuple`` ``set`` ``frozenset``                 ``v``: the items, sets in the order they were walked
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

from collections import Counter
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Literal

from playhead.errors import MissingTypeError, ValueRefusedError
from playhead.events._classes import class_name, missing
from playhead.events._exceptions import encode_error, rebuild_error
from playhead.events._objects import (
    MODELS,
    decode_enum,
    decode_model,
    decode_named_tuple,
    decode_subclass,
    encode_object,
)
from playhead.events._opaque import Opaque, OpaqueError, Why
from playhead.events._scalars import (
    DECODERS,
    INT_HIGH,
    INT_LOW,
    encode_float,
    encode_int,
    encode_text,
    encoder_of,
    is_well_formed,
)

DEPTH = 200
"""Containers inside one another that are kept; an instance counts for itself and for its fields."""
NODES = 2_000_000
SIZE = 64 << 20
"""Items of containers, and characters or bytes, that are kept of one value."""

_SMALL_DEPTH = 40
_DECODED_DEPTH = DEPTH + 8
_EQUAL_HASHES = 1_000

Tree = dict[str, Any]


class Encoder:
    """Turns one value into a tree. ``losses`` counts what was not kept, by `Why`."""

    def __init__(self) -> None:
        self._begin(DEPTH)

    def _begin(self, depth: int) -> None:
        self.losses: Counter[str] = Counter()
        self._depth = depth
        self._nodes = NODES
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
            self._size -= len(value)
            return value if self._size >= 0 and value.isascii() else self._text(value)
        if cls is int:
            return value if INT_LOW <= value < INT_HIGH else self._big_int(value)
        if cls is bool or value is None:
            return value
        if cls is float:
            return value if value - value == 0 else encode_float(value)
        open_, identity = self._open, id(value)
        if identity in open_:
            return self._opaque(cls, "cycle")
        if len(open_) >= self._depth:
            return self._opaque(cls, "deep")
        open_.add(identity)
        try:
            if cls is dict:
                return self._dict(value)
            if cls is list:
                return self._items(value, cls)
            return self._other(value, cls)
        finally:
            open_.discard(identity)

    def _text(self, value: str) -> Any:
        if self._size < 0:
            self._size += len(value)
            return self._opaque(str, "too big", length=len(value))
        return value if is_well_formed(value) else encode_text(value)

    def _big_int(self, value: int) -> Any:
        self._size -= value.bit_length() // 4
        if self._size < 0:
            self._size += value.bit_length() // 4
            return self._opaque(int, "too big", bits=value.bit_length())
        return encode_int(value)

    def _items(self, value: Iterable[Any], cls: type) -> Any:
        items = list(value)
        if len(items) > self._nodes:
            return self._opaque(cls, "too big", length=len(items))
        self._nodes -= len(items)
        return list(map(self._value, items))

    def _dict(self, value: dict[Any, Any]) -> Any:
        keys, held = list(value), list(value.values())
        if len(keys) > self._nodes:
            return self._opaque(dict, "too big", length=len(keys))
        self._nodes -= len(keys)
        names = []
        for key in keys:
            if type(key) is not str or not (key.isascii() or is_well_formed(key)):
                pairs = zip(map(self._value, keys), map(self._value, held), strict=True)
                return {"$t": "dict", "v": list(map(list, pairs))}
            self._size -= len(key)
            names.append("$" + key if key[:1] == "$" else key)
        return dict(zip(names, map(self._value, held), strict=True))

    def _other(self, value: Any, cls: type) -> Any:
        try:
            tree = self._known(value, cls)
        except RecursionError:
            raise
        except Exception:
            # A class built to surprise (or a container changed by another thread) is marked, not raised.
            tree = None
        return self._opaque(cls, "unknown", **_facts(value, cls)) if tree is None else tree

    def _known(self, value: Any, cls: type) -> Any:
        if cls is bytes or cls is bytearray:
            if len(value) > self._size:
                return self._opaque(cls, "too big", length=len(value))
            self._size -= len(value)
        if cls is tuple or cls is set or cls is frozenset:
            items = self._items(value, cls)
            return {"$t": cls.__name__, "v": items} if type(items) is list else items
        if cls is slice:
            return {"$t": "slice", "v": [self._value(part) for part in (value.start, value.stop, value.step)]}
        if cls is Opaque:
            return dict(value.tree)
        encoder = encoder_of(cls, class_name(cls).partition(":")[0])
        if encoder is not None:
            return encoder(value, self._value)
        if issubclass(cls, BaseException):
            return encode_error(value, cls, self._value)
        return encode_object(value, cls, self._value)

    def _opaque(self, cls: type, why: Why, **facts: Any) -> Tree:
        self.losses[why] += 1
        return {"$t": "opaque", "class": class_name(cls), "why": why, **facts}


def _facts(value: Any, cls: type) -> Tree:
    """What is known of an unknown value without asking it: the name of a class or function, an array's shape."""
    if isinstance(value, type):
        return {"name": class_name(value)}
    if cls is FunctionType or cls is BuiltinFunctionType:
        name = f"{value.__module__}:{value.__qualname__}"
        return {"name": name} if name.isascii() else {}
    if cls is ModuleType:
        return {}
    if class_name(cls) == "numpy:ndarray":
        return {"dtype": str(value.dtype), "shape": [int(length) for length in value.shape]}
    return {}


def decode(tree: Any, *, missing: Literal["raise", "opaque"] = "raise") -> Any:
    """The value of a tree, made afresh.

    Raises `MissingTypeError` for a value whose class this program does not have (or has as something else), or
    that was not kept when it was recorded; with ``missing="opaque"`` an `Opaque` takes its place. Raises
    `ValueRefusedError` for what is no tree of this codec.
    """
    try:
        return _Decoder(missing).value(tree)
    except RecursionError:
        raise _refused("a recorded value is nested too deeply for this program's stack") from None


def decode_error(tree: Any, *, missing: Literal["raise", "opaque"] = "raise") -> BaseException:
    """The exception of a tree, made afresh, without traceback, ready to be raised.

    Raises as `decode` does. With ``missing="opaque"`` an `OpaqueError` stands for an exception whose class this
    program does not have.
    """
    error = decode(tree, missing=missing)
    if isinstance(error, Opaque):
        return OpaqueError(error)
    if not isinstance(error, BaseException):
        raise _refused("a recorded error is no exception")
    return error


class _Decoder:
    def __init__(self, mode: Literal["raise", "opaque"]) -> None:
        self._mode = mode
        self._depth = 0
        self._opaques = 0

    def value(self, tree: Any) -> Any:
        cls = type(tree)
        if cls is str or cls is int or cls is float or cls is bool or tree is None:
            return tree
        if self._depth >= _DECODED_DEPTH:
            raise _refused(f"a recorded value is nested more than {DEPTH} levels deep")
        self._depth += 1
        try:
            if cls is list:
                return list(map(self.value, tree))
            if cls is dict:
                return self._tagged(tree) if "$t" in tree else self._dict(tree)
        finally:
            self._depth -= 1
        raise _refused(f"a recorded value holds a {cls.__name__}, which JSON has not")

    def _dict(self, tree: Tree) -> dict[str, Any]:
        value = {}
        for key, held in tree.items():
            if type(key) is not str or key[:1] == "$":
                if type(key) is not str or key[:2] != "$$":
                    raise _refused("a recorded value has a key that begins with $ and is no tag")
                key = key[1:]
            value[key] = self.value(held)
        return value

    def _tagged(self, tree: Tree) -> Any:
        tag = tree["$t"]
        decoder = _TAGS.get(tag) if type(tag) is str else None
        if decoder is None:
            raise _refused("a recorded value has a tag that this version does not know", tag=tag)
        opaques = self._opaques
        try:
            try:
                return decoder(self, tree)
            except (ValueRefusedError, RecursionError):
                raise
            except Exception:
                if self._opaques == opaques:
                    raise _refused("a recorded value does not have the form of its tag", tag=tag) from None
                raise missing(_named(tree), tag, "a part of it was not kept") from None
        except MissingTypeError as error:
            if self._mode == "raise":
                raise
            self._opaques += 1
            return Opaque(_named(tree), error.facts.get("why", "missing type"), tree)

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
        return list(map(self.value, items))

    def pairs(self, tree: Tree) -> dict[Any, Any]:
        pairs = [(self.value(key), self.value(held)) for key, held in tree["v"]]
        _check_hashes([key for key, _ in pairs])
        value = dict(pairs)
        if len(value) != len(pairs):
            raise ValueError("a repeated key")
        return value

    def members(self, tree: Tree) -> list[Any]:
        items = self.items(tree)
        _check_hashes(items)
        return items

    def opaque(self, tree: Tree) -> Any:
        why = tree["why"]
        if type(why) is not str or why not in Why.__args__:  # type: ignore[attr-defined]
            raise ValueError("not a reason")
        error = missing(_named(tree), "value", f"it was not kept when it was recorded ({why})")
        error.facts["why"] = why
        raise error


def _check_hashes(items: list[Any]) -> None:
    """Thousands of keys with one hash (easily made of large numbers) would take hours to put into a table."""
    if len(items) > _EQUAL_HASHES and len(items) - len(set(map(hash, map(hash, items)))) > _EQUAL_HASHES:
        raise ValueError("too many equal hashes")


def _named(tree: Tree) -> str:
    name = tree.get("class")
    return name if type(name) is str else f"playhead:{tree['$t']}"


def _refused(message: str, *, tag: Any = None) -> ValueRefusedError:
    shown = f": {tag[:40]!a}" if type(tag) is str else ""
    return ValueRefusedError(
        message + shown,
        next="playhead verify RUN",
        facts={"tag": tag} if type(tag) is str else None,
    )


def _model_decoder(tag: str) -> Callable[[_Decoder, Tree], Any]:
    return lambda self, tree: decode_model(tag, tree, self.value)


def _scalar_decoder(tag: str) -> Callable[[_Decoder, Tree], Any]:
    return lambda self, tree: DECODERS[tag](tree, self.value)


_TAGS: dict[str, Callable[[_Decoder, Tree], Any]] = {
    "dict": _Decoder.pairs,
    "enum": lambda self, tree: decode_enum(tree, self.value, Encoder().encode),
    "error": lambda self, tree: rebuild_error(tree, self.value, self.lenient),
    "frozenset": lambda self, tree: frozenset(self.members(tree)),
    "namedtuple": lambda self, tree: decode_named_tuple(tree, self.value),
    "opaque": _Decoder.opaque,
    "set": lambda self, tree: set(self.members(tree)),
    "slice": lambda self, tree: slice(*self.items(tree)),
    "subclass": lambda self, tree: decode_subclass(tree, self.value),
    "tuple": lambda self, tree: tuple(self.items(tree)),
    **{tag: _model_decoder(tag) for tag in MODELS},
    **{tag: _scalar_decoder(tag) for tag in DECODERS},
}
