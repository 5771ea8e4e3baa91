"""Reads of the clocks by the agent's own code, and by nobody else's."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import sys
import threading
import time
import timeit
from pathlib import Path

import pytest

from playhead.boundary import Lane, as_fallback, in_lane
from playhead.integrations import clock
from playhead.integrations._scope import Scope
from playhead.integrations._sites import set_scope
from tests.integrations._reads import RecordingReads, ReplayingReads, installed, load_agent, run

PLAIN = [name for name in clock._PLAIN if hasattr(time, name)]


@pytest.mark.parametrize("name", PLAIN)
def test_a_clock_gives_the_recorded_value_again(name: str) -> None:
    def agent() -> object:
        return getattr(time, name)()

    recorded = RecordingReads()
    with run(recorded, clock.install):
        first = agent()
    assert recorded.fns == [f"time.{name}"]
    replay = ReplayingReads(recorded)
    with run(replay, clock.install):
        assert agent() == first
    assert not replay.new
    assert not replay.unplayed


def test_the_forms_that_are_given_no_time_are_reads_and_the_others_are_not() -> None:
    recorded = RecordingReads()
    moment = 86_400.0 * 365

    def agent() -> list[object]:
        return [
            *(time.localtime(), time.gmtime(None), time.ctime(), time.asctime(), time.strftime("%S")),
            *(time.localtime(moment), time.gmtime(moment), time.ctime(moment)),
            *(time.asctime(time.gmtime(moment)), time.strftime("%Y", time.gmtime(moment))),
            time.clock_gettime(time.CLOCK_REALTIME),
        ]

    with run(recorded, clock.install):
        first = agent()
    read = ["localtime", "gmtime", "ctime", "asctime", "strftime", "clock_gettime"]
    assert recorded.fns == [f"time.{name}" for name in read]
    assert type(first[0]) is time.struct_time
    with run(ReplayingReads(recorded), clock.install):
        again = agent()
    assert again == first
    assert again[0].tm_zone == first[0].tm_zone  # type: ignore[attr-defined]
    assert again[0].tm_gmtoff == first[0].tm_gmtoff  # type: ignore[attr-defined]


def test_outside_a_run_and_after_it_the_clock_is_the_original() -> None:
    originals = {name: getattr(time, name) for name in PLAIN}
    default_timer = timeit.default_timer
    session = RecordingReads()
    with installed(clock.install):
        assert time.time is not originals["time"]
        before = originals["time"]()
        assert time.time() >= before
    assert {name: getattr(time, name) for name in PLAIN} == originals
    assert timeit.default_timer is default_timer
    assert not session.reads


def test_reads_inside_a_tool_belong_to_the_tool() -> None:
    session = RecordingReads()
    with run(session, clock.install) as lane, in_lane(lane.inside()):
        time.time()
    assert session.reads == []


def test_the_reads_of_the_standard_library_are_not_recorded(caplog: pytest.LogCaptureFixture) -> None:
    session = RecordingReads()
    with run(session, clock.install):
        logging.getLogger("agent").warning("a log record reads the time")
        threading.Event().wait(0.001)
        with pytest.raises(TimeoutError):
            asyncio.run(asyncio.wait_for(asyncio.sleep(5), 0.001))
    assert session.reads == []


def test_names_taken_with_from_are_replaced_and_given_back(tmp_path: Path) -> None:
    original = time.time
    early = load_agent(
        tmp_path, "from time import time, monotonic as tick\ndef go(): return time(), tick()", name="early"
    )
    session = RecordingReads()
    with run(session, clock.install):
        late = load_agent(tmp_path, "from time import time\ndef go(): return time()", name="late")
        early.go()
        late.go()
    assert session.fns == ["time.time", "time.monotonic", "time.time"]
    assert early.time is original
    assert late.time is original


def test_a_clock_kept_by_a_class_is_replaced_and_stays_callable_through_an_instance(tmp_path: Path) -> None:
    source = """
        import time
        class Timer:
            clock = time.perf_counter
            class Inner:
                tick = time.monotonic
            def read(self):
                return self.clock(), self.Inner().tick()
    """
    original = time.perf_counter
    early = load_agent(tmp_path, source, name="early")
    session = RecordingReads()
    with run(session, clock.install):
        early.Timer().read()
        late = load_agent(tmp_path, source, name="late")
        late.Timer().read()
    assert session.fns == ["time.perf_counter", "time.monotonic"] * 2
    assert vars(early.Timer)["clock"] is original
    assert vars(late.Timer)["clock"] is original
    late.Timer().read()


def test_a_stand_in_is_pickled_and_copied_as_the_function_it_stands_for() -> None:
    with installed(clock.install):
        sent = pickle.dumps(time.time)
        assert copy.deepcopy(time.time)() > 0
        assert time.time.__name__ == "time"
        assert time.time.__module__ == "time"
    assert pickle.loads(sent) is time.time or pickle.loads(sent)() > 0


def test_the_event_loop_keeps_its_own_time() -> None:
    """B88: a replayed clock that stands still lets no wait hang, since the loop's reads are not answered."""

    async def agent() -> list[float]:
        loop = asyncio.get_running_loop()
        seen = [time.monotonic()]
        await asyncio.sleep(0.005)
        seen.append(time.monotonic())
        called = asyncio.Event()
        loop.call_later(0.005, called.set)
        await called.wait()
        for waiting in (asyncio.Event().wait(), asyncio.Queue[int]().get()):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waiting, 0.005)
        threading.Event().wait(0.005)
        seen.append(time.monotonic())
        return seen

    recorded = RecordingReads()
    with run(recorded, clock.install):
        first = asyncio.run(agent())
    assert recorded.fns == ["time.monotonic"] * 3
    replay = ReplayingReads(recorded)
    with run(replay, clock.install):
        assert asyncio.run(agent()) == first
    assert not replay.new


def test_uvloop_keeps_its_own_time() -> None:
    """B88: the same on a loop written in C."""
    uvloop = pytest.importorskip("uvloop")

    async def agent() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.005)
        return time.monotonic()

    recorded = RecordingReads()
    with run(recorded, clock.install):
        first = uvloop.run(agent())
    assert recorded.fns == ["time.monotonic"]
    with run(ReplayingReads(recorded), clock.install):
        assert uvloop.run(agent()) == first


def test_code_without_a_lane_belongs_to_a_process_wide_run() -> None:
    session = RecordingReads()
    with installed(clock.install), as_fallback(Lane(session)):
        thread = threading.Thread(target=lambda: time.time(), name="poller")
        thread.start()
        thread.join()
    assert session.lanes == {"main/thread.poller#1"}


def test_the_scope_can_be_narrowed_and_widened(tmp_path: Path) -> None:
    installed_package = tmp_path / "site-packages"
    installed_package.mkdir()
    source = "import time\ndef go(): return time.time()"
    library = load_agent(installed_package, source, name="vendored")
    agent = load_agent(tmp_path, source, name="agent_module")
    session = RecordingReads()
    try:
        with run(session, clock.install):
            library.go()
            assert session.fns == []
            set_scope(Scope(include=["vendored"], exclude=["agent_*"]))
            library.go()
            agent.go()
    finally:
        set_scope(Scope())
    assert [site.partition(":")[0] for *_, site, _ in session.reads] == ["vendored"]


def test_code_without_a_file_is_the_agents_own() -> None:
    session = RecordingReads()
    with run(session, clock.install):
        exec("import time\ntime.time()", {})
        exec(compile("import time\ntime.time()", "<cell 3>", "exec"), {"__name__": "__main__"})
        eval("time.time()", {"time": time, "__file__": sys.modules["logging"].__file__})
    assert session.fns == ["time.time", "time.time"]


def test_what_a_clock_refuses_it_refuses_as_before() -> None:
    with run(RecordingReads(), clock.install):
        for refused in (lambda: time.time(1), lambda: time.localtime("x"), lambda: time.strftime()):  # type: ignore[call-arg,arg-type]
            with pytest.raises(TypeError):
                refused()
        with pytest.raises(OSError, match="Invalid argument"):
            time.clock_gettime(987654)
