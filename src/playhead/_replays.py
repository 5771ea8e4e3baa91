"""Loading a recording and replaying a program from it."""

from __future__ import annotations

import importlib
import inspect
import runpy
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from contextvars import Token
from pathlib import Path
from types import TracebackType
from typing import Any

from playhead._children import ReplayedChildren
from playhead._configuration import Settings, host_matcher, read_settings
from playhead._decorators import MAIN_AGAIN
from playhead._masking import make_masker
from playhead._normalisers import load_normalisers
from playhead._runs import INSTALLATION, installers
from playhead._stores import choose_store
from playhead.boundary import Lane, Session, current_lane, enter_lane, leave_lane
from playhead.errors import DivergenceError, NestedRunError, ReplayStoppedError, UsageError
from playhead.eventlog import Recording
from playhead.events import Entry, NoteAdded, RunStarted, decode
from playhead.player import (
    AttentiveSession,
    Halt,
    Matching,
    Normaliser,
    ReexecutingSession,
    ReplayReport,
    ReplaySession,
    Stops,
)
from playhead.recorder import read_packages


def load(run: str | Path, *, store: str | Path | None = None) -> Recording:
    """The recording of a run: by id, by a prefix that no other id has, or by path.

    Raises `UnknownRunError`, `AmbiguousRunError`, or one of the `FormatError` family.

    >>> import playhead
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     pass
    >>> playhead.load(run.id[:-2], store=str(tmp)).outcome
    'success'
    """
    settings = read_settings(store=str(store) if store is not None else None)
    return choose_store(settings).open(str(run))


class Replay:
    """A ``with`` block, plain or asynchronous, in which every call is answered from ``recording``.

    ``report`` says what was answered, what drifted, what was left. Leaving the block raises `DivergenceError`
    where the replay diverged, also when the program swallowed it.
    """

    def __init__(
        self,
        recording: Recording,
        session: ReplaySession,
        *,
        settings: Settings,
        children: ReplayedChildren,
        stops: Stops | None = None,
    ) -> None:
        self.recording = recording
        self._session = session
        self.stops = stops
        self._settings = settings
        self._children = children
        self._token: Token[Lane | None] | None = None
        self.lane = Lane(session)

    @property
    def report(self) -> ReplayReport:
        """The account so far; whole when the block has been left."""
        return self._session.report

    @property
    def failure(self) -> DivergenceError | None:
        """What the replay failed by so far."""
        failure = self._session.failure
        return failure if isinstance(failure, DivergenceError) else None

    @property
    def is_stopped(self) -> bool:
        """Whether it has come to where it was to stop."""
        return isinstance(self._session.failure, ReplayStoppedError)

    def await_entry(self) -> None:
        """The whole program is replayed: what it asks for outside the recorded block or call was not recorded."""
        self._session.await_entry()

    def __enter__(self) -> Replay:
        outer = current_lane()
        if outer is not None and not getattr(outer.session, "was_left", False):
            raise NestedRunError(
                "a replay cannot begin inside a run or another replay", next="playhead help nested-run"
            )
        INSTALLATION.enter(installers(self._settings))
        self._zone = _apply_zone(self.recording.started, self.report)
        self._guard = _guard(self._session, self._settings)
        self._token = enter_lane(self.lane)
        self._thread = threading.get_ident()
        self._session.activity.begin(self._thread)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        assert self._token is not None
        leave_lane(self._token)
        self._guard()
        self._zone()
        _compare_packages(self.recording, self.report)
        stopped = self.is_stopped  # then whatever leaves the block came of that
        try:
            if error is None:
                self._session.await_others()
            self._session.end(raising=error is None or self.failure not in (None, error))
        finally:
            if self.stops is not None and self.failure is None and not stopped:
                self.report.warnings += [_why_missed(self.recording, step) for step in self.stops.missed]
            # A thread that goes on is refused what it asks for, not let out.
            self._session.activity.when_idle(INSTALLATION.leave)
            self._session.activity.end(self._thread)
            self._children.close()
        return stopped and not isinstance(error, KeyboardInterrupt | SystemExit)

    async def __aenter__(self) -> Replay:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return self.__exit__(kind, error, trace)


def replay(
    recording: Recording | str | Path,
    *,
    match: Matching = "strict",
    normalisers: Sequence[Normaliser] = (),
    store: str | Path | None = None,
    order: Sequence[int] | None = None,
    breaks: Collection[int] = (),
    until: int | None = None,
    reexecute: bool = False,
) -> Replay:
    """Answer everything the block asks for from ``recording``; nothing goes live.

    ``match`` is ``"strict"`` (requests must be equal), ``"loose"`` (the same questions in other words), a
    `Matcher`, or a mapping from boundary (``model``, ``tool``, ``http``, ``wrap``) to one of these.
    ``normalisers`` take out of requests what should not count; they come after those of the configuration.
    ``order`` has the answers come in another order than recorded, one of `playhead.causality.find_orders`.
    ``breaks`` are steps at which to stop in the debugger, in the agent's own frame and before they are answered;
    there `playhead.here` knows more. At the step ``until`` the replay ends, and with it the block. With ``reexecute``
    another process by which the recorded agent worked, such as Antigravity's, runs again, and its models answer as
    recorded. Raises `UsageError` where there is no such step, or no such process.

    >>> import playhead
    >>> def program():
    ...     return playhead.now()
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     then = program()
    >>> with playhead.replay(run.id, store=str(tmp)) as replay:
    ...     assert program() == then
    >>> replay.report.identical
    True
    """
    settings = read_settings(store=str(store) if store is not None else None)
    found = recording if isinstance(recording, Recording) else choose_store(settings).open(str(recording))
    return open_replay(
        found,
        settings,
        match=match,
        normalisers=normalisers,
        order=order,
        breaks=breaks,
        until=until,
        reexecute=reexecute,
    )


def open_replay(
    recording: Recording,
    settings: Settings,
    *,
    match: Matching = "strict",
    normalisers: Sequence[Normaliser] = (),
    files: tuple[str, ...] = (),
    folder: str = "",
    cut: Callable[[], None] | None = None,
    order: Sequence[int] | None = None,
    breaks: Collection[int] = (),
    until: int | None = None,
    halt: Halt | None = None,
    attentive: bool = False,
    reexecute: bool = False,
) -> Replay:
    """A replay of ``recording``, not begun. ``files`` hold ``normalisers``, for child processes to have them as well.

    ``folder`` is where their reports are left; ``cut`` ends the process where the recorded one was killed. ``halt`` is
    told where it stops, instead of a debugger. An ``attentive`` session keeps all that was asked.
    """
    if reexecute and (order is not None or breaks or until is not None):
        raise UsageError(
            "what runs again in real time has no order to impose and no step to stop at",
            next=f"playhead replay {recording.id} --reexecute",
        )
    place = choose_store(settings)
    masker = make_masker(settings, place.mask_key())
    children = ReplayedChildren(recording, settings, place, match=match, normalisers=files, folder=folder)
    stops = _stops(recording, settings, breaks, until, halt)
    kind = ReexecutingSession if reexecute else AttentiveSession if attentive else ReplaySession
    session = kind(
        recording,
        masker=masker,
        match=match,
        normalisers=(*load_normalisers(settings), *normalisers),
        ignored_hosts=host_matcher(settings.ignore_hosts),
        order=order,
        errands=children,
        cut=cut,
        stops=stops,
    )
    return Replay(recording, session, settings=settings, children=children, stops=stops)


def _stops(
    recording: Recording, settings: Settings, breaks: Collection[int], until: int | None, halt: Halt | None
) -> Stops | None:
    if not breaks and until is None and halt is None:
        return None
    if halt is None:
        from playhead._stopping import halt_in_debugger

        halt = halt_in_debugger

    def forbid(session: Session) -> Callable[[], None]:
        from playhead.integrations.network import forbid

        return forbid(session, allow=settings.allow_hosts)

    return Stops(recording, halt=halt, forbid=forbid, breaks=breaks, until=until)


def invoke(
    recording: Recording | str | Path,
    *,
    match: Matching = "strict",
    normalisers: Sequence[Normaliser] = (),
    store: str | Path | None = None,
) -> Any:
    """Call the recorded entry point again, with its recorded arguments, under replay; gives what it returns.

    A coroutine is run to its end. Raises `UsageError` where the recording was not made by an ``@agent``.
    """
    playing = replay(recording, match=match, normalisers=normalisers, store=store)
    function, args, kwargs = find_entry(playing.recording)
    with playing:
        result = function(*args, **kwargs)
        if inspect.isawaitable(result):
            import asyncio

            result = asyncio.run(_await(result))
    return result


def find_entry(
    recording: Recording, moved: Entry | None = None, found: Any = None
) -> tuple[Any, list[Any], dict[str, Any]]:
    """The entry function of a recording and the arguments it was called with.

    ``moved`` says where the file of the function is now, where that is another place than recorded; ``found`` is the
    function, where it is known. Raises `UsageError` where there is none or it is not found.
    """
    entry = moved or (recording.started.entry if recording.started is not None else None)
    if entry is None or entry.form != "call" or entry.call is None:
        raise UsageError(
            f"{recording.id} was not recorded at an @playhead.agent, so there is nothing to call again",
            next=f"playhead replay {recording.id}" if entry and entry.is_command else "with playhead.replay(…):",
        )
    function = found if found is not None else find_function(entry, recording.id)
    arguments = entry.arguments
    return function, decode(arguments["args"]), {key: decode(value) for key, value in arguments["kwargs"].items()}


def find_function(entry: Entry, run: str) -> Any:
    """The function that was entered; its module is imported. Raises `UsageError` where it is not found."""
    module_name, _, path = str(entry.call).partition(":")
    try:
        function: Any = _find_module(module_name, entry.file)
        for name in path.split("."):
            function = function[name] if isinstance(function, dict) else getattr(function, name)
    except (ImportError, OSError, AttributeError, KeyError) as error:
        raise UsageError(
            f"the entry point {entry.call} of {run} was not found: {error}",
            next=f"cd {entry.folder} && playhead replay {run}",
        ) from error
    return function


def _find_module(name: str, file: str | None) -> Any:
    if name == "__main__" and file is not None:
        main = sys.modules.get("__main__")
        if getattr(main, "__file__", None) == file:
            return main
        return runpy.run_path(file, run_name=MAIN_AGAIN)
    if name not in sys.modules and "" not in sys.path:
        sys.path.insert(0, "")
    return importlib.import_module(name)


async def _await(result: Any) -> Any:
    return await result


def _apply_zone(started: RunStarted | None, report: ReplayReport) -> Any:
    from playhead.integrations import apply_zone

    zone = started.environment.timezone if started is not None else None
    return apply_zone(zone) if zone else lambda: None


def _why_missed(recording: Recording, step: int) -> str:
    """What a report says of a step at which the replay was to stop and did not."""
    if recording.is_behind(step):
        return f"step {step}, at which to stop, was asked by another process, and a replay does not ask for it again"
    return f"step {step}, at which to stop, was not reached"


def _compare_packages(recording: Recording, report: ReplayReport) -> None:
    """Warn of packages that were imported in another version than when it was recorded."""
    recorded = dict(recording.started.environment.packages) if recording.started is not None else {}
    for event in recording.of_kind("note.added"):
        body = event.body
        if isinstance(body, NoteAdded) and body.name == "packages" and isinstance(body.details, dict):
            recorded |= body.details
    now = read_packages()
    for name, version in sorted(recorded.items()):
        if now.get(name, version) != version:
            report.warnings.append(f"{name} {now[name]} now, {version} when recorded")


def _guard(session: ReplaySession, settings: Settings) -> Any:
    from playhead.integrations.network import forbid

    return forbid(session, allow=settings.allow_hosts)
