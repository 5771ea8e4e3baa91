"""``playhead.AgentState``: state that any thread may change, and any thread may look at, at any time."""

from __future__ import annotations

import _thread
from collections.abc import Callable, Iterator, MutableMapping, MutableSequence
from typing import Any

from playhead.errors import UsageError
from playhead.events import FrozenDict, FrozenList, freeze_tree


class AgentState:
    """The state of an agent, as a frozen value of dicts and lists that is replaced as a whole by each change.

    `snapshot` gives the value of this moment: a reference, which no later change reaches, and which waits for nobody.
    `update` makes a change. What a change leaves alone is shared between the values before and after it, in memory
    and, with `playhead.checkpoint`, in the recording. Raises `ValueRefusedError` for values that could change by
    themselves.

    >>> import playhead
    >>> state = playhead.AgentState({"open": ["T-42"], "done": []})
    >>> before = state.update(lambda draft: draft["done"].append(draft["open"].pop()))
    >>> before, state.snapshot()
    ({'open': ['T-42'], 'done': []}, {'open': [], 'done': ['T-42']})
    """

    __slots__ = ("_by", "_lock", "_value")

    def __init__(self, value: Any = None) -> None:
        self._value = freeze_tree({} if value is None else value)
        self._lock = _thread.allocate_lock()
        self._by: int | None = None

    def snapshot(self) -> Any:
        """The value of this moment: frozen, and never half of a change."""
        return self._value

    def update(self, mutator: Callable[[Any], object]) -> Any:
        """Have ``mutator`` change a draft of the value, and put that in its place; gives the value before.

        The draft reads and writes as the dict or list that it stands for, until the mutator returns. Where the mutator
        raises, nothing is changed. One update comes after the other; a mutator that calls `update` of the same state
        raises `UsageError`.
        """
        me = _thread.get_ident()
        if self._by == me:
            raise UsageError("a state was updated from inside an update of it", next="state.update(mutator)")
        with self._lock:
            self._by = me
            try:
                before = self._value
                edit = _Edit()
                draft = _draft(before, edit)
                try:
                    mutator(draft)
                    self._value = freeze_tree(draft)
                finally:
                    edit.is_over = True
                return before
            finally:
                self._by = None

    def replace(self, value: Any) -> Any:
        """Put another value in place of the whole; gives the value before."""
        frozen = freeze_tree(value)
        with self._lock:
            before, self._value = self._value, frozen
            return before

    def __repr__(self) -> str:
        return f"AgentState({self._value!r})"


class _Edit:
    """One update, to whose end its drafts can be used."""

    is_over = False


def _draft(value: Any, edit: _Edit) -> Any:
    if type(value) is FrozenDict:
        return _DictDraft(value, edit)
    return _ListDraft(value, edit) if type(value) is FrozenList else value


class _Draft:
    """Stands for a frozen container while it is changed: it is copied when something in it is first looked into."""

    _base: Any
    _copy: Any
    _edit: _Edit

    def _begin(self, base: Any, edit: _Edit) -> None:
        self._base, self._copy, self._edit = base, None, edit

    def _read(self) -> Any:
        if self._edit.is_over:
            raise UsageError("a draft of a state was used after its update had ended", next="state.update(mutator)")
        return self._base if self._copy is None else self._copy

    def _write(self) -> Any:
        self._read()
        if self._copy is None:
            self._copy = self._base.copy()
        return self._copy

    def _look_into(self, slot: Any) -> Any:
        held = self._read()[slot]
        if type(held) is FrozenDict or type(held) is FrozenList:
            held = self._write()[slot] = _draft(held, self._edit)
        return held

    def finish_draft(self, freeze: Callable[[Any], Any]) -> Any:
        """The frozen value: the one that it stood for, where nothing was changed."""
        copy = self._copy
        if copy is None:
            return self._base
        base, kind = self._base, type(self._base)
        held = copy.values() if kind is FrozenDict else copy
        frozen = [freeze(value) for value in held]
        same = len(copy) == len(base) and all(map(_is, frozen, base.values() if kind is FrozenDict else base))
        if same and (kind is FrozenList or list(copy) == list(base)):
            return base
        if kind is FrozenList:
            return FrozenList(frozen)
        return FrozenDict(zip((key if key in base else freeze(key) for key in copy), frozen, strict=True))

    def __len__(self) -> int:
        return len(self._read())

    def __contains__(self, item: object) -> bool:
        return item in self._read()

    def __repr__(self) -> str:
        return repr(self._read())

    def __eq__(self, other: object) -> bool:
        theirs = other._read() if isinstance(other, _Draft) else other
        return bool(self._read() == theirs)

    __hash__ = None  # type: ignore[assignment]


def _is(one: object, other: object) -> bool:
    return one is other


class _DictDraft(_Draft, MutableMapping[Any, Any]):
    def __init__(self, base: Any, edit: _Edit) -> None:
        self._begin(base, edit)

    def __getitem__(self, key: Any) -> Any:
        return self._look_into(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._write()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._write()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __ior__(self, other: Any) -> _DictDraft:
        self.update(other)
        return self


class _ListDraft(_Draft, MutableSequence[Any]):
    def __init__(self, base: Any, edit: _Edit) -> None:
        self._begin(base, edit)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self._look_into(place) for place in range(*at.indices(len(self)))]
        return self._look_into(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        self._write()[at] = value

    def __delitem__(self, at: Any) -> None:
        del self._write()[at]

    def insert(self, index: int, value: Any) -> None:
        """Put ``value`` before the item at ``index``."""
        self._write().insert(index, value)

    def sort(self, *, key: Callable[[Any], Any] | None = None, reverse: bool = False) -> None:
        """Sort it in place."""
        items = [self._look_into(at) for at in range(len(self))]
        items.sort(key=key, reverse=reverse)
        self._copy = items
