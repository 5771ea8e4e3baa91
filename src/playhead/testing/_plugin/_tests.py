"""A test under playhead: what its fixture gives, and what both ways of being under it have in common."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest

from playhead._configuration import Settings, read_settings
from playhead.boundary import Lane, as_fallback, in_lane
from playhead.errors import PlayheadError
from playhead.player import ReplayReport
from playhead.stores import LocalStore, find_store
from playhead.testing._plugin._places import Place


class RecordedTest:
    """A test that is being recorded or replayed.

    ``mode`` says which; ``path`` is the file of its recording, which need not be there yet while it is recorded.
    """

    mode: Literal["record", "replay"]

    def __init__(self, item: pytest.Item, place: Place) -> None:
        self.path = place.path
        self._item = item
        self._place = place
        self._settings = read_settings(item.config.rootpath)
        self._store = LocalStore(store_of(self._settings, item.config.rootpath))
        self._error: BaseException | None = None
        self._failed = False
        self._passed = False
        self.told: list[str] = []

    @property
    def report(self) -> ReplayReport | None:
        """What the replay found so far; ``None`` while the test is recorded."""
        return None

    @property
    def failure(self) -> PlayheadError | None:
        """What playhead has against the test, whatever the test made of it."""
        return None

    def came_out(self, error: BaseException | None, *, passed: bool, failed: bool) -> None:
        """Take note of how a phase of the test came out."""
        self._error = self._error or error
        self._passed = passed
        self._failed = self._failed or failed

    def end_body(self, *, failed: bool) -> None:
        """The test's own body has ended; its fixtures go on."""

    def end(self) -> None:
        """The test and its fixtures have ended."""

    @property
    def record_command(self) -> str:
        """How to record this test."""
        return f"pytest {shlex.quote(self._item.nodeid)} --playhead=record"

    def _hold(self, lane: Lane) -> None:
        """Code of the test that runs in a context of its own (an event loop's, a thread's) belongs to it as well."""
        self._held = ExitStack()
        self._held.enter_context(as_fallback(lane))
        function = getattr(self._item, "obj", None)
        if inspect.iscoroutinefunction(function):
            self._held.callback(setattr, self._item, "obj", function)
            self._item.obj = self._inside(lane, function)  # type: ignore[attr-defined]

    def _inside(self, lane: Lane, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function`` for event loops that outlive a test: in the lane of this one, raising what they survive."""

        @functools.wraps(function)
        async def inside(*args: Any, **kwargs: Any) -> Any:
            with in_lane(lane):
                try:
                    return await function(*args, **kwargs)
                except BaseException as error:
                    ours = self.failure or error
                    if isinstance(error, Exception) or not isinstance(ours, PlayheadError):
                        raise
                    raise pytest.fail.Exception(str(ours)) from error

        return inside


def store_of(settings: Settings, root: Path) -> Path:
    """The folder of the store of the project at ``root``."""
    if settings.store is not None:
        return Path(settings.base, os.path.expanduser(settings.store))
    return find_store(root)
