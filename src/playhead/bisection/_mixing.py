"""What two recordings of one agent were answered otherwise, and recordings that hold some of either."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from playhead.comparison import Pair, align
from playhead.editing import Adds, Drops, Edit, Place, Reads, Takes, with_manner
from playhead.eventlog import Exchange, Recording
from playhead.events import BoundaryAsked, ClockRead, ErasedBody, Event, RandomDrawn, canonical
from playhead.player import request_of_event


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the two runs were given otherwise: an ``answer``, the ``reads`` of one place, or the ``order``.

    ``before`` and ``after`` are the exchanges of the failing and of the passing run; of an answer that the passing run
    did not have, ``after`` is missing. ``name`` is what was asked, or the place of the reads.
    """

    what: Literal["answer", "reads", "order"]
    name: str
    before: Exchange | None = None
    after: Exchange | None = None
    edits: tuple[Edit, ...] = ()
    swapped: tuple[tuple[int, int], ...] = ()
    """Of an order: pairs of steps of the failing run that ended the other way round in the passing one."""


class Mixture(msgspec.Struct, frozen=True):
    """What can be taken from the passing run into the failing one.

    ``added`` are the exchanges of the passing run whose question the failing one did not ask: they are there in every
    mixture, for an agent that now comes to ask them.
    """

    differences: tuple[Difference, ...]
    added: tuple[Edit, ...]


def find_mixture(failing: Recording, passing: Recording) -> Mixture:
    """Lay two recordings of one agent against each other."""
    pairs = align(failing, passing)
    differences = [*_answers(pairs, passing), *_reads(failing, passing)]
    swapped = tuple(_swapped(pairs))
    if swapped:
        differences.append(Difference(what="order", name="the order of answers", swapped=swapped))
    return Mixture(tuple(differences), tuple(_added(pairs, passing)))


def order_as(mixed: Recording, passing: Recording) -> list[int]:
    """The moments of ``mixed`` by their ``seq``, those of the exchanges that ``passing`` has too in its order."""
    places: dict[int, int] = {}
    for pair in align(mixed, passing):
        if pair.before is not None and pair.after is not None:
            places[pair.before.question.seq] = pair.after.question.seq
            if pair.before.answer is not None and pair.after.answer is not None:
                places[pair.before.answer.seq] = pair.after.answer.seq
    moments = [moment.seq for moment in mixed.moments()]
    shared = iter(sorted((seq for seq in moments if seq in places), key=places.__getitem__))
    return [next(shared) if seq in places else seq for seq in moments]


def _answers(pairs: Sequence[Pair], passing: Recording) -> Iterator[Difference]:
    for pair in pairs:
        before, after = pair.before, pair.after
        if before is None or before.answer is None or _is_fixed(before):
            continue
        name = request_of_event(before.question).name
        at = Place(seq=before.question.seq)
        if after is None:
            yield Difference(what="answer", name=name, before=before, edits=(Drops(at=at),))
        elif after.answer is not None and not _is_fixed(after) and _given(before.answer) != _given(after.answer):
            takes = Takes(at=at, run=passing.id, seq=after.answer.seq)
            yield Difference(what="answer", name=name, before=before, after=after, edits=(takes,))


def _is_fixed(exchange: Exchange) -> bool:
    """Whether its answer is not one to be exchanged: it was erased, or it is the end of a process."""
    bodies = [event.body for event in (exchange.question, exchange.answer) if event is not None]
    asked = exchange.question.body
    is_process = isinstance(asked, BoundaryAsked) and asked.child is not None
    return is_process or any(isinstance(body, ErasedBody) for body in bodies)


def _given(answer: Event) -> bytes:
    """What the program was given, in bytes that are equal where that is equal."""
    body = with_manner(answer.body, gaps=[], first_ns=None)
    return msgspec.json.encode([answer.kind, body], order="sorted")


def _reads(failing: Recording, passing: Recording) -> Iterator[Difference]:
    """Reads of one lane and place are laid against each other in their order."""
    ours, theirs = _by_place(failing), _by_place(passing)
    for place, events in ours.items():
        edits = tuple(
            Reads(at=Place(seq=event.seq), value=other.body.value)
            for event, other in zip(events, theirs.get(place, ()), strict=False)
            if event.body.value != other.body.value
        )
        if edits:
            lane, fn, site = place
            yield Difference(what="reads", name=f"{fn} at {site} in lane {lane}", edits=edits)


def _by_place(recording: Recording) -> dict[tuple[str, str, str], list[Any]]:
    found: dict[tuple[str, str, str], list[Any]] = defaultdict(list)
    for kind in ("clock.read", "random.drawn"):
        for event in recording.of_kind(kind):
            if isinstance(event.body, ClockRead | RandomDrawn):
                found[event.lane, event.body.fn, event.body.site].append(event)
    return found


def _added(pairs: Sequence[Pair], passing: Recording) -> Iterator[Edit]:
    for pair in pairs:
        after = pair.after
        if after is None or after.answer is None or _is_fixed(after):
            continue
        if pair.before is None or _asked(pair.before) != _asked(after):
            yield Adds(run=passing.id, seq=after.question.seq)


def _asked(exchange: Exchange) -> bytes:
    return canonical(request_of_event(exchange.question).content)


def _swapped(pairs: Sequence[Pair]) -> Iterator[tuple[int, int]]:
    """Pairs of steps that ended one after the other, and the other way round in the passing run."""
    ends = [
        (pair.before.answer.seq, pair.after.answer.seq, pair.before)
        for pair in pairs
        if pair.before is not None and pair.after is not None and pair.before.answer and pair.after.answer
    ]
    ends.sort(key=lambda end: end[0])
    latest: tuple[int, Exchange] | None = None
    for _, there, exchange in ends:
        if latest is not None and there < latest[0]:
            if exchange.step is not None and latest[1].step is not None:
                yield latest[1].step, exchange.step
        elif latest is None or there > latest[0]:
            latest = there, exchange
