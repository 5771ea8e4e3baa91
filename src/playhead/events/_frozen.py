"""Values that never change and share what they have in common: dicts and lists that nobody can write to."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

from playhead.errors import ValueRefusedError
from playhead.events._snapshot import UNCHANGING


def _refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"a {type(self).__name__} cannot be changed; change the state with AgentState.update(…)")


class FrozenDict(dict[Any, Any]):
    """A dict that cannot be changed. ``kept`` is for who writes it down: what it made of it."""

    __slots__ = ("kept",)
    kept: Any

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[Any, Any]:
        """A dict that can be changed, with the same frozen values."""
        return dict(self)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenDict:
        return self

    def __reduce__(self) -> Any:
        return freeze_tree, (dict(self),)


class FrozenList(list[Any]):
    """A list that cannot be changed. ``kept`` is for who writes it down: what it made of it."""

    __slots__ = ("kept",)
    kept: Any

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def copy(self) -> list[Any]:
        """A list that can be changed, with the same frozen values."""
        return list(self)

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: Any) -> FrozenList:
        return self

    def __reduce__(self) -> Any:
        return freeze_tree, (list(self),)


def freeze_tree(value: Any) -> Any:
    """``value`` with frozen dicts and lists; what is frozen already is shared.

    Raises `ValueRefusedError` for what could change behind our back, such as a set or an object, and for rings.
    """
    try:
        return _frozen(value)
    except RecursionError:
        raise ValueRefusedError(
            "a state that contains itself, or is nested too deeply, cannot be kept", next="playhead help value-refused"
        ) from None


def _frozen(value: Any) -> Any:
    kind = type(value)
    if kind in UNCHANGING or kind is FrozenDict or kind is FrozenList:
        return value
    if kind is dict:
        return FrozenDict((_key(key), _frozen(held)) for key, held in value.items())
    if kind is list:
        return FrozenList(map(_frozen, value))
    if kind is tuple:
        return tuple(map(_frozen, value))
    if isinstance(value, enum.Enum):
        return value
    finish = getattr(value, "finish_draft", None)
    if finish is not None:
        return finish(_frozen)
    raise ValueRefusedError(
        f"a {kind.__name__} could be changed behind the state's back; an AgentState holds dicts, lists, tuples and "
        "what cannot change",
        next="playhead help value-refused",
        facts={"type": kind.__qualname__},
    )


def _key(key: Any) -> Any:
    if type(key) in UNCHANGING or isinstance(key, enum.Enum):
        return key
    return _frozen(key)
