"""Reads of chance that pick from a sequence of the program's own.

The generator picks among positions, by the very algorithm and to the very state it would reach with the
sequence itself. Plain atoms are kept by value; of anything else the positions are kept, and the program's own
sequence gives the objects back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playhead.boundary import Lane
from playhead.integrations._reads import Answer, answer_value

DRAWS = (
    "betavariate",
    "binomialvariate",
    "choice",
    "choices",
    "expovariate",
    "gammavariate",
    "gauss",
    "getrandbits",
    "lognormvariate",
    "normalvariate",
    "paretovariate",
    "randbytes",
    "randint",
    "random",
    "randrange",
    "sample",
    "shuffle",
    "triangular",
    "uniform",
    "vonmisesvariate",
    "weibullvariate",
)
"""The methods of a generator that draw from it, of all versions of Python."""

_ATOMS = frozenset({bool, bytes, float, int, str, type(None)})


def answer_choice(original: Any, fn: str, lane: Lane, site: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``choice(seq)``: the value, or ``{"index": i}``."""
    if len(args) + len(kwargs) != 1 or ("seq" not in kwargs and not args):
        return original(*args, **kwargs)
    population = args[0] if args else kwargs["seq"]
    index = original(range(len(population)))
    value = population[index]
    picked = value if type(value) in _ATOMS else {"index": int(index)}
    kept = lane.session.read(lane, "random", fn, site, lambda: picked)
    if kept is picked:
        return value
    if type(kept) is dict:
        found = [kept.get("index")]
        return population[found[0]] if _fits(found, population) else _unfit(lane, fn, site, value)
    return kept


def answer_several(original: Any, fn: str, lane: Lane, site: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``choices`` and ``sample``: the values, or ``{"indexes": [...]}``."""
    rest = dict(kwargs)
    population = args[0] if args else rest.pop("population", None)
    if not hasattr(type(population), "__len__") or (fn.endswith("sample") and not isinstance(population, Sequence)):
        return original(*args, **kwargs)
    indexes = original(range(len(population)), *args[1:], **rest)
    values = [population[index] for index in indexes]
    plain = all(type(value) in _ATOMS for value in values)
    picked: Any = list(values) if plain else {"indexes": list(indexes)}
    kept = lane.session.read(lane, "random", fn, site, lambda: picked)
    if kept is picked:
        return values
    if type(kept) is dict:
        found: Any = kept.get("indexes")
        return [population[at] for at in found] if _fits(found, population) else _unfit(lane, fn, site, values)
    return list(kept)


def answer_shuffle(original: Any, fn: str, lane: Lane, site: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``shuffle(x)``: the positions from which the elements come, in their new order."""
    if len(args) + len(kwargs) != 1 or ("x" not in kwargs and not args):
        return original(*args, **kwargs)
    target = args[0] if args else kwargs["x"]
    if not hasattr(type(target), "__setitem__"):
        return original(target)
    order = list(range(len(target)))
    original(order)
    kept = lane.session.read(lane, "random", fn, site, lambda: order)
    if kept is not order and not (_fits(kept, target) and len(set(kept)) == len(kept) == len(target)):
        kept = _unfit(lane, fn, site, order)
    before = [target[at] for at in range(len(target))]
    for at, old in enumerate(kept):
        target[at] = before[old]
    return None


def answer_for(name: str) -> Answer:
    """How the method ``name`` of a generator is read."""
    return _PICKS.get(name, _answer_value)


_answer_value = answer_value("random")
_PICKS: dict[str, Answer] = {
    "choice": answer_choice,
    "choices": answer_several,
    "sample": answer_several,
    "shuffle": answer_shuffle,
}


def _fits(found: Any, population: Any) -> bool:
    return isinstance(found, list | tuple) and all(type(at) is int and 0 <= at < len(population) for at in found)


def _unfit(lane: Lane, fn: str, site: str, drawn: Any) -> Any:
    """The sequence is another than the recorded one: what was drawn just now is all there is."""
    lane.session.notice(lane, "drawn anew", {"fn": fn, "site": site, "why": "the sequence has another length"})
    return drawn
