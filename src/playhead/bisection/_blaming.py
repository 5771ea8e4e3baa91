"""Which answers of a failing run made it fail: the fewest that, taken from a passing one, make it pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from playhead.bisection._mixing import Difference, Mixture, find_mixture, order_as
from playhead.bisection._reducing import Reducer
from playhead.editing import Edit
from playhead.eventlog import Recording

Write = Callable[[Sequence[Edit]], Recording]
"""Derives a recording of the failing one; with no edits, gives that itself."""

Passes = Callable[[Recording, Sequence[int]], bool]
"""Replays a recording in an order of its moments; whether it comes out as it should."""


class Blamed(msgspec.Struct, frozen=True):
    """What became of the search.

    ``found``: the ``differences`` are enough, and none of them can be left out. ``passes``: the failing run does not
    fail when it is replayed. ``fails``: it fails even with all that the passing run was given. ``alike``: both were
    given the same. ``mixture`` is the recording that passes, made of the failing one by ``edits``; ``replays`` is how
    many were made, ``among`` how many differences there are.
    """

    kind: Literal["found", "passes", "fails", "alike"]
    differences: tuple[Difference, ...] = ()
    replays: int = 0
    among: int = 0
    edits: tuple[Edit, ...] = ()
    mixture: Recording | None = None


def blame(failing: Recording, passing: Recording, *, write: Write, passes: Passes) -> Blamed:
    """Find a smallest set of answers (and of reads, and the order) of ``passing`` that makes ``failing`` pass.

    Smallest means that without any one of them it fails. Answers come first: reads of clock and chance, which differ in
    nearly every run, are looked at where answers and order are not enough.
    """
    mixture = find_mixture(failing, passing)
    found = mixture.differences
    if not found:
        return Blamed("alike")
    reducer = Reducer(lambda part: _passes(mixture, [found[at] for at in part], passing, write, passes))
    every = range(len(found))
    answers = [at for at in every if found[at].what != "reads"]
    if reducer.has_effect(()):
        return Blamed("passes", replays=reducer.tried, among=len(found))
    start = next((part for part in (answers, list(every)) if part and reducer.has_effect(part)), None)
    if start is None:
        return Blamed("fails", replays=reducer.tried, among=len(found))
    guilty = tuple(found[at] for at in reducer.reduce(start))
    edits = (*mixture.added, *(edit for each in guilty for edit in each.edits))
    return Blamed("found", guilty, reducer.tried, len(found), edits, write(edits))


def _passes(mixture: Mixture, chosen: Sequence[Difference], passing: Recording, write: Write, passes: Passes) -> bool:
    mixed = write([*mixture.added, *(edit for each in chosen for edit in each.edits)])
    is_moved = any(each.what == "order" for each in chosen)
    order = order_as(mixed, passing) if is_moved else [moment.seq for moment in mixed.moments()]
    return passes(mixed, order)
