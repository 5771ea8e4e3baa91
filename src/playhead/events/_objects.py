"""Tags of instances: enum members, named tuples, models of four libraries, subclasses of built-in types.

Encoding reads state and runs nothing of the class. Decoding makes a bare instance of a class that is here and of
the recorded kind, and puts the state into it: no ``__init__``, no ``__new__``, no hook of the class is run.
pydantic and attrs are known by the marks they leave on a class and are never imported.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import msgspec

from playhead.events._classes import (
    Slots,
    class_attribute,
    class_name,
    find_class,
    is_python_class,
    missing,
    read_state,
    slots_of,
    write_state,
)
from playhead.events._exceptions import error_encoder

Encode = Callable[[Any], Any]
Encoder = Callable[[Any, Encode], "Tree | None"]
Tree = dict[str, Any]

_ATTRS_HASH = "_attrs_cached_hash"


class Model(NamedTuple):
    """How a library's model classes are known, and how their fields and instances are had."""

    is_kind: Callable[[type], bool]
    fields: Callable[[type], tuple[str, ...]]


def _is_pydantic(cls: type) -> bool:
    main = sys.modules.get("pydantic.main")
    base = getattr(main, "BaseModel", None)
    return base is not None and base is not cls and base in cls.__mro__


def _is_dataclass(cls: type) -> bool:
    return type(class_attribute(cls, "__dataclass_fields__")) is dict


def _is_attrs(cls: type) -> bool:
    return isinstance(class_attribute(cls, "__attrs_attrs__"), tuple)


def _is_struct(cls: type) -> bool:
    return msgspec.Struct in cls.__mro__ and cls is not msgspec.Struct


def _pydantic_fields(cls: type) -> tuple[str, ...]:
    fields = class_attribute(cls, "__pydantic_fields__") or class_attribute(cls, "model_fields")
    return tuple(fields) if type(fields) is dict else ()


def _dataclass_fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(cls))


def _attrs_fields(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in class_attribute(cls, "__attrs_attrs__"))


def _struct_fields(cls: type) -> tuple[str, ...]:
    return tuple(cls.__struct_fields__)  # type: ignore[attr-defined]


MODELS: dict[str, Model] = {
    "pydantic": Model(_is_pydantic, _pydantic_fields),
    "attrs": Model(_is_attrs, _attrs_fields),
    "struct": Model(_is_struct, _struct_fields),
    "dataclass": Model(_is_dataclass, _dataclass_fields),
}
"""In the order they are tried."""

_BASES: tuple[type, ...] = (
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    list,
    tuple,
    set,
    frozenset,
    OrderedDict,
    defaultdict,
    deque,
    dict,
)

_PLAIN: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytearray.__getitem__(value, slice(None)),
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    list: list.copy,
    tuple: lambda value: tuple.__getitem__(value, slice(None)),
    set: lambda value: set().union(value),
    frozenset: lambda value: frozenset().union(value),
    OrderedDict: lambda value: dict(OrderedDict.items(value)),
    defaultdict: lambda value: dict(dict.items(value)),
    deque: lambda value: list(deque.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
}
"""The content of an instance of a subclass as its plain base, past every override."""

_CONTENTS: dict[Any, type] = {OrderedDict: dict, defaultdict: dict, deque: list}
"""The plain base, where it is another than the built-in type."""

_FACTORIES: dict[str, type] = {cls.__name__: cls for cls in (list, dict, set, int, float, str, tuple, bool)}


_encoders: WeakKeyDictionary[type, Encoder | None] = WeakKeyDictionary()


def object_encoder(cls: type) -> Encoder | None:
    """What makes trees of instances of a class, or ``None`` where its kind is not known."""
    try:
        return _encoders[cls]
    except KeyError:
        return _encoders.setdefault(cls, _make_encoder(cls))


def _make_encoder(cls: type) -> Encoder | None:
    name, slots = class_name(cls), slots_of(cls)
    if issubclass(cls, BaseException):
        return error_encoder(cls, name, slots)
    if enum.Enum in cls.__mro__:
        return _enum_encoder(name)
    base = _base_of(cls)
    if base is not None:
        return _subclass_encoder(cls, base, name, slots)
    for tag, model in MODELS.items():
        if model.is_kind(cls):
            return _model_encoder(tag, model.fields(cls), name, _struct_slots(cls) if tag == "struct" else slots)
    return None


def _model_encoder(tag: str, names: tuple[str, ...], class_name: str, slots: Slots) -> Encoder:
    def encode_model(value: Any, encode: Encode) -> Tree:
        state = read_state(value, slots)
        fields = {name: state.pop(name) for name in names if name in state}
        tree: Tree = {"$t": tag, "class": class_name, "v": encode(fields)}
        if len(fields) < len(names):
            tree["unset"] = [name for name in names if name not in fields]
        if tag == "pydantic":
            tree["set"] = sorted(state.pop("__pydantic_fields_set__", ()))
            for key, name in (("extra", "__pydantic_extra__"), ("private", "__pydantic_private__")):
                held = state.pop(name, None)
                if held is not None:
                    tree[key] = encode(held)
        if tag == "attrs" and state.get(_ATTRS_HASH) is not None:
            # A hash is good in the process that computed it only.
            state[_ATTRS_HASH] = None
        if state:
            tree["also"] = encode(state)
        return tree

    return encode_model


def _struct_slots(cls: type) -> Slots:
    return {name: class_attribute(cls, name) for name in _struct_fields(cls)}


def decode_model(tag: str, tree: Tree, decode: Encode) -> Any:
    """An instance with the recorded state, of the class as it is now if its fields are the recorded ones."""
    model = MODELS[tag]
    cls = find_class(tree.get("class"), tag, model.is_kind)
    fields = _mapping(decode(tree["v"]))
    recorded = {*fields, *_names(tree.get("unset", []))}
    names = set(model.fields(cls))
    if recorded != names:
        changed = ", ".join(ascii(name)[:60] for name in sorted(recorded ^ names)[:5])
        raise missing(tree["class"], tag, f"its fields are not the recorded ones: {changed}")
    if tag == "struct":
        return _build_struct(cls, fields)
    value: Any = object.__new__(cls)
    also = _mapping(decode(tree.get("also", {})))
    if tag == "pydantic":
        object.__setattr__(value, "__dict__", fields | also)
        object.__setattr__(value, "__pydantic_fields_set__", set(_names(tree.get("set", []))))
        for key, name in (("extra", "__pydantic_extra__"), ("private", "__pydantic_private__")):
            object.__setattr__(value, name, _mapping(decode(tree[key])) if key in tree else None)
    else:
        write_state(value, cls, fields | also)
    return value


def _build_struct(cls: type, fields: dict[str, Any]) -> Any:
    """A struct can only be made by the call of its compiled metaclass, which runs ``__post_init__``: where there is
    one, a subclass without it is filled and then turned into the class."""
    if class_attribute(cls, "__post_init__") is None:
        return _call_struct(cls, **fields)
    if class_attribute(cls, "__init_subclass__") is not object.__dict__["__init_subclass__"]:
        raise missing(class_name(cls), "struct", "it has a __post_init__ that cannot be left out")
    meta: Any = type(msgspec.Struct)
    twin = meta("Twin", (cls,), {"__post_init__": lambda self: None}, tag=False)
    value = _call_struct(twin, **fields)
    object.__dict__["__class__"].__set__(value, cls)
    return value


_call_struct = type(msgspec.Struct).__call__


def _enum_encoder(class_name: str) -> Encoder:
    def encode_enum(value: Any, encode: Encode) -> Tree:
        name, held = object.__getattribute__(value, "_name_"), object.__getattribute__(value, "_value_")
        return {"$t": "enum", "class": class_name, "name": encode(name), "v": encode(held)}

    return encode_enum


def decode_enum(tree: Tree, decode: Encode, encode: Encode) -> Any:
    """The member of that name, if it stands for the recorded value still; or the combination of flags."""
    cls = find_class(tree.get("class"), "enum", lambda cls: issubclass(cls, enum.Enum))
    members = class_attribute(cls, "_member_map_")
    name = decode(tree.get("name"))
    if type(name) is str and name in members:
        member = members[name]
        if encode(object.__getattribute__(member, "_value_")) != tree["v"]:
            raise missing(tree["class"], "enum", f"its member {ascii(name)[:60]} stands for another value now")
        return member
    if issubclass(cls, enum.Flag) and type(tree["v"]) is int:
        # The standard library's own way to make a combination; a _missing_ of the class is not run.
        member = enum.Flag._missing_.__func__(cls, tree["v"])  # type: ignore[attr-defined]
        if type(member) is cls:
            return member
    raise missing(tree["class"], "enum", "it has no such member now")


def _base_of(cls: type) -> type | None:
    """The built-in type that a Python class extends, or ``None`` (a compiled subclass cannot be rebuilt bare)."""
    for base in cls.__mro__:
        if base in _BASES:
            return base
        if not is_python_class(base):
            return None
    return None


def _is_named_tuple(cls: type) -> bool:
    return tuple in cls.__mro__ and type(class_attribute(cls, "_fields")) is tuple


def _subclass_encoder(cls: type, base: type, class_name: str, slots: Slots) -> Encoder:
    plain = _PLAIN[base]
    fields = class_attribute(cls, "_fields") if base is tuple and _is_named_tuple(cls) else ()

    def encode_subclass(value: Any, encode: Encode) -> Tree | None:
        content = plain(value)
        if fields and len(fields) == len(content):
            return {"$t": "namedtuple", "class": class_name, "v": encode(dict(zip(fields, content, strict=True)))}
        tree: Tree = {"$t": "subclass", "class": class_name, "v": encode(content)}
        if base is deque:
            tree["maxlen"] = deque.__dict__["maxlen"].__get__(value)
        if base is defaultdict:
            factory = defaultdict.__dict__["default_factory"].__get__(value)
            known = [name for name, each in _FACTORIES.items() if each is factory]
            if known:
                tree["factory"] = known[0]
            elif factory is not None:
                return None
        state = read_state(value, slots)
        if state:
            tree["also"] = encode(state)
        return tree

    return encode_subclass


def decode_named_tuple(tree: Tree, decode: Encode) -> Any:
    cls = find_class(tree.get("class"), "namedtuple", _is_named_tuple)
    fields = _mapping(decode(tree["v"]))
    if tuple(fields) != class_attribute(cls, "_fields"):
        raise missing(tree["class"], "namedtuple", "its fields are not the recorded ones")
    return tuple.__new__(cls, fields.values())


def decode_subclass(tree: Tree, decode: Encode) -> Any:
    """An instance of a subclass of a built-in type, filled by that built-in type's own methods."""
    cls = find_class(tree.get("class"), "subclass", lambda cls: _base_of(cls) is not None)
    base: Any = _base_of(cls)
    content = decode(tree["v"])
    if type(content) is not _CONTENTS.get(base, base) or issubclass(cls, enum.Enum):
        raise missing(tree["class"], "subclass", f"it extends {base.__name__} now")
    value: Any
    if base in _FILL:
        value = base.__new__(cls)
        _FILL[base](value, content, tree)
    else:
        value = base.__new__(cls, content)
    if "also" in tree:
        write_state(value, cls, _mapping(decode(tree["also"])))
    return value


def _fill_deque(value: Any, content: list[Any], tree: Tree) -> None:
    limit = tree.get("maxlen")
    if limit is not None and (type(limit) is not int or not len(content) <= limit <= sys.maxsize):
        raise ValueError("not the length of a deque")
    deque.__init__(value, content, limit)


def _fill_default(value: Any, content: dict[Any, Any], tree: Tree) -> None:
    defaultdict.__init__(value, _FACTORIES[tree["factory"]] if "factory" in tree else None, content)


def _fill_ordered(value: Any, content: dict[Any, Any], tree: Tree) -> None:
    for key, held in content.items():
        OrderedDict.__setitem__(value, key, held)


_FILL: dict[type, Callable[[Any, Any, Tree], None]] = {
    list: lambda value, content, tree: list.extend(value, content),
    set: lambda value, content, tree: set.update(value, content),
    bytearray: lambda value, content, tree: bytearray.extend(value, content),
    dict: lambda value, content, tree: dict.update(value, content),
    OrderedDict: _fill_ordered,
    defaultdict: _fill_default,
    deque: _fill_deque,
}


def _mapping(value: Any) -> dict[str, Any]:
    if type(value) is not dict or any(type(key) is not str for key in value):
        raise ValueError("not named values")
    return value


def _names(value: Any) -> list[str]:
    if type(value) is not list or any(type(name) is not str for name in value):
        raise ValueError("not names")
    return value
