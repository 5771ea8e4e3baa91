"""Every way of writing a test works: classes, unittest, coroutines, threads, parameters, several processes."""

from __future__ import annotations

import pytest

from tests.testing.plugin.projects import Project

CLASSES = """
import asyncio, unittest

@pytest.mark.playhead
class TestOrders:
    def test_one(self):
        assert fetch(1)["number"] == 1

    @pytest.mark.parametrize("number", [2, 3])
    def test_more(self, number):
        assert fetch(number)["number"] == number

@pytest.mark.playhead
class Unittest(unittest.TestCase):
    def setUp(self):
        self.order = fetch(4)

    def test_it(self):
        self.assertEqual(self.order["number"] + fetch(5)["number"], 9)

@pytest.mark.playhead
class UnittestAsync(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.order = await asyncio.to_thread(fetch, 6)

    async def test_it(self):
        both = await asyncio.gather(*(asyncio.to_thread(fetch, number) for number in (7, 8)))
        self.assertEqual([each["number"] for each in both], [7, 8])

def test_not_marked():
    pass
"""


def test_classes_unittest_and_parameters(project: Project) -> None:
    project.write(test_it=CLASSES)
    assert project.record().counts == {"passed": 6}
    assert sorted(project.live) == list("12345678")
    assert len(project.recordings) == 5
    assert project.pytest().counts == {"passed": 6}
    assert project.live == []


def test_a_unittest_fails_with_its_own_assertion_and_with_what_it_left_out(project: Project) -> None:
    text = """
import os, unittest
@pytest.mark.playhead
class TestIt(unittest.TestCase):
    def test_it(self):
        self.assertEqual(fetch(1)["number"], int(os.environ.get("WANTED", "1")))
        "SHORT" in os.environ or fetch(2)
"""
    project.write(test_it=text)
    project.record()
    assert project.live
    wrong = project.pytest(WANTED="5")
    assert wrong.counts == {"failed": 1}
    assert "AssertionError: 1 != 5" in wrong.text
    short = project.pytest(SHORT="yes")
    assert short.counts == {"failed": 1}
    assert "UnplayedError: never asked in this replay: step 2 (fetch)" in short.text
    again = project.record(WANTED="5")
    assert again.counts == {"failed": 1}
    assert len(project.kept) == 1
    assert project.pytest().counts == {"passed": 1}


ASYNC = """
import asyncio, os

MARK

@pytest.fixture
async def order():
    yield await asyncio.to_thread(fetch, 1)

@pytest.mark.playhead
async def test_it(order):
    last = int(os.environ.get("LAST", "3"))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(asyncio.to_thread(fetch, number)) for number in (2, last)]
    assert [task.result()["number"] for task in tasks][0] == 2
"""


@pytest.mark.parametrize(
    ("library", "plugin", "mark"),
    [
        (
            "anyio",
            "anyio.pytest_plugin",
            "pytestmark = pytest.mark.anyio\n@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'",
        ),
        ("pytest_asyncio", "pytest_asyncio.plugin", "pytestmark = pytest.mark.asyncio"),
    ],
    ids=["anyio", "pytest-asyncio"],
)
def test_coroutines(project: Project, library: str, plugin: str, mark: str) -> None:
    pytest.importorskip(library)
    (project.folder / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = auto\n" if library == "pytest_asyncio" else "[pytest]\n"
    )
    project.write(test_it=ASYNC.replace("MARK", mark))
    made = project.pytest("--playhead=record", plugins=(plugin,))
    assert made.counts == {"passed": 1}, made.text
    assert sorted(project.live) == ["1", "2", "3"]
    assert project.pytest(plugins=(plugin,)).counts == {"passed": 1}
    ended = project.pytest(plugins=(plugin,), LAST="4")
    assert ended.counts == {"failed": 1}
    assert "/number: [-3-] {+4+}" in ended.text
    assert len(ended.section("test_it")) < 25
    assert project.live == []


@pytest.mark.sweep
def test_an_event_loop_that_outlives_a_test_belongs_to_each_in_turn(project: Project) -> None:
    pytest.importorskip("anyio")
    text = """
import asyncio, os
pytestmark = [pytest.mark.anyio, pytest.mark.playhead]

@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"

@pytest.fixture(scope="module")
async def shared():
    yield

@pytest.mark.parametrize("first", [1, 3, 5])
async def test_it(shared, first):
    last = int(os.environ.get("LAST", "4")) if first == 3 else first + 1
    await asyncio.gather(*(asyncio.to_thread(fetch, number) for number in (first, last)))
"""
    project.write(test_it=text)
    plugins = ("anyio.pytest_plugin",)
    assert project.pytest("--playhead=record", plugins=plugins).counts == {"passed": 3}
    assert sorted(project.live) == list("123456")
    assert project.pytest(plugins=plugins).counts == {"passed": 3}
    assert project.pytest(plugins=plugins, LAST="9").counts == {"passed": 2, "failed": 1}
    assert project.live == []


def test_several_processes_record_and_replay(project: Project) -> None:
    pytest.importorskip("xdist")
    text = """
@pytest.mark.playhead
@pytest.mark.parametrize("number", range(12))
def test_it(number):
    assert fetch(number)["number"] == number

@pytest.mark.playhead
def test_missing():
    fetch(100)
"""
    project.write(test_it=text)
    two = ("-n", "2", "--dist", "load")
    made = project.pytest("--playhead=record", *two, plugins=("xdist.plugin",), BREAK_AT="100")
    assert made.counts == {"passed": 12, "failed": 1}
    assert len([line for line in made.section(" playhead ") if line.startswith("recorded recordings/test_it/")]) == 12
    assert "test_it.py::test_missing failed while it was recorded" in made.text
    assert len(project.live) == 13
    played = project.pytest(*two, plugins=("xdist.plugin",))
    assert played.counts == {"passed": 12, "failed": 1}
    assert "UnknownRunError: there is no recording of test_missing" in played.text
    assert project.live == []


def test_one_recording_serves_several_tests_that_name_it(project: Project) -> None:
    text = """
@pytest.mark.playhead(name="shared")
@pytest.mark.parametrize("way", ["first", "second"])
def test_it(way):
    assert fetch(1)["number"] == 1
"""
    project.write(test_it=text)
    assert project.record("-k", "first").counts["passed"] == 1
    assert [path.name for path in project.recordings] == ["shared.playhead.jsonl"]
    assert project.live
    assert project.pytest().counts == {"passed": 2}
    assert project.live == []


def test_clock_and_chance_come_from_the_recording(project: Project) -> None:
    text = """
import random, time, uuid, pathlib
from datetime import datetime

@pytest.mark.playhead
def test_it():
    seen = f"{time.time()} {random.random()} {uuid.uuid4()} {datetime.now()}"
    fetch(seen)
    path = pathlib.Path(__file__).with_name("seen.txt")
    assert not path.exists() or path.read_text() == seen
    path.write_text(seen)
"""
    project.write(test_it=text)
    assert project.record().counts == {"passed": 1}
    assert project.pytest().counts == {"passed": 1}


def test_normalisers_take_out_what_should_not_count(project: Project) -> None:
    text = """
import msgspec, os
def without_number(request):
    return msgspec.structs.replace(request, content={**request.content, "number": 0})

@pytest.mark.playhead(normalisers=[without_number])
def test_it():
    fetch(int(os.environ.get("CALL", "1")))
"""
    project.write(test_it=text)
    project.record()
    assert project.live
    assert project.pytest(CALL="2").counts == {"passed": 1}
    assert project.live == []


def test_normalisers_of_the_configuration_hold_for_every_test(project: Project) -> None:
    project.write(test_it="import os\ndef test_it(playhead):\n    fetch(int(os.environ.get('CALL', '1')))\n")
    project.record()
    assert project.pytest(CALL="2").counts == {"failed": 1}
    (project.folder / "normalisers.py").write_text(
        "import msgspec\n"
        "NORMALISERS = [lambda request: msgspec.structs.replace(request, content={**request.content, 'number': 0})]\n"
    )
    (project.folder / "playhead.toml").write_text('normalisers = ["normalisers.py"]\n')
    assert project.pytest(CALL="2").counts == {"passed": 1}
