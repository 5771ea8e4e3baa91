"""Snapshots: what a value was at this moment, taken quickly on the thread that has it.

Three tiers, the cheapest that is right: what cannot change is kept by reference, a small flat container by a
shallow copy; nested containers of plain values go through the pickler of the standard library, the fastest deep
copy there is; anything else is walked at once into a tree.

Recordings never hold a pickle and none is ever loaded from one. Here the pickler is a copying machine: it refuses
everything but exact built-in and immutable standard types, and `encode` loads only the bytes that it made itself,
in this process, a moment ago.
"""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
import uuid
from collections import Counter
from typing import Any, Literal

import msgspec

from playhead.events._values import SIZE, Encoder

_UNCHANGING = frozenset(
    {
        bool,
        bytes,
        complex,
        datetime.date,
        datetime.datetime,
        datetime.time,
        datetime.timedelta,
        datetime.timezone,
        decimal.Decimal,
        float,
        int,
        str,
        type(None),
        uuid.UUID,
    }
)
_FLAT = 32
_RESTART = 4 << 20


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    """A picture of a value: later changes of the value do not show in it. Give it to `encode`."""

    form: Literal["plain", "copied", "tree"]
    held: Any
    losses: Counter[str] | None = None


class _NotPlainError(Exception):
    pass


class _FullError(Exception):
    pass


class _Buffer(io.BytesIO):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self._room = limit

    def write(self, data: Any) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise _FullError
        return super().write(data)


def _refuse(_: object) -> None:
    raise _NotPlainError


class _Copier(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) in _UNCHANGING:
            return NotImplemented
        raise _NotPlainError


def snapshot(value: Any) -> Snapshot:
    """A picture of ``value`` as it is now. Never raises; runs no code of the value."""
    cls = type(value)
    if cls in _UNCHANGING:
        return Snapshot("plain", value)
    try:
        flat = _flat(value, cls)
        if flat is not None:
            return Snapshot("plain", flat)
        if cls is dict or cls is list or cls is tuple or cls is set or cls is frozenset:
            return Snapshot("copied", _copied(value))
    except Exception:  # not plain, cyclic, too deep, too big, changed meanwhile: the walk finds out what it is
        pass
    return _walked(value)


def snapshot_error(error: BaseException) -> Snapshot:
    """A picture of an exception: its class, arguments, attributes, notes, cause and context; no traceback."""
    return _walked(error)


def _flat(value: Any, cls: type) -> Any:
    """A shallow copy of a small container that holds only what cannot change, else ``None``."""
    if cls is dict:
        if len(value) <= _FLAT:
            copy = value.copy()
            if _UNCHANGING.issuperset(map(type, copy)) and _UNCHANGING.issuperset(map(type, copy.values())):
                return copy
    elif (cls is list or cls is tuple) and len(value) <= _FLAT:
        copy = value[:]
        if _UNCHANGING.issuperset(map(type, copy)):
            return copy
    return None


def _copied(value: Any) -> bytes:
    """The bytes of a deep copy. Without the memo while small, since that is half the work; with it beyond, so that
    a value which holds the same parts over and over cannot grow without end."""
    try:
        return _pickled(value, limit=_RESTART, fast=True)
    except _FullError:
        return _pickled(value, limit=2 * SIZE, fast=False)


def _pickled(value: Any, *, limit: int, fast: bool) -> bytes:
    buffer = _Buffer(limit)
    copier = _Copier(buffer, 5, buffer_callback=_refuse)
    copier.fast = fast
    copier.dump(value)
    return buffer.getvalue()


def _walked(value: Any) -> Snapshot:
    encoder = Encoder()
    return Snapshot("tree", encoder.encode(value), encoder.losses or None)


def encode(snapshot: Snapshot, *, losses: Counter[str] | None = None) -> Any:
    """The tree of a snapshot: strict JSON with tagged values. Never raises.

    ``losses`` counts what was not kept, by reason (``cycle``, ``deep``, ``too big``, ``unknown``).
    """
    if snapshot.form == "tree":
        tree, lost = snapshot.held, snapshot.losses
    else:
        encoder = Encoder()
        tree = encoder.encode(pickle.loads(snapshot.held) if snapshot.form == "copied" else snapshot.held)
        lost = encoder.losses
    if losses is not None and lost:
        losses.update(lost)
    return tree


def freeze(value: Any) -> Any:
    """The tree of a value as it is now."""
    return encode(snapshot(value))
