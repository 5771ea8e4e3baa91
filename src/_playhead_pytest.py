"""The pytest plugin of playhead, as pytest loads it.

It stands outside the package so that a test session in which no test is recorded does not import playhead. What it
does is in ``playhead.testing._plugin``, imported at the first marked test.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playhead.testing._plugin import RecordedTest

_MARK = "playhead"
_HELP = (
    "playhead(match='strict', name=None, normalisers=(), store=None): replay the test from its recording, offline; "
    "with --playhead=record make the recording"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; they cost nothing until a test is marked."""
    group = parser.getgroup("playhead", "record and replay with playhead")
    group.addoption(
        "--playhead",
        choices=("replay", "record", "new"),
        default="replay",
        help="what to do with marked tests: replay them from their recordings (the default), record all of them, or "
        "record only those that have no recording yet",
    )
    group.addoption(
        "--playhead-store",
        metavar="DIR",
        help="folder of the recordings (default: the setting playhead_store, else `recordings` beside the test file)",
    )
    group.addoption("--playhead-unused", action="store_true", help="list recordings that no test uses; run no test")
    group.addoption(
        "--playhead-suite",
        metavar="DIR",
        action="append",
        default=[],
        help="play the recordings in this folder against the present code, one test each (setting: playhead_suite)",
    )
    parser.addini("playhead_suite", "folders of recordings to be played, one test each", type="args")
    parser.addini("playhead_store", "folder of the recordings, from the root of the project")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known; refuse what cannot be done together."""
    config.addinivalue_line("markers", _HELP)
    if config.option.playhead_unused:
        if getattr(config.option, "numprocesses", None):
            raise pytest.UsageError("--playhead-unused collects in one process: leave -n away")
        config.pluginmanager.register(_Unused(config), "playhead-unused")


def pytest_collection(session: pytest.Session) -> None:
    """Have the folders of recordings collected that are asked for."""
    config = session.config
    asked = [config.invocation_params.dir / folder for folder in config.option.playhead_suite]
    if not asked and config.args_source is not pytest.Config.ArgsSource.ARGS:  # not where some tests are named
        asked = [config.rootpath / folder for folder in config.getini("playhead_suite")]
    if asked:
        config.pluginmanager.register(_Suites(session, asked), "playhead-suites")


class _Suites:
    """Adds the recordings of folders to what is collected, whatever else is."""

    def __init__(self, session: pytest.Session, folders: list[Path]) -> None:
        self._session = session
        self._folders = folders

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        from playhead.testing._plugin import collect_suites

        items += collect_suites(self._session, self._folders)


def _is_recorded(item: pytest.Item) -> bool:
    return item.get_closest_marker(_MARK) is not None or _MARK in getattr(item, "fixturenames", ())


def _begun(item: pytest.Item) -> Any:
    """The plugin's work, where it has begun on this test; it has not where playhead itself cannot be imported."""
    return sys.modules.get("playhead.testing._plugin") if _is_recorded(item) else None


@pytest.fixture(autouse=True)
def _playhead_around(request: pytest.FixtureRequest) -> Generator[RecordedTest | None]:
    """Stands around a marked test and the fixtures of its own that come later."""
    if not _is_recorded(request.node):
        yield None
        return
    from playhead.testing._plugin import begin

    recorded = begin(request.node)
    yield recorded
    recorded.end()


@pytest.fixture
def playhead(_playhead_around: RecordedTest) -> RecordedTest:
    """The recording or the replay that this test is under: ``mode``, ``path``, ``report``."""
    return _playhead_around


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A replay is judged when the test's body has ended, so that what is missing fails the test itself."""
    result = yield
    plugin = _begun(item)
    if plugin is not None:
        plugin.end_body(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell the recording how the test came out, and the person what playhead has against it."""
    report = yield
    plugin = _begun(item)
    if plugin is not None:
        plugin.note_report(item, call, report)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A test whose recording cannot be played has failed: it is no error of the test session."""
    return ("failed", "F", "FAILED") if getattr(report, "playhead_failed", False) else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what was recorded, and what was kept of tests that failed while they were recorded."""
    told = [
        text
        for reports in list(terminalreporter.stats.values())
        for report in reports
        for text in getattr(report, "playhead_told", ())
    ]
    if told:
        terminalreporter.section("playhead")
        for text in told:
            terminalreporter.write_line(text)


class _Unused:
    """Lists recordings that no test uses, in place of running the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._items: list[pytest.Item] = []
        self._lines: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._items = list(items)  # before any of them is deselected

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        from playhead.testing._plugin import list_unused

        marked = [item for item in self._items if _is_recorded(item)]
        self._lines = list_unused(self._config, self._items, marked)
        session.testsfailed = len(self._lines)
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("recordings that no test uses")
        for line in self._lines or ["none"]:
            terminalreporter.write_line(line)
