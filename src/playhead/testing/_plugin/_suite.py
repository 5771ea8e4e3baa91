"""A suite as tests: one item for each recording of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from playhead._configuration import read_settings
from playhead._program import SuitePlayer
from playhead.errors import PlayheadError
from playhead.stores import LocalStore
from playhead.suite import Fixture, Result, problem_text, read_suite
from playhead.testing._plugin._tests import store_of

_PLAYER = pytest.StashKey[SuitePlayer]()


class SuiteFolder(pytest.Collector):
    """The folder of a suite."""

    def collect(self) -> Iterator[RecordingItem]:
        """A test for each recording. Raises `pytest.Collector.CollectError` where there is nothing to play."""
        try:
            fixtures = read_suite(self.path)
        except PlayheadError as error:
            raise self.CollectError(str(error)) from error
        for fixture in fixtures:
            yield RecordingItem.from_parent(self, name=fixture.name, fixture=fixture)


class SuiteFailedError(Exception):
    """A recording that does not pass."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.name)
        self.result = result


class RecordingItem(pytest.Item):
    """A recording that is played against the present code."""

    def __init__(self, *, fixture: Fixture, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._fixture = fixture
        self.path = fixture.path

    def runtest(self) -> None:
        """Play it. Raises `SuiteFailedError` where something has changed, or where it could not be played."""
        stash = self.config.stash
        if _PLAYER not in stash:
            settings = read_settings(self.config.rootpath)
            player = stash[_PLAYER] = SuitePlayer(LocalStore(store_of(settings, self.config.rootpath)))
            self.config.add_cleanup(player.close)
        result = stash[_PLAYER].play(self._fixture)
        if not result.ok:
            raise SuiteFailedError(result)
        if result.drift:
            self.add_report_section("call", "drift", "\n".join(result.drift))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What has changed, without a traceback of ours."""
        if not isinstance(excinfo.value, SuiteFailedError):
            return super().repr_failure(excinfo, style)
        result = excinfo.value.result
        if result.output:
            self.add_report_section("call", "output", result.output)
        return "\n".join(problem_text(problem, result) for problem in result.problems)

    def reportinfo(self) -> tuple[Path, None, str]:
        """How it is named."""
        return self.path, None, f"recording {self.name}"


def collect_suites(session: pytest.Session, folders: list[Path]) -> list[pytest.Item]:
    """The tests of these folders."""
    items: list[pytest.Item] = []
    for folder in folders:
        node = SuiteFolder.from_parent(session, path=folder, name=folder.name)
        try:
            items += node.collect()
        except pytest.Collector.CollectError as error:
            raise pytest.UsageError(str(error)) from error
    return items
