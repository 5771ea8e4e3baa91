"""Replaying a run in other orders than the recorded one, to see whether its outcome depends on a race."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Literal

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program import Match, Replayed, capture, replay_program
from playhead._system import SystemClock
from playhead.causality import Graph, Orders, Race, find_orders, find_races
from playhead.cli._trees import brief, brief_error
from playhead.errors import NoReportError
from playhead.eventlog import Recording, counted
from playhead.player import ReplayReport, differences, word_difference
from playhead.stores import LocalStore

What = Literal["asked", "left out", "read", "result", "error", "exit", "output"]

_LEAST_S: Final = 60.0
_TIMES: Final = 20
"""So much longer than in the recorded order may a program take before it is ended."""

_TRIES: Final = 3
"""So many orders are tried for each that is to be kept: of some only the program shows that they cannot be."""

MANY: Final = 1000
"""Races are counted up to so many."""


class Effect(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that came out otherwise in another order: ``what``, in words, and at which ``step``."""

    what: What
    text: str
    step: int | None = None


class Tried(msgspec.Struct, frozen=True):
    """One order: ``kept`` says whether the second exchange of the race ended first indeed.

    ``also`` are other pairs of exchanges that were to end the other way round with it.
    """

    race: Race
    kept: bool
    also: tuple[tuple[int, int], ...]
    effects: tuple[Effect, ...]


class Permuted(msgspec.Struct, frozen=True):
    """What became of a run in its recorded order, and in the others that were tried.

    ``races`` is how many there are, up to a thousand; ``one_sided`` how many could not be tried as one exchange was
    cancelled or erased. ``unsteady`` is what comes out otherwise in each replay, and so was not compared.
    """

    recorded: Replayed
    races: int
    one_sided: int
    unsteady: tuple[What, ...]
    tried: tuple[Tried, ...]

    @property
    def kept(self) -> int:
        """How many other orders there were indeed."""
        return sum(each.kept for each in self.tried)

    @property
    def depends(self) -> list[Tried]:
        """The orders in which something came out otherwise."""
        return [each for each in self.tried if each.kept and each.effects]


class _Played(msgspec.Struct, frozen=True):
    """A program that was replayed and what it printed; ``failure`` where it gave no report."""

    done: Replayed | None
    output: str
    failure: str = ""


def permute(
    recording: Recording,
    graph: Graph,
    store: Path,
    *,
    most: int,
    match: Match,
    command: Sequence[str] = (),
    normalisers: Sequence[Path] = (),
) -> Permuted:
    """Replay a program in its recorded order, and then in ``most`` others, each in a process of its own.

    Where the recorded order does not replay, no other is tried. What comes out otherwise in another order has to do so
    twice. Raises what `replay_program` raises.
    """
    masker = make_masker(read_settings(store=str(store)), LocalStore(store).mask_key())

    def play(order: Sequence[int] | None, limit_s: float | None, stderr: int | None) -> _Played:
        failure, done = "", None
        with capture() as captured:
            try:
                done = replay_program(
                    recording, store, match=match, command=command, normalisers=normalisers,
                    stdout=captured.fd, stderr=stderr, instead=order, limit_s=limit_s,
                )  # fmt: skip
            except NoReportError as error:
                if order is None:
                    raise
                failure = error.message
        return _Played(done, masker.text(captured.text), failure)

    began_ns = SystemClock.mono_ns()
    recorded = play(None, None, None)
    assert recorded.done is not None
    limit_s = max(_LEAST_S, _TIMES * (SystemClock.mono_ns() - began_ns) / 1e9)
    races = sum(1 for _ in islice(find_races(graph), MANY))
    orders = find_orders(recording, graph)
    if not recorded.done.report.ok or not races:
        return Permuted(recorded.done, races, 0, (), ())
    with open(os.devnull, "wb") as nowhere:
        unsteady: set[What] = {each.what for each in _effects(recorded, play(None, limit_s, nowhere.fileno()), set())}
        tried = _try(orders, most, recorded, unsteady, lambda order: play(order, limit_s, nowhere.fileno()))
        races = max(races, orders.races)
        return Permuted(recorded.done, races, orders.one_sided, tuple(sorted(unsteady)), tuple(tried))


def _try(
    orders: Orders, most: int, recorded: _Played, unsteady: set[What], play: Callable[[Sequence[int]], _Played]
) -> list[Tried]:
    found: list[Tried] = []
    for other in islice(orders, _TRIES * most):
        played = play(other.order)
        effects = tuple(_effects(recorded, played, unsteady))
        kept = _is_kept(other.race, played)
        if kept and effects:
            again = {each.what for each in _effects(recorded, play(other.order), unsteady)}
            unsteady |= {each.what for each in effects if each.what not in again}
            effects = tuple(each for each in effects if each.what in again)
        found.append(Tried(other.race, kept, other.also, effects))
        if sum(each.kept for each in found) >= most:
            break
    return found


def _is_kept(race: Race, played: _Played) -> bool:
    """Whether the second exchange ended before the first; a program that could tell nothing more was on its way."""
    if played.done is None:
        return True
    places = {question: place for place, question in enumerate(played.done.completed)}
    return race.second in places and places[race.second] < places.get(race.first, len(places))


def _effects(recorded: _Played, played: _Played, unsteady: set[What]) -> Iterator[Effect]:
    """What came out otherwise. Where the program asked for something else, all after it follows from that."""
    done, before = played.done, recorded.done
    assert before is not None
    if done is None:
        yield Effect("exit", played.failure)
        return
    if done.ended.late:
        yield Effect("exit", "the program did not end, and was ended")
        return
    found = done.report.divergence
    if found is not None:
        what: What = "left out" if found.kind == "unplayed" else "asked"
        yield Effect(what, found.message, found.step)
        return
    for each in (*_asked(before.report, done.report), *_ended(before, done), *_printed(recorded, played)):
        if each.what not in unsteady:
            yield each


def _asked(before: ReplayReport, now: ReplayReport) -> Iterator[Effect]:
    """What is new in a report: it was all forgiven, but it is not as in the recorded order."""
    for drift in now.drift:
        if drift not in before.drift:
            words = "; ".join(f"{each.path or '/'}: {each.words()}" for each in drift.differences)
            yield Effect("asked", f"{drift.name} in lane {drift.lane} asked for something else: {words}", drift.step)
    for moved in now.reordered:
        if moved not in before.reordered:
            if moved.lane == moved.recorded_lane:
                text = f"{moved.name} in lane {moved.lane} was asked for at another place"
            else:
                text = f"{moved.name} was asked for in lane {moved.lane}, and in {moved.recorded_lane} when recorded"
            yield Effect("asked", text, moved.step)
    for left in now.unplayed:
        if left not in before.unplayed:
            yield Effect("left out", f"{left.name} in lane {left.lane} was not asked for", left.step)
    if now.new_reads.keys() - before.new_reads.keys():
        sites = ", ".join(sorted(now.new_reads.keys() - before.new_reads.keys()))
        yield Effect("read", f"reads that were not recorded: {sites}")


def _ended(before: Replayed, now: Replayed) -> Iterator[Effect]:
    """What was given and raised, and the exit code."""
    for was, gives in zip(before.runs, now.runs, strict=False):
        for each in differences(was, gives):
            yield Effect("result", f"the result{_named(each.path)}: {each.words()}")
    if len(before.runs) != len(now.runs):
        amount = f"{counted(len(now.runs), 'run')} gave a result, and {len(before.runs)} in the recorded order"
        yield Effect("result", amount)
    if before.uncaught != now.uncaught:
        was, gives = ("none" if each is None else brief_error(each, 80) for each in (before.uncaught, now.uncaught))
        yield Effect("error", f"the exception that ended it: [-{was}-] {{+{gives}+}}")
    if (before.ended.code, before.ended.signal) != (now.ended.code, now.ended.signal):
        yield Effect("exit", f"it ended with {now.ended}, and with {before.ended} in the recorded order")


def _named(path: str) -> str:
    """Where in the account of a run's end something differs; its result itself goes without saying."""
    below = path.removeprefix("/result")
    return f" at {below}" if below else ""


def _printed(recorded: _Played, played: _Played) -> Iterator[Effect]:
    was, now = recorded.output.splitlines(), played.output.splitlines()
    for number, (old, new) in enumerate(zip(was, now, strict=False), start=1):
        if old != new:
            yield Effect("output", f"line {number} of its output: {word_difference(old, new)}")
            return
    if len(was) != len(now):
        gone, come = brief("\n".join(was[len(now) :]), 60), brief("\n".join(now[len(was) :]), 60)
        yield Effect("output", f"its output ends otherwise: [-{gone}-] {{+{come}+}}")
