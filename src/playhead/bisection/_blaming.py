"""Which answers of a failing run made it fail: the fewest that, taken from a passing one, make it pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Literal

import msgspec

from playhead.bisection._mixing import Difference, Mixture, find_mixture, order_as
from playhead.bisection._reducing import Reducer
from playhead.editing import Drops, Edit, Place, Reads, Takes
from playhead.eventlog import Recording

Write = Callable[[Sequence[Edit]], Recording]
"""Derives a recording of the failing one; with no edits, gives that itself."""

Passes = Callable[[Recording, Sequence[int]], bool]
"""Replays a recording in an order of its moments; whether it comes out as it should."""


class Blamed(msgspec.Struct, frozen=True):
    """What became of the search.

    ``found``: the ``differences`` are enough, and none of them can be left out. ``passes``: the failing run does not
    fail when it is replayed. ``fails``: it fails even with all that the passing run was given. ``alike``: both were
    given the same. ``mixture`` is the recording that passes, in this ``order``, with the exchanges that were ``added``;
    ``replays`` is how many were made, ``among`` how many differences there are.
    """

    kind: Literal["found", "passes", "fails", "alike"]
    differences: tuple[Difference, ...] = ()
    replays: int = 0
    among: int = 0
    added: tuple[Edit, ...] = ()
    mixture: Recording | None = None
    order: tuple[int, ...] = ()


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
    mixed, order = _mix(mixture, guilty, passing, write)
    return Blamed("found", guilty, reducer.tried, len(found), mixture.added, mixed, tuple(order))


def edits_played(found: Blamed, failing: Recording, unplayed: Collection[int]) -> list[Edit]:
    """The edits by which the failing run becomes the mixture without what is ``unplayed`` in it, by its ``seq``."""
    assert found.mixture is not None
    edits = [edit for each in found.differences for edit in each.edits]
    gone = {edit.at.seq for edit in edits if isinstance(edit, Drops)}
    ours = [each.question.seq for each in failing.exchanges if each.question.seq not in gone]
    mixed = [each.question.seq for each in found.mixture.exchanges]
    theirs = mixed[len(ours) :]
    left = [Drops(at=Place(seq=seq)) for seq, now in zip(ours, mixed, strict=False) if now in unplayed]
    added = [edit for edit, now in zip(found.added, theirs, strict=False) if now not in unplayed]
    changed = {edit.at.seq for edit in left}
    kept = [edit for edit in edits if isinstance(edit, Drops | Reads | Takes) and edit.at.seq not in changed]
    return [*added, *kept, *left]


def _passes(mixture: Mixture, chosen: Sequence[Difference], passing: Recording, write: Write, passes: Passes) -> bool:
    return passes(*_mix(mixture, chosen, passing, write))


def _mix(
    mixture: Mixture, chosen: Sequence[Difference], passing: Recording, write: Write
) -> tuple[Recording, Sequence[int]]:
    """The failing run with what was chosen of the passing one, and the order of its moments."""
    mixed = write([*mixture.added, *(edit for each in chosen for edit in each.edits)])
    is_moved = any(each.what == "order" for each in chosen)
    return mixed, order_as(mixed, passing) if is_moved else [moment.seq for moment in mixed.moments()]
