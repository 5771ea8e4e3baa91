"""A suite is played against the present code: its recordings become plays, and what becomes of them results."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playhead._program._many import Play, Played, Player, play_many
from playhead._system import SystemClock
from playhead.errors import PlayheadError
from playhead.eventlog import open_recording
from playhead.stores import LocalStore
from playhead.suite import Fixture, Result, Summary, failed_result, judge_replay

Told = Callable[[Fixture, Result, Played | None], None]


def play_suite(
    fixtures: Sequence[Fixture],
    store: LocalStore,
    *,
    folder: str,
    jobs: int | None = None,
    limit_s: float | None = None,
    attentive: bool = False,
    told: Told = lambda fixture, result, played: None,
) -> Summary:
    """Play recordings against the present code, ``jobs`` at a time (as many as there are cores).

    ``told`` is called as each has ended, with the replay itself, where there was one.
    """
    began_ns = SystemClock.mono_ns()
    plays: dict[Path, tuple[Fixture, Play]] = {}
    results: dict[str, Result] = {}

    def take(fixture: Fixture, result: Result, played: Played | None) -> None:
        results[fixture.name] = result
        told(fixture, result, played)

    for fixture in fixtures:
        try:
            plays[fixture.path] = fixture, play_of(fixture, attentive=attentive)
        except PlayheadError as error:
            take(fixture, failed_result(fixture, error), None)

    def judge(played: Played) -> None:
        fixture, _ = plays[played.play.path]
        take(fixture, result_of(fixture, played), played)

    with keys_of(store) as place:
        waiting = [play for _, play in plays.values()]
        play_many(waiting, place, jobs=jobs or count_cores(), limit_s=limit_s, told=judge)
    ordered = tuple(results[fixture.name] for fixture in fixtures)
    return Summary(folder, ordered, SystemClock.mono_ns() - began_ns)


def play_of(fixture: Fixture, *, attentive: bool = False) -> Play:
    """How a recording of a suite is played. Raises what reading it raises."""
    entry, hash_seed = fixture.entry()
    return Play(
        path=fixture.path,
        entry=entry,
        hash_seed=hash_seed,
        match=fixture.match,
        normalisers=fixture.normalisers,
        command=fixture.command,
        attentive=attentive,
    )


def result_of(fixture: Fixture, played: Played) -> Result:
    """What became of a recording of a suite."""
    done = played.done
    if done is None:
        assert played.error is not None
        return failed_result(fixture, played.error, output=played.output, took_ns=played.took_ns)
    with open_recording(fixture.path) as recording:
        return judge_replay(
            fixture,
            recording,
            done.report,
            where=done.where,
            runs=done.runs,
            ended=str(done.ended),
            output=played.output,
            took_ns=played.took_ns,
        )


class SuitePlayer:
    """Plays recordings of a suite one at a time, in the order in which it is asked to."""

    def __init__(self, store: LocalStore) -> None:
        self._keys = keys_of(store)
        self._player = Player(self._keys.__enter__())

    def play(self, fixture: Fixture) -> Result:
        """What becomes of one."""
        try:
            play = play_of(fixture)
        except PlayheadError as error:
            return failed_result(fixture, error)
        return result_of(fixture, self._player.play(play))

    def close(self) -> None:
        """Nothing more is to be played."""
        self._player.close()
        self._keys.__exit__(None, None, None)


@contextmanager
def keys_of(store: LocalStore) -> Iterator[Path]:
    """A store to play with: the project's, or one for this time where a project has none, and gets none by it."""
    if (store.path / "keys" / "mask.key").exists():
        yield store.path
        return
    with tempfile.TemporaryDirectory(prefix="playhead-") as folder:
        yield Path(folder)


def count_cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
