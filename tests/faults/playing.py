"""A program recorded into a file and replayed from it, with proof that nothing was opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import playhead
from playhead.testing import forbid_connections

T = TypeVar("T")


def record(program: Callable[[], T]) -> tuple[str, T]:
    """The id of the run, and what the program gives."""
    with playhead.record(kind="fault") as run:
        given = program()
    return run.id, given


@contextmanager
def replay(run: str, match: str = "strict") -> Iterator[playhead.Replay]:
    """`playhead.replay` of a run, under a guard."""
    playing = playhead.replay(run, match=match)  # type: ignore[arg-type]
    with forbid_connections() as guard, playing:
        yield playing
    assert guard.attempts == []


def diverge(run: str, program: Callable[[], object]) -> playhead.DivergenceError:
    """The divergence of a strict replay that has to have one."""
    try:
        with replay(run):
            program()
    except playhead.DivergenceError as error:
        return error
    raise AssertionError("the replay held")


def urls(run: str) -> list[str]:
    """What was asked for, in the order of the questions."""
    return [str(exchange.question.body.url) for exchange in playhead.load(run).exchanges]  # type: ignore[union-attr]
