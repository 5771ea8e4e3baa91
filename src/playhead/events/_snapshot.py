"""Snapshots: what a value was at this moment, taken quickly on the thread that has it.

Three tiers, the cheapest that is right: what cannot change is kept by reference, a small flat container by a
shallow copy; nested containers of plain values go through the pickler of the standard library, the fastest deep
copy there is, long lists piece by piece; anything else is walked at once into a tree.

Recordings never hold a pickle and none is ever loaded from one. Here the pickler is a copying machine: it refuses
everything but exact built-in and immutable standard types, and `encode` loads only the bytes that it made itself,
in this process, a moment ago.
"""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
import sys
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Literal

import msgspec

from playhead.events._values import NODES, SIZE, Encoder

UNCHANGING = frozenset(
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
"""The types whose values can be kept by reference."""

_CONTAINERS = frozenset({dict, frozenset, list, set, tuple})
_FLAT = 32
_WALKED_NODES = NODES // 8
"""What is walked at once is walked on the program's own thread."""
_RESTART = 4 << 20
_FRAME = 64 << 10
_PIECE = 256
"""Items of a long list that are copied together, so that they can be encoded together without the rest."""
_STACK_IS_SAFE = sys.version_info >= (3, 12)
"""Whether compiled code stops before it overflows the stack, whatever recursion limit the program has set."""
_STACK_LEVELS = 5_000


class Snapshot(msgspec.Struct, frozen=True, gc=False):
    """A picture of a value: later changes of the value do not show in it. Give it to `encode`."""

    form: Literal["plain", "copied", "pieces", "tree"]
    held: Any
    losses: dict[str, int] | None = None


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
        if type(value) in UNCHANGING:
            return NotImplemented
        raise _NotPlainError


def snapshot(value: Any) -> Snapshot:
    """A picture of ``value`` as it is now. Never raises; runs no code of the value."""
    cls = type(value)
    if cls in UNCHANGING:
        return Snapshot("plain", value)
    try:
        flat = _flat(value, cls)
        if flat is not None:
            return Snapshot("plain", flat)
        if cls in _CONTAINERS and (_STACK_IS_SAFE or sys.getrecursionlimit() <= _STACK_LEVELS):
            if cls is list and len(value) > _PIECE:
                with suppress(_FullError):
                    return Snapshot("pieces", _pickled(*_cut(value), limit=_RESTART, fast=True))
            return Snapshot("copied", _copied(value))
    except Exception:  # not plain, cyclic, too deep, too big, changed meanwhile: the walk finds out what it is
        pass
    return _walked(value)


def size_unchanging(values: Iterable[Any]) -> int | None:
    """About how many bytes the texts among ``values`` hold; ``None`` where one of them could change.

    What cannot change needs no snapshot now: one taken later is the same.
    """
    size = 0
    for value in values:
        cls = type(value)
        if cls is str or cls is bytes:
            size += len(value)
        elif cls not in UNCHANGING:
            return None
    return size


def snapshot_error(error: BaseException) -> Snapshot:
    """A picture of an exception: its class, arguments, attributes, notes, cause and context; no traceback."""
    return _walked(error)


def _flat(value: Any, cls: type) -> Any:
    """A copy of a small container that holds only what cannot change (a dict: or such containers), else ``None``."""
    if (cls is list or cls is tuple) and len(value) <= _FLAT:
        copy = value[:]
        return copy if UNCHANGING.issuperset(map(type, copy)) else None
    if cls is not dict or len(value) > _FLAT:
        return None
    copy = value.copy()
    if not UNCHANGING.issuperset({*map(type, copy), *map(type, copy.values())}):
        if not UNCHANGING.issuperset(map(type, copy)):
            return None
        for key, held in copy.items():
            kind = type(held)
            if kind in UNCHANGING:
                continue
            inner = _flat_inside(held, kind)
            if inner is None:
                return None
            copy[key] = inner
    return copy


def _flat_inside(value: Any, cls: type) -> Any:
    if cls is dict and len(value) <= _FLAT:
        copy = value.copy()
        return copy if UNCHANGING.issuperset({*map(type, copy), *map(type, copy.values())}) else None
    return None if cls is dict else _flat(value, cls)


def _copied(value: Any) -> bytes:
    """The bytes of a deep copy. Without the memo while small, since that is half the work; with it beyond, so that
    a value which holds the same parts over and over cannot grow without end."""
    try:
        return _pickled(value, limit=_RESTART, fast=True)
    except _FullError:
        return _pickled(value, limit=2 * SIZE, fast=False)


def _cut(value: list[Any]) -> Iterator[list[Any]]:
    return (value[at : at + _PIECE] for at in range(0, len(value), _PIECE))


def _pickled(*values: Any, limit: int, fast: bool) -> bytes:
    buffer = _Buffer(limit)
    copier = _Copier(buffer, 5, buffer_callback=_refuse)
    copier.fast = fast
    for value in values:
        copier.dump(value)
    return buffer.getvalue()


def _walked(value: Any) -> Snapshot:
    try:
        encoder = Encoder(nodes=_WALKED_NODES)
        return Snapshot("tree", encoder.encode(value), encoder.losses or None)
    except RecursionError:  # not even the room for a summary
        return Snapshot("tree", {"$t": "opaque", "class": "?:?", "why": "deep"}, {"deep": 1})


class _Pages:
    """Bytes that an unpickler reads frame by frame, so that other threads get a turn in between."""

    def __init__(self, data: bytes) -> None:
        source = io.BytesIO(data)
        self._read, self._readline = source.read, source.readline

    def read(self, size: int) -> bytes:
        return self._read(size)

    def readline(self) -> bytes:
        return self._readline()


def _loaded(data: bytes) -> Any:
    return pickle.loads(data) if len(data) <= _FRAME else pickle.Unpickler(_Pages(data)).load()


def encode_pieces(snapshot: Snapshot) -> Iterator[list[Any]]:
    """The tree of a snapshot whose form is ``pieces``, some items at a time.

    A large tree made at once keeps the interpreter busy in one go, most of all its garbage collector.
    """
    for piece in _load_pieces(snapshot.held):
        yield Encoder().encode(piece)


def _load_pieces(data: bytes) -> Iterator[list[Any]]:
    source = io.BytesIO(data)
    while source.tell() < len(data):
        yield pickle.load(source)


def encode(snapshot: Snapshot, *, losses: Counter[str] | None = None) -> Any:
    """The tree of a snapshot: strict JSON with tagged values. Never raises.

    ``losses`` counts what was not kept, by reason (``cycle``, ``deep``, ``too big``, ``unknown``).
    """
    if snapshot.form == "tree":
        tree, lost = snapshot.held, snapshot.losses
    else:
        encoder = Encoder()
        value = snapshot.held
        if snapshot.form == "copied":
            value = _loaded(value)
        elif snapshot.form == "pieces":
            value = list(chain.from_iterable(_load_pieces(value)))
        tree = encoder.encode(value)
        lost = encoder.losses
    if losses is not None and lost:
        losses.update(lost)
    return tree


def freeze(value: Any) -> Any:
    """The tree of a value as it is now."""
    return encode(snapshot(value))
