"""Sessions that hold reads in memory, and agents written to a file, for the tests of clock, chance and lanes."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from playhead.boundary import Activity, Call, Installer, Lane, Outcome, Patches, Ticket, in_lane

Key = tuple[str, str, str]


def key_of(lane: str, fn: str, site: str) -> Key:
    """Where a read belongs: lane, function, and the site without the number of its line."""
    place, _, digest = site.partition("#")
    return lane, fn, f"{place.rpartition(':')[0]}#{digest}"


class RecordingReads:
    """Does everything live and keeps what came: ``reads`` as ``(lane, kind, fn, site, value)``."""

    def __init__(self) -> None:
        self.reads: list[tuple[str, str, str, str, Any]] = []
        self.calls: list[tuple[str, str]] = []
        self.notices: list[tuple[str, Any]] = []
        self._lock = threading.Lock()
        self.activity = Activity()

    def tell_time(self, now: float) -> float:
        return now

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        with self._lock:
            self.calls.append((lane.name, call.name))
        return Ticket(lane, call)

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        pass

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Any) -> Any:
        value = live()
        with self._lock:
            self.reads.append((lane.name, kind, fn, site, value))
        return value

    def follows(self, lane: Lane, after: Lane) -> None:
        pass

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        self.notices.append((name, details))

    @property
    def fns(self) -> list[str]:
        return [fn for _, _, fn, _, _ in self.reads]

    @property
    def lanes(self) -> set[str]:
        return {lane for lane, *_ in self.reads}


class ReplayingReads(RecordingReads):
    """Answers reads from what another session kept; ``new`` are those it could not."""

    def __init__(self, recorded: RecordingReads) -> None:
        super().__init__()
        self.new: list[tuple[str, str]] = []
        self._kept: defaultdict[Key, deque[Any]] = defaultdict(deque)
        for lane, _, fn, site, value in recorded.reads:
            self._kept[key_of(lane, fn, site)].append(value)

    @property
    def unplayed(self) -> int:
        return sum(map(len, self._kept.values()))

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Any) -> Any:
        with self._lock:
            waiting = self._kept.get(key_of(lane.name, fn, site))
            if waiting:
                return waiting.popleft()
            self.new.append((fn, site))
        return live()


@contextmanager
def installed(*installers: Installer) -> Iterator[None]:
    """Patches in force for a block."""
    patches = Patches()
    try:
        for install in installers:
            install(patches)
        yield
    finally:
        patches.undo()


@contextmanager
def run(session: Any, *installers: Installer) -> Iterator[Lane]:
    """A run of ``session``: patches in force, and its main lane the current one."""
    lane = Lane(session)
    with installed(*installers), in_lane(lane):
        yield lane


def load_agent(folder: Path, source: str, *, name: str = "agent") -> ModuleType:
    """Import an agent module with this source from a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(source), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
