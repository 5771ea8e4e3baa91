"""The shortest recording that still fails: exchanges are left out for as long as it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from playhead.bisection._reducing import Reducer
from playhead.editing import Drops, Edit, Place
from playhead.eventlog import Exchange, Recording


class Shrunk(msgspec.Struct, frozen=True):
    """The ``recording`` that is left, which ``exchanges`` of the first one it holds, and how many ``tries`` it took.

    ``recording`` is ``None`` where the first one does not fail.
    """

    recording: Recording | None
    exchanges: tuple[Exchange, ...]
    tries: int


def shrink(
    recording: Recording, *, write: Callable[[Sequence[Edit]], Recording], fails: Callable[[Recording], bool]
) -> Shrunk:
    """Leave out exchanges until without any further one it does not fail.

    ``write`` derives a recording by edits and gives it itself for none, ``fails`` judges one: it replays it, or looks
    at what it holds.
    """
    exchanges = list(recording.exchanges)
    whole = range(len(exchanges))

    def left_with(part: Sequence[int]) -> Recording:
        kept = set(part)
        return write([Drops(at=Place(seq=exchanges[at].question.seq)) for at in whole if at not in kept])

    reducer = Reducer(lambda part: fails(left_with(part)))
    if not reducer.has_effect(tuple(whole)):
        return Shrunk(None, (), reducer.tried)
    kept = [] if reducer.has_effect(()) else reducer.reduce(list(whole))
    return Shrunk(left_with(kept), tuple(exchanges[at] for at in kept), reducer.tried)
