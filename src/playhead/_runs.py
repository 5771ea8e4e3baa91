"""Recording a run: from the first crossing to the seal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextvars import Token
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec

from playhead import _system
from playhead._children import RecordedChildren
from playhead._configuration import Settings, host_matcher, read_settings
from playhead._ids import new_id
from playhead._masking import make_masker
from playhead._stores import choose_store
from playhead.boundary import (
    Installation,
    Installer,
    Lane,
    Patches,
    current_lane,
    enter_lane,
    in_lane,
    is_cancellation,
    leave_lane,
)
from playhead.eventlog import LogWriter, counted
from playhead.events import Entry, Parent, RunStarted, Starter, freeze, snapshot, snapshot_error
from playhead.events import encode as encode_value
from playhead.integrations import INSTALLERS, Scope, current_scope, find_captured, read_zone, set_scope
from playhead.masking import Masker
from playhead.recorder import (
    CodeReader,
    RecordSession,
    Scribe,
    Writer,
    read_environment,
    read_packages,
    tell_incomplete,
)

KEY_RULE = 1
"""Version of the rule by which requests are compared; kept in each recording."""

INSTALLATION = Installation()
"""The patches of this process, shared by all its runs and replays."""

_CODE_WITHIN_S = 0.01
"""The first event waits no longer for the code's version: whatever comes after it would wait too."""

_clock = _system.SystemClock


def installers(settings: Settings) -> tuple[Installer, ...]:
    """What to patch for a run or a replay: everything, with the scope of ``settings`` in force."""
    if not settings.own_code and not settings.foreign_code:
        return INSTALLERS

    def scope(patches: Patches) -> None:
        before = current_scope()
        set_scope(Scope(include=settings.own_code, exclude=settings.foreign_code))
        patches.add(lambda: set_scope(before))

    return (scope, *INSTALLERS)


class Run:
    """A run that is going on, or has ended. Made by `record` and ``@agent``.

    ``id`` finds its recording later; ``path`` is where it lies once it is sealed. ``incomplete`` says what is
    known to be missing from the recording: nothing, unless the disk failed or a value could not be kept.
    """

    def __init__(self, id: str, kind: str) -> None:
        self.id = id
        self.kind = kind
        self.path: Path | None = None
        self.incomplete: tuple[str, ...] = ()
        self.outcome: Literal["success", "failure", "aborted"] | None = None
        self._result: Any = None
        self._reason: str | None = None
        self._error: Any = None

    def succeed(self, result: Any = None) -> None:
        """The run reached its goal; ``result`` is kept."""
        self.outcome = "success"
        self._result = freeze(result)

    def fail(self, reason: str | BaseException) -> None:
        """The run did not reach its goal, though it may end without an exception."""
        self.outcome = "failure"
        self._take_error(reason)

    def abort(self, signal: str) -> None:
        """The run is ended from outside, by the signal of this name."""
        self.outcome, self._reason = "aborted", signal

    def _take_error(self, reason: str | BaseException) -> None:
        if isinstance(reason, BaseException):
            self._error = encode_value(snapshot_error(reason))
            self._reason = type(reason).__name__
        else:
            self._reason = reason

    def _raised(self, error: BaseException) -> None:
        """The program left the run by ``error``; an outcome that it stated itself stays."""
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        if self.outcome is None or self.outcome == "success":
            aborted = isinstance(error, KeyboardInterrupt | GeneratorExit) or is_cancellation(error)
            self.outcome = "aborted" if aborted else "failure"
            self._take_error(error)

    def _closing(self) -> dict[str, Any]:
        body = {"outcome": self.outcome or "success", "result": self._result, "reason": self._reason}
        return {key: value for key, value in {**body, "error": self._error}.items() if value is not None}

    def __repr__(self) -> str:
        return f"<Run {self.id}>"


class Tape:
    """The machinery behind one recorded run: session, writer, log."""

    def __init__(
        self,
        run: Run,
        entry: Entry,
        settings: Settings,
        *,
        task: str | None,
        policy: Any,
        tools: Sequence[Any],
        parent: Parent | None = None,
        starter: Starter | None = None,
    ) -> None:
        store = choose_store(settings)
        masker = make_masker(settings, store.mask_key())
        task = masker.text(task) if task is not None else None
        begun_by = starter.run if starter is not None else None
        about: Any = {"task": task, "mask_key": masker.key_id, "starter": begun_by}
        self._log = store.create(run.id, masker.text(run.kind), durability=settings.durability, **about)
        mono_ns, wall_ns = _clock.mono_ns(), _clock.wall_ns()
        self.writer = Writer(self._log, durability=settings.durability)
        self.scribe = Scribe(self._log, masker, wall_minus_mono_ns=wall_ns - mono_ns)
        self._masker = masker
        self._children = RecordedChildren(run.id, settings, store)
        ignored, start_child = host_matcher(settings.ignore_hosts), self._children.start
        self.session = RecordSession(self.scribe, self.writer, ignored_hosts=ignored, children=start_child)
        self.main = Lane(self.session)
        self._beside = self.main.inside()
        """For notes of the recorder's own, which nothing that the program does follows from."""
        self._run = run
        self._packages: dict[str, str] = {}
        self._code: CodeReader | None = None
        rules = {"key": KEY_RULE, "mask": masker.version, "mask_key": masker.key_id}
        kept_policy, kept_tools = snapshot(policy), snapshot(list(tools))

        folder = os.getcwd()

        def start() -> None:
            self._code = CodeReader(folder, self._code_arrived)
            with in_lane(self.main.inside()):  # what it asks is no doing of the program's
                environment = read_environment(read_zone(), self._code.take(within_s=_CODE_WITHIN_S) or {})
            self._packages = environment.packages
            body = RunStarted(
                id=run.id,
                kind=run.kind,
                task=task,
                entry=entry,
                environment=environment,
                policy=encode_value(kept_policy),
                tools=encode_value(kept_tools),
                rules=rules,
                parent=parent,
                starter=starter,
            )
            self.scribe.event(mono_ns, self.main, "run.started", msgspec.to_builtins(body))
            for each in find_captured():
                self.session.unseen[f"{each.what} captured as {each.module}:{each.where}"] = 1

        self.writer.put((start,))

    def continue_from(self, write: Callable[[LogWriter, Masker], Iterable[str]]) -> None:
        """Have ``write`` add what was recorded before, and give the lanes that this has opened."""
        self.writer.put((lambda: self.scribe.resume(write(self._log, self._masker)),))

    def finish(self) -> None:
        """Write the end, wait until all is on disk, and seal; tell what is missing.

        Where the disk has failed the recording stays as it was then: its run shows as aborted. In a forked child
        nothing is done.
        """
        if self.writer.is_orphan:
            return
        self.session.end()
        self._leave_children()
        now = _clock.mono_ns()
        body = self._run._closing()

        def end() -> None:
            self._note_code()
            self._note_packages(now)
            self.scribe.event(now, self.main, "run.finished", body | self.gaps())
            self._run.path = self._log.seal()

        self.writer.close(end)
        self._run.incomplete = tuple(self.gaps().get("incomplete", ()))
        if self._run.incomplete:
            tell_incomplete(self._run.id, self._run.incomplete)

    def leave(self) -> None:
        """Have all on disk, for another process to write the end and seal."""
        self.session.end()
        self._leave_children()
        self.writer.put((self._note_code,))
        self.writer.put((self._note_packages, _clock.mono_ns()))
        self.writer.drain()

    def discard(self) -> bool:
        """Take the recording away, if nothing has crossed in it yet; whether that is so."""
        self.writer.drain()
        if self._log.count > 1:
            return False
        self.session.end()
        self.writer.orphan()
        self._log.path.unlink(missing_ok=True)
        return True

    def gaps(self) -> dict[str, Any]:
        """What is known not to be in the recording, as the end of a run says it."""
        incomplete = [f"{count} x {reason}" for reason, count in self.session.missed.items()]
        if self.writer.failure is not None:
            incomplete.append(self.writer.failure)
        if self.writer.lost:
            incomplete.append(f"{counted(self.writer.lost, 'event')} that could not be written")
        found = {"incomplete": incomplete, "unseen": self.session.unseen}
        return {key: value for key, value in found.items() if value}

    def _leave_children(self) -> None:
        """Count the child processes that were not seen."""
        if self.session.started:
            unseen = self._children.close(self.session.started, self._masker)
            if unseen:
                self.session.unseen["child process"] = self.session.unseen.get("child process", 0) + unseen

    def _code_arrived(self) -> None:
        if not self.session.is_over:
            self.writer.put((self._note_code,))

    def _note_code(self) -> None:
        """Keep the code's version, where it became known only after the run had begun."""
        code = self._code.take() if self._code is not None else None
        if code is not None:
            self.scribe.event(_clock.mono_ns(), self._beside, "note.added", {"name": "code", "details": code})

    def _note_packages(self, now: int) -> None:
        """Keep the versions of what was imported since the run began."""
        late = {name: version for name, version in read_packages().items() if name not in self._packages}
        if late:
            self.scribe.event(now, self._beside, "note.added", {"name": "packages", "details": late})


class Recorder:
    """A ``with`` block, plain or asynchronous, whose crossings are recorded as one run."""

    def __init__(self, kind: str, entry: Entry, settings: Settings | None, id: str | None, **about: Any) -> None:
        self._kind = kind
        self._id = id
        self._entry = entry
        self._settings = settings
        self._about = about
        self._tape: Tape | None = None
        self._token: Token[Lane | None] | None = None
        self._run: Run | None = None

    def __enter__(self) -> Run:
        outer = current_lane()
        if outer is not None and not outer.is_over:
            return self._join(outer)
        run = self._run = Run(self._id or new_id(self._kind), self._kind)
        settings = self._settings or read_settings()
        INSTALLATION.enter(installers(settings))
        try:
            self._tape = Tape(run, self._entry, settings, **self._about)
        except BaseException:
            INSTALLATION.leave()
            raise
        self._token = enter_lane(self._tape.main)
        return run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._run is not None
        assert self._token is not None
        leave_lane(self._token)
        if error is not None:
            self._run._raised(error)
        if self._tape is None:
            self._note_inner()
            if self._claims:
                self._lane.session.leave_entry()
            return
        try:
            self._run.outcome = self._run.outcome or "success"
            self._tape.finish()
        finally:
            INSTALLATION.leave()

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _join(self, outer: Lane) -> Run:
        """A run inside a run, or inside a replay, is a lane of it."""
        claimed = None if outer.opaque else outer.session.claim_entry(self._kind, self._entry.call, self._about["task"])
        self._claims = claimed is not None
        self._lane = outer.child(self._kind) if claimed is None else outer.root
        self._run = Run(claimed or self._lane.name, self._kind)
        self._token = enter_lane(self._lane)
        return self._run

    def _note_inner(self) -> None:
        assert self._run is not None
        if not self._lane.opaque:
            body = {"name": "inner run", "details": {"lane": self._lane.name, **self._run._closing()}}
            self._lane.session.note(self._lane, "note.added", body)


def record(
    *,
    kind: str = "run",
    task: str | None = None,
    store: str | Path | None = None,
    id: str | None = None,
    policy: Any = None,
    tools: Sequence[Any] = (),
    durability: Literal["group", "every"] | None = None,
    secrets: Sequence[str] | None = None,
    ignore_hosts: Sequence[str] | None = None,
) -> Recorder:
    """Record all that the block observes from outside its own code: ``with`` or ``async with``.

    ``kind`` groups runs and begins their ids; ``task`` is your own id of what was to be done. ``store`` is a
    folder (default: `.playhead` beside the project). ``durability="every"`` has each event on disk before the
    program goes on. ``secrets`` are values to mask wherever they appear. Traffic with ``ignore_hosts`` lies
    outside the run. An exception that leaves the block fails the run.

    >>> import playhead
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     moment = playhead.now()
    ...     run.succeed("done")
    >>> run.outcome
    'success'
    """
    settings = read_settings(
        store=str(store) if store is not None else None,
        durability=durability,
        secrets=secrets,
        ignore_hosts=ignore_hosts,
    )
    entry = Entry(form="block", argv=list(sys.argv), folder=os.getcwd())
    return Recorder(kind, entry, settings, id, task=task, policy=policy, tools=tools)
