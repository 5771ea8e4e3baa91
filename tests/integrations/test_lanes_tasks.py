"""Lanes of asyncio tasks: named by where they were created, whatever runs when."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import random
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from playhead.boundary import current_lane
from playhead.integrations import tasks, threads
from tests.integrations._reads import RecordingReads, installed, run

colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


def here() -> str:
    lane = current_lane()
    return "outside" if lane is None else lane.name


async def leaf() -> str:
    await asyncio.sleep(0)
    return here()


async def branch() -> list[str]:
    return [here(), *await asyncio.gather(leaf(), leaf())]


def in_run(agent: Callable[[], Coroutine[Any, Any, Any]], *, runner: Callable[..., Any] = asyncio.run) -> Any:
    with run(RecordingReads(), tasks.install, threads.install):
        return runner(agent())


RUNNERS = [pytest.param(asyncio.run, id="asyncio")]
try:
    import uvloop

    RUNNERS.append(pytest.param(uvloop.run, id="uvloop"))
except ImportError:
    pass


async def every_way() -> list[Any]:
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        grouped = group.create_task(leaf(), name="grouped")
    assert grouped.get_name() == "grouped"
    return [
        here(),
        grouped.result(),
        await loop.create_task(leaf()),
        await asyncio.ensure_future(leaf()),
        await asyncio.create_task(branch()),
        await asyncio.shield(leaf()),
        here(),
    ]


@pytest.mark.parametrize("runner", RUNNERS)
def test_every_way_to_make_a_task_gives_a_lane(runner: Callable[..., Any]) -> None:
    top = "main/every_way#1"
    assert in_run(every_way, runner=runner) == [
        top,
        f"{top}/leaf#1",
        f"{top}/leaf#2",
        f"{top}/leaf#3",
        [f"{top}/branch#1", f"{top}/branch#1/leaf#1", f"{top}/branch#1/leaf#2"],
        f"{top}/leaf#4",
        top,
    ]


def test_a_wait_with_a_limit_goes_on_in_the_lane_of_who_waits() -> None:
    """So that names are the same on every Python: only before 3.12 `wait_for` makes a task of it."""

    async def agent() -> list[str]:
        async with asyncio.timeout(5):
            return [await asyncio.wait_for(leaf(), 5), *await asyncio.wait_for(branch(), 5)]

    first, second, *leaves = in_run(agent)
    assert first == second
    assert leaves == [f"{first}/leaf#1", f"{first}/leaf#2"]


def test_task_groups_of_anyio_name_lanes_by_the_function_started() -> None:
    anyio = pytest.importorskip("anyio")

    async def agent() -> list[tuple[int, str, str]]:
        seen: list[tuple[int, str, str]] = []

        async def started(count: int) -> None:
            await anyio.sleep(0)
            seen.append((count, here(), await anyio.to_thread.run_sync(here)))

        async with anyio.create_task_group() as group:
            group.start_soon(started, 1)
            group.start_soon(started, 2)
        return sorted(seen)

    for count, lane, thread in in_run(agent):
        assert lane.endswith(f".started#{count}")
        assert thread == lane


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are new in 3.12")
def test_eager_tasks_run_in_their_own_lane_from_their_first_step() -> None:
    async def agent() -> list[str]:
        loop = asyncio.get_running_loop()
        loop.set_task_factory(asyncio.eager_task_factory)

        async def at_once() -> str:
            return here()

        return [await asyncio.create_task(at_once()), await asyncio.create_task(leaf()), here()]

    eager, late, own = in_run(agent)
    assert (eager, late) == (f"{own}/{at_once_name(eager)}#1", f"{own}/leaf#1")


def at_once_name(lane: str) -> str:
    return lane.rpartition("/")[2].partition("#")[0]


def test_a_task_factory_of_the_program_is_called_as_without_us() -> None:
    calls: list[dict[str, Any]] = []

    async def agent() -> tuple[str, str]:
        loop = asyncio.get_running_loop()

        def factory(loop: asyncio.AbstractEventLoop, coro: Any, **kwargs: Any) -> Any:
            calls.append(kwargs)
            return asyncio.Task(coro, loop=loop)

        loop.set_task_factory(factory)
        assert loop.get_task_factory() is factory
        return here(), await asyncio.create_task(leaf())

    own, inner = in_run(agent)
    assert inner == f"{own}/leaf#1"
    assert not any("context" in kwargs for kwargs in calls)


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_task_in_a_lane_passes_for_one_of_asyncio(runner: Callable[..., Any]) -> None:
    async def agent() -> None:
        task = asyncio.create_task(leaf(), name="one")
        twin = asyncio.create_task(leaf())
        assert isinstance(task, asyncio.Task)
        assert isinstance(task, asyncio.Future)
        assert repr(task).startswith("<Task pending name='one' coro=<leaf() ")
        assert task != twin
        assert hash(task) == hash(task)
        assert {task, twin, current} == asyncio.all_tasks()
        assert {*weakref.WeakSet([task, twin, task])} == {task, twin}
        assert await asyncio.gather(task, twin) == [task.result(), twin.result()]
        with pytest.raises(TypeError, match="a coroutine was expected"):
            await asyncio.create_task(1)  # type: ignore[arg-type]

    async def main() -> None:
        nonlocal current
        current = asyncio.current_task()
        await agent()

    current: Any = None
    in_run(main, runner=runner)


def test_places_of_tasks_in_sets_are_the_same_in_each_run() -> None:
    async def agent() -> list[int]:
        return [hash(asyncio.create_task(leaf())) for _ in range(50)]

    first = in_run(agent)
    assert in_run(agent) == first
    assert len({*first}) == 50


def test_the_sets_of_asyncio_are_their_own_again_afterwards() -> None:
    in_run(every_way)
    assert "set" not in vars(sys.modules["asyncio.tasks"])

    async def agent() -> type:
        return type(asyncio.create_task(leaf()))

    assert asyncio.run(agent()) is asyncio.Task


def test_a_context_that_is_handed_over_is_used_and_changed_in_nothing_but_the_lane() -> None:
    async def paint() -> tuple[str, str]:
        seen = colour.get()
        colour.set("blue")
        return seen, here()

    async def agent() -> Any:
        context = contextvars.copy_context()
        context.run(colour.set, "red")
        before = {var.name for var in context}
        task = asyncio.create_task(paint(), context=context)
        result = await task
        return result, context[colour], {var.name for var in context} - before, here(), colour.get()

    (seen, lane), after, added, own, mine = in_run(agent)
    assert (seen, after, mine) == ("red", "blue", "none")
    assert added <= {"playhead_lane"}
    assert lane.startswith(f"{own}/")


def test_a_task_in_the_context_of_its_creator_shares_its_lane() -> None:
    if sys.version_info < (3, 12):
        pytest.skip("a task tells its context from 3.12")

    async def agent() -> tuple[str, str]:
        task = asyncio.current_task()
        assert task is not None
        return here(), await asyncio.create_task(leaf(), context=task.get_context())

    own, inner = in_run(agent)
    assert own == inner


def test_tasks_of_libraries_do_not_shift_the_names_of_others() -> None:
    async def housekeeping() -> None:
        await asyncio.sleep(0)

    async def agent(extra: int) -> str:
        for _ in range(extra):
            await asyncio.create_task(housekeeping())
        return await asyncio.create_task(leaf())

    assert in_run(lambda: agent(0)) == in_run(lambda: agent(3))


def test_names_signatures_and_the_absence_of_a_factory_are_kept() -> None:
    signature = inspect.signature(asyncio.BaseEventLoop.create_task)
    original = asyncio.BaseEventLoop.create_task
    with installed(tasks.install):
        assert asyncio.BaseEventLoop.create_task is not original
        assert inspect.signature(asyncio.BaseEventLoop.create_task) == signature
        loop = asyncio.new_event_loop()
        assert loop.get_task_factory() is None
        task = loop.create_task(leaf(), name="mine")
        assert task.get_name() == "mine"
        assert loop.run_until_complete(task) == "outside"
        loop.close()
    assert asyncio.BaseEventLoop.create_task is original


def test_asyncio_is_not_imported_for_it_and_is_followed_when_it_is() -> None:
    program = """
import sys
from playhead.boundary import Lane, Patches, current_lane, in_lane
from playhead.integrations import tasks, threads, clock, datetimes, chance
for module in (tasks, threads, clock, datetimes, chance):
    module.install(Patches())
assert not {"asyncio", "concurrent.futures", "ctypes.util"} & set(sys.modules), sys.modules
import asyncio
async def leaf():
    return current_lane().name
class Quiet:
    def follows(self, lane, after):
        pass
with in_lane(Lane(Quiet())):
    print(asyncio.run(leaf()), asyncio.base_events.__spec__.loader.__class__.__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["main/leaf#1", "SourceFileLoader"]


def test_lane_names_are_the_same_whatever_the_scheduling() -> None:
    """Twenty runs with random delays: tasks, groups, threads and pools, nested."""
    shuffled = random.Random(11)

    def work(count: int) -> str:
        time.sleep(shuffled.random() / 500)
        return f"{count} {here()}"

    async def worker(count: int) -> list[str]:
        await asyncio.sleep(shuffled.random() / 500)
        loop = asyncio.get_running_loop()
        parts = [asyncio.to_thread(work, at) for at in range(3)]
        inside = [loop.run_in_executor(None, work, at) for at in range(3)]
        await asyncio.sleep(shuffled.random() / 500)
        return [f"{count} {here()}", *await asyncio.gather(*parts, *inside)]

    async def agent() -> list[str]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(worker(at)) for at in range(4)]
        done, _ = await asyncio.wait([asyncio.create_task(worker(9)), asyncio.create_task(worker(8))])
        return sorted(line for task in (*tasks, *done) for line in task.result())

    runs = [tuple(in_run(agent)) for _ in range(20)]
    assert len(set(runs)) == 1
    assert len(set(runs[0])) == 6 * 7
