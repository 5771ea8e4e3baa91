"""Columns of values in few characters: the value that a leaf has in each event of one form.

A column is a list that begins with how the rest is to be read:

- ``["each", v, ...]``: the values themselves;
- ``["runs", v, n, ...]``: ``v``, ``n`` times;
- ``["step", first, step, n]``: numbers with a constant step;
- ``["seq", offset, n]``: the number of the event in the stream, plus ``offset``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

__all__ = ["MAX_EVENTS", "pack", "same", "unpack"]

MAX_EVENTS: Final = 5_000_000
"""More events than any stream has: a shape that claims more was built to hurt."""


def same(one: Any, two: Any) -> bool:
    """Equality that tells 1, 1.0 and True apart, and 0.0 from -0.0."""
    if type(one) is not type(two) or one != two:
        return False
    return type(one) is not float or repr(one) == repr(two)


def pack(values: Sequence[Any], *, numbers: Sequence[int] | None = None) -> list[Any]:
    """The shortest of the four ways; ``numbers`` are the values' event numbers, for ``seq``."""
    count = len(values)
    if count > 2 and all(type(value) is int for value in values):
        if numbers is not None and all(
            value - number == values[0] - numbers[0] for value, number in zip(values, numbers, strict=True)
        ):
            return ["seq", values[0] - numbers[0], count]
        step = values[1] - values[0]
        if step and all(two - one == step for one, two in pairwise(values)):
            return ["step", values[0], step, count]
    runs: list[Any] = []
    for value in values:
        if runs and same(runs[-2], value):
            runs[-1] += 1
        else:
            runs += (value, 1)
    return ["runs", *runs] if len(runs) < count else ["each", *values]


def unpack(column: Any, *, numbers: Sequence[int] | None = None) -> list[Any]:
    """The values of a column. Raises ValueError where it is not one, or claims more than ``MAX_EVENTS``."""
    match column:
        case ["each", *values]:
            return values
        case ["runs", *runs] if len(runs) % 2 == 0:
            counts = [_count(count) for count in runs[1::2]]
            _count(sum(counts))
            return [value for value, count in zip(runs[::2], counts, strict=True) for _ in range(count)]
        case ["step", int(first), int(step), count]:
            return [first + step * place for place in range(_count(count))]
        case ["seq", int(offset), count] if numbers is not None:
            return [number + offset for number in numbers[: _count(count)]]
    raise ValueError("not a column")


def _count(count: Any) -> int:
    if type(count) is not int or not 0 <= count <= MAX_EVENTS:
        raise ValueError("a column longer than any stream")
    return count
