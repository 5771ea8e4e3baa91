"""Tags of exceptions: class, arguments, built-in fields, attributes, notes, cause, context, members.

An exception has to come back as its class even where something it carried could not be kept: what it carries
(arguments, attributes, cause, context) is decoded leniently, with an `Opaque` or `OpaqueError` in the place of
what is not here. Only its own class, and those of a group's members, are strict.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from playhead.events._classes import Slots, class_attribute, find_class, read_state, write_state
from playhead.events._opaque import Opaque, OpaqueError
from playhead.events._validation import encode_validation, is_validation_error, rebuild_validation

Encode = Callable[[Any], Any]
Tree = dict[str, Any]

_BUILTIN = {held for held in vars(builtins).values() if isinstance(held, type) and issubclass(held, BaseException)}
_FIELDS: dict[type, tuple[str, ...]] = {
    ImportError: ("msg", "name", "path"),
    NameError: ("name",),
    AttributeError: ("name",),
    OSError: ("errno", "strerror", "filename", "filename2"),
    StopIteration: ("value",),
    SyntaxError: ("msg", "filename", "lineno", "offset", "text", "end_lineno", "end_offset"),
    SystemExit: ("code",),
    UnicodeDecodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeEncodeError: ("encoding", "object", "start", "end", "reason"),
    UnicodeTranslateError: ("object", "start", "end", "reason"),
}
"""What built-in classes keep outside ``args`` and ``__dict__``."""

_BUILTIN_TEXTS = {cls.__dict__["__str__"] for cls in _BUILTIN if "__str__" in cls.__dict__}
_GROUP = BaseExceptionGroup.__dict__
_MESSAGE_LENGTH = 10_000
_LINKS: dict[str, Any] = {
    name: BaseException.__dict__[name] for name in ("args", "__cause__", "__context__", "__suppress_context__")
}
"""The built-in descriptors, past any property by which a class hides them."""


def error_encoder(cls: type, class_name: str, slots: Slots) -> Callable[[Any, Encode], Tree]:
    """What makes trees of a class of exceptions. The traceback is not kept: it names files and lines of a machine."""
    fields = [(name, base.__dict__[name]) for base in cls.__mro__ for name in _FIELDS.get(base, ())]
    speaks = class_attribute(cls, "__str__") not in _BUILTIN_TEXTS

    def encode_error(error: BaseException, encode: Encode) -> Tree:
        tree: Tree = {"$t": "error", "class": class_name}
        if issubclass(cls, BaseExceptionGroup):
            tree["args"] = [encode(_GROUP["message"].__get__(error))]
            tree["members"] = [encode(member) for member in _GROUP["exceptions"].__get__(error)]
        elif is_validation_error(class_name):
            tree.update(encode_validation(error, encode))
        else:
            tree["args"] = encode(list(_get(error, "args")))
        message = _message(error) if speaks else None
        if message is not None:
            tree["message"] = encode(message)
        builtin = {name: held for name, member in fields if (held := member.__get__(error)) is not None}
        if builtin:
            tree["fields"] = encode(builtin)
        state = read_state(error, slots)
        notes = state.pop("__notes__", None)
        if notes is not None:
            tree["notes"] = encode(notes)
        if state:
            tree["attributes"] = encode(state)
        _encode_links(error, tree, encode)
        return tree

    return encode_error


def _encode_links(error: BaseException, tree: Tree, encode: Encode) -> None:
    cause, context = _get(error, "__cause__"), _get(error, "__context__")
    if cause is not None:
        tree["cause"] = encode(cause)
    if context is not None:
        tree["context"] = "cause" if context is cause else encode(context)
    if _get(error, "__suppress_context__"):
        tree["suppress"] = True


def _get(error: BaseException, name: str) -> Any:
    return _LINKS[name].__get__(error)


def _message(error: BaseException) -> str | None:
    """What a class with a ``__str__`` of its own says of the exception: evidence that nothing else holds."""
    try:
        text = str(error)
    except Exception:
        return None
    return text[:_MESSAGE_LENGTH]


def _is_error(cls: type) -> bool:
    return issubclass(cls, BaseException)


def rebuild_error(tree: Tree, strict: Encode, lenient: Encode) -> BaseException:
    """The exception again, as a bare instance made by the built-in class it descends from."""
    cls = find_class(tree.get("class"), "exception", _is_error)
    error = _make(cls, tree, strict, lenient)
    _restore_fields(error, cls, lenient(tree.get("fields", {})))
    write_state(error, cls, lenient(tree.get("attributes", {})))
    if "notes" in tree:
        write_state(error, cls, {"__notes__": lenient(tree["notes"])})
    cause = _linked(lenient(tree["cause"])) if "cause" in tree else None
    _LINKS["__cause__"].__set__(error, cause)
    if "context" in tree:
        context = cause if tree["context"] == "cause" else _linked(lenient(tree["context"]))
        _LINKS["__context__"].__set__(error, context)
    _LINKS["__suppress_context__"].__set__(error, tree.get("suppress") is True)
    return error


def _make(cls: type, tree: Tree, strict: Encode, lenient: Encode) -> BaseException:
    if is_validation_error(tree["class"]):
        return rebuild_validation(cls, lenient(tree["title"]), lenient(tree["errors"]))
    args = lenient(tree["args"])
    if type(args) is not list:
        raise ValueError("not arguments")
    if issubclass(cls, BaseExceptionGroup):
        members = [strict(member) for member in tree["members"]]
        return BaseExceptionGroup.__new__(cls, args[0], members)
    base: Any = next(base for base in cls.__mro__ if base in _BUILTIN)
    error: BaseException = base.__new__(cls, *args)
    _LINKS["args"].__set__(error, tuple(args))
    return error


def _restore_fields(error: BaseException, cls: type, fields: Any) -> None:
    for base in cls.__mro__:
        for name in _FIELDS.get(base, ()):
            if name in fields:
                base.__dict__[name].__set__(error, fields[name])


def _linked(value: Any) -> BaseException:
    if isinstance(value, BaseException):
        return value
    if isinstance(value, Opaque):
        return OpaqueError(value)
    raise ValueError("not an exception")
