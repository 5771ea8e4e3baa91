"""What was taken before we came is replaced where it can be, and listed where it cannot."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from playhead.integrations import chance, clock, datetimes
from playhead.integrations._captured import find_captured
from tests.integrations._reads import RecordingReads, installed, load_agent, run

ALL = (clock.install, datetimes.install, chance.install)

EARLY = """
    import functools, random, time, uuid
    from dataclasses import dataclass, field
    from datetime import date, datetime
    from time import time as clock

    NOW = datetime.utcnow
    rnd = random.random
    HANDLERS = {"id": uuid.uuid4, "other": len}
    PAIR = (date.today, print)
    soon = functools.partial(round, ndigits=2)
    later = functools.partial(map, time.monotonic)
    dice = random.Random(4)

    def stamp(t=clock, *, by=time.time_ns):
        return t(), by()

    @dataclass
    class Note:
        at: datetime = field(default_factory=datetime.now)
        id: uuid.UUID = field(default_factory=lambda: uuid.uuid4())
        tags: list = field(default_factory=list)

        def age(self, now=time.time):
            return now()

        @staticmethod
        def tick(now=time.perf_counter):
            return now()

    def closed():
        kept = uuid.uuid4
        def inner():
            return kept()
        return inner

    inner = closed()
"""

LISTED = {
    ("HANDLERS['id']", "uuid.uuid4"),
    ("PAIR[...]", "date.today"),
    ("dice", "a generator made before"),
    ("later", "time.monotonic"),
    ("stamp(t=)", "time.time"),
    ("stamp(by=)", "time.time_ns"),
    ("Note.at (default factory)", "datetime.now"),
    ("Note.age(now=)", "time.time"),
    ("Note.tick(now=)", "time.perf_counter"),
    ("inner (closes over kept)", "uuid.uuid4"),
}


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[ModuleType]:
    yield load_agent(tmp_path, EARLY, name="early_agent")
    del sys.modules["early_agent"]


def listed(module: str) -> set[tuple[str, str]]:
    # What is built into the generated `__init__` of a dataclass is listed with the field.
    return {(one.where, one.what) for one in find_captured() if one.module == module and "__init__" not in one.where}


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow")
def test_each_use_is_recorded_or_listed(agent: ModuleType) -> None:
    """B90: names, class attributes and bound methods are caught; defaults, factories, containers, closures listed."""
    session = RecordingReads()
    with run(session, *ALL):
        assert listed("early_agent") == LISTED
        for use in (agent.clock, agent.NOW, agent.rnd, agent.Note):
            before = len(session.reads)
            use()  # called by the test, which counts as the agent's own code
            assert len(session.reads) == before + 1
    assert session.fns == ["time.time", "datetime.utcnow", "random.random", "uuid.uuid4"]


def test_what_is_taken_while_we_are_there_is_caught_and_not_listed(tmp_path: Path) -> None:
    session = RecordingReads()
    with run(session, *ALL):
        agent = load_agent(tmp_path, EARLY, name="late_agent")
        assert listed("late_agent") == {("dice", "a generator made before")}
        agent.stamp()
        agent.Note().age()
        agent.inner()
    assert session.fns == ["time.time", "time.time_ns", "datetime.now", "uuid.uuid4", "time.time", "uuid.uuid4"]
    agent.stamp()
    agent.Note()


def test_models_of_pydantic_and_attrs_are_looked_into(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    pytest.importorskip("attrs")
    source = """
        import time, uuid
        from datetime import datetime
        import attrs
        from pydantic import BaseModel, Field

        class Ticket(BaseModel):
            id: uuid.UUID = Field(default_factory=uuid.uuid4)
            at: datetime = Field(default_factory=datetime.now)

        @attrs.define
        class Row:
            at: float = attrs.field(factory=time.time)
    """
    session = RecordingReads()
    load_agent(tmp_path, source, name="early_models")
    with run(session, *ALL):
        assert listed("early_models") == {
            ("Ticket.id (default factory)", "uuid.uuid4"),
            ("Ticket.at (default factory)", "datetime.now"),
            ("Row.at (default factory)", "time.time"),
        }
        late = load_agent(tmp_path, source, name="late_models")
        late.Ticket()
        late.Row()
    assert session.fns == ["uuid.uuid4", "datetime.now", "time.time"]
    del sys.modules["early_models"], sys.modules["late_models"]


class Lazy(ModuleType):
    """A module that counts how often something is looked up on it."""

    touched = 0

    def __getattr__(self, name: str) -> Any:
        type(self).touched += 1
        raise AttributeError(name)


def test_nothing_is_imported_and_no_lazy_attribute_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """B90: a module with lazy attributes, and one that is not loaded before it is used, are left as they are."""
    lazy = Lazy("lazy_agent")
    lazy.__file__ = "/project/lazy_agent.py"
    monkeypatch.setitem(sys.modules, "lazy_agent", lazy)

    class Trap:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    monkeypatch.setitem(sys.modules, "trap", Trap())  # type: ignore[arg-type]
    with installed(*ALL):
        find_captured()
        before = set(sys.modules)
    with installed(*ALL):
        find_captured()
    assert set(sys.modules) == before
    assert Lazy.touched == 0


def test_a_module_that_is_not_loaded_yet_stays_so(tmp_path: Path) -> None:
    (tmp_path / "unused_agent.py").write_text("raise RuntimeError('loaded')", encoding="utf-8")
    program = f"""
import importlib.util, sys
sys.path.insert(0, {str(tmp_path)!r})
spec = importlib.util.find_spec("unused_agent")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules["unused_agent"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from playhead.boundary import Patches
from playhead.integrations import clock, datetimes, chance
from playhead.integrations._captured import find_captured
patches = Patches()
for one in (clock, datetimes, chance):
    one.install(patches)
find_captured()
patches.undo()
print(type(module).__name__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "_LazyModule"


def test_ten_times_as_many_modules_take_about_ten_times_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """B90: starting stays cheap in a program of 5,000 modules; `benchmarks/reads.py` prints the milliseconds."""

    def crowd(count: int) -> float:
        for at in range(count):
            name = f"crowd_{at}"
            module = ModuleType(name)
            vars(module).update({f"name_{key}": key for key in range(20)}, __file__=f"/site-packages/{name}.py")
            monkeypatch.setitem(sys.modules, name, module)
        best = []
        for _ in range(3):
            began = time.perf_counter()
            with installed(*ALL):
                find_captured()
            best.append(time.perf_counter() - began)
        return min(best)

    few = crowd(500)
    assert crowd(5000) < 30 * few
