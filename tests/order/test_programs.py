"""Laws of order, over programs of tasks, sleeps, calls, limits, races and locks that are made up at random."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import playhead
from tests.examples import up_to
from tests.order.loops import run_in_few_turns, run_unhurried

pytestmark = pytest.mark.slow

Step = tuple[Any, ...]
Steps = list[Step]

names = st.sampled_from("abc")
millis = st.integers(0, 4)


def blocks(inner: st.SearchStrategy[Steps]) -> st.SearchStrategy[Step]:
    """Steps that are made of others."""
    several = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(st.just("gather"), several),
        st.tuples(st.just("race"), several),
        st.tuples(st.just("spawn"), inner),
        st.tuples(st.just("limit"), millis, inner),
        st.tuples(st.just("lock"), inner),
    )


simple: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("call"), names, millis),
    st.tuples(st.just("call"), names, millis),
    st.tuples(st.just("sleep"), millis),
    st.tuples(st.just("note"), names),
)
programs: st.SearchStrategy[Steps] = st.recursive(
    st.lists(simple, min_size=1, max_size=4),
    lambda inner: st.lists(st.one_of(simple, blocks(inner)), min_size=1, max_size=4),
    max_leaves=8,
)


_GOLDEN = 0.6180339887498949
_spread = count(1)
"""No two times of one run are the same, nor two sums of them: an exact tie leaves no trace of who was first."""


def seconds(millis: int) -> float:
    return millis / 1000 + next(_spread) * _GOLDEN % 1 * 1e-5


@playhead.tool
async def call(name: str, millis: int) -> str:
    await asyncio.sleep(seconds(millis) if millis else 0)
    if name == "c" and millis == 3:
        raise LookupError(name)
    return f"{name}{millis}"


class Running:
    """One run of a made-up program; ``log`` is what its lanes saw, in the order in which they saw it."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self._lock = asyncio.Lock()
        self._spawned: list[asyncio.Task[None]] = []

    async def main(self, steps: Steps) -> list[str]:
        await self._run(steps, "m")
        while self._spawned:  # those left over a loop cancels in the order of their addresses
            await self._spawned.pop(0)
        return self.log

    async def _run(self, steps: Steps, who: str) -> None:
        for number, step in enumerate(steps):
            await self._do(step, f"{who}.{number}")

    async def _do(self, step: Step, who: str) -> None:
        try:
            match step:
                case ("call", name, millis):
                    self.log.append(f"{who} {await call(name, millis)}")
                case ("sleep", millis):
                    await asyncio.sleep(seconds(millis) if millis else 0)
                case ("note", name):
                    self.log.append(f"{who} {name}")
                case ("gather", several):
                    await asyncio.gather(*[self._run(each, f"{who}g{at}") for at, each in enumerate(several)])
                case ("race", several):
                    await self._race(several, who)
                case ("spawn", inner):
                    self._spawned.append(asyncio.create_task(self._run(inner, f"{who}s")))
                case ("limit", millis, inner):
                    async with asyncio.timeout(seconds(millis)):
                        await self._run(inner, f"{who}l")
                case ("lock", inner):
                    async with self._lock:
                        self.log.append(f"{who} in")
                        await asyncio.wait_for(self._free(inner, f"{who}k"), 10)
        except (LookupError, TimeoutError) as error:
            self.log.append(f"{who} {type(error).__name__}")
        except asyncio.CancelledError:
            self.log.append(f"{who} cancelled")
            raise

    async def _free(self, steps: Steps, who: str) -> None:
        """``steps`` without those that would wait for the lock that is held."""
        await self._run([step for step in steps if step[0] in ("call", "sleep", "note")], who)

    async def _race(self, several: list[Steps], who: str) -> None:
        racing = [asyncio.create_task(self._run(each, f"{who}r{at}")) for at, each in enumerate(several)]
        try:
            done, losers = await asyncio.wait(racing, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            for each in racing:
                each.cancel()
            await asyncio.gather(*racing, return_exceptions=True)
            raise
        self.log.append(f"{who} won by {[at for at, each in enumerate(racing) if each in done]}")
        for loser in (each for each in racing if each in losers):  # a set of tasks has the order of their addresses
            loser.cancel()
        await asyncio.gather(*racing, return_exceptions=True)


Runner = Callable[[Coroutine[Any, Any, list[str]]], list[str]]


def run(steps: Steps, runner: Runner = asyncio.run) -> list[str]:
    global _spread
    _spread = count(1)

    async def main() -> list[str]:
        return await Running().main(steps)

    return runner(main())


def comes_out_again(steps: Steps, store: Path) -> None:
    with playhead.record(kind="made-up", store=store) as recorded:
        log = run(steps, run_unhurried)
    for _ in range(2):
        with playhead.replay(recorded.id, store=store) as replay:
            assert run(steps) == log
        assert replay.report.identical, replay.report.lines()


unhurried = {"deadline": None, "suppress_health_check": list(HealthCheck)}


_SPAWN: Step = ("spawn", [("call", "a", 0)])
LATE: Steps = [("race", [[_SPAWN, ("sleep", 1)], [("note", "a")], [_SPAWN, ("call", "a", 1)]])]
"""Its losers are cancelled between the answers of two others that come in one turn."""


@settings(max_examples=up_to(60), **unhurried)  # type: ignore[arg-type]
@example(steps=LATE)
@given(steps=programs)
def test_any_program_comes_out_as_it_did(steps: Steps, tmp_path_factory: pytest.TempPathFactory) -> None:
    comes_out_again(steps, tmp_path_factory.mktemp("store"))


@pytest.mark.sweep
@settings(max_examples=2000, **unhurried)  # type: ignore[arg-type]
@given(steps=programs)
def test_any_of_many_programs_comes_out_as_it_did(steps: Steps, tmp_path_factory: pytest.TempPathFactory) -> None:
    comes_out_again(steps, tmp_path_factory.mktemp("store"))


def calls(steps: Any) -> Iterator[Step]:
    """All calls of a program."""
    for step in steps:
        if isinstance(step, tuple) and step and step[0] == "call":
            yield step
        elif isinstance(step, list | tuple):
            yield from calls(step)


def changed_at(steps: Any, target: int, how: str, seen: list[int]) -> Any:
    """The program with its ``target``-th call asking something else, left out, or with another call before it."""
    if isinstance(steps, tuple) and steps and steps[0] == "call":
        seen[0] += 1
        if seen[0] != target:
            return [steps]
        other = ("call", "changed", steps[2])
        return {"renamed": [other], "left out": [], "added": [other, steps]}[how]
    if isinstance(steps, list) and not any(isinstance(each, list) for each in steps):
        return [found for each in steps for found in changed_at(each, target, how, seen)]
    if isinstance(steps, list):
        return [changed_at(each, target, how, seen) for each in steps]
    if isinstance(steps, tuple):
        return [tuple(changed_at(each, target, how, seen) if isinstance(each, list) else each for each in steps)]
    return steps


@settings(max_examples=up_to(72), **unhurried)  # type: ignore[arg-type]
@given(
    data=st.data(),
    steps=programs.filter(lambda steps: any(calls(steps))),
    how=st.sampled_from(["renamed", "left out", "added"]),
)
def test_a_changed_call_is_named_and_nobody_is_left_waiting(
    data: st.DataObject, steps: Steps, how: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("store")
    with playhead.record(kind="made-up", store=store) as recorded:
        log = run(steps, run_unhurried)
    target = data.draw(st.integers(1, len(list(calls(steps)))))
    changed = changed_at(steps, target, how, [0])
    try:
        with playhead.replay(recorded.id, store=store) as replay:
            again = run(changed, run_in_few_turns)
    except playhead.DivergenceError as error:
        found = error.divergence
        assert found is not None
        # What follows a call that is left out stands where it stood, or goes on where it was cancelled.
        after = ("changed", "again") if how == "left out" else ()
        assert "changed" in found.message or found.kind in ("unplayed", "order", *after), found.message
    else:
        assert again == log or replay.report.reordered, "nothing is said of a change that was reached"
