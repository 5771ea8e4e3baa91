"""Forking: a replay up to a step that then goes live, and is recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from playhead import _system
from playhead._children import ReplayedChildren
from playhead._configuration import Settings, host_matcher, read_settings
from playhead._ids import new_id
from playhead._masking import make_masker
from playhead._normalisers import load_normalisers
from playhead._replays import Replay
from playhead._runs import Run, Tape
from playhead._stores import choose_store
from playhead.boundary import is_cancellation
from playhead.errors import CorruptRecordingError, DivergenceError, UsageError
from playhead.eventlog import Recording, cut_recording, printable
from playhead.events import ModelRequested, Parent, decode
from playhead.player import Matching, Normaliser, PrefixSession, RecordedAnswers, ReexecutedAnswers

if TYPE_CHECKING:
    from playhead.editing import ForkSession
    from playhead.recorder import RecordSession

Boundary = Literal["model", "tool", "http", "wrap"]


class Fork(Replay):
    """A ``with`` block, plain or asynchronous: answered from ``recording`` up to a step, then live, and recorded.

    ``id`` is that of the new run; ``made`` is its recording when the block has been left. ``succeed`` and ``fail`` say
    how it went, as of a `Run`.
    """

    _tape: Tape | None = None

    def __init__(self, recording: Recording, session: ForkSession, run: Run, **how: Any) -> None:
        super().__init__(recording, session, **how)  # type: ignore[arg-type]
        self._fork = session
        self.run = run
        self.id = run.id
        self.succeed = run.succeed
        self.fail = run.fail

    @property
    def made(self) -> Recording | None:
        """The new recording; ``None`` where the fork did not come to its point."""
        from playhead.eventlog import open_recording

        return open_recording(self.run.path) if self.run.path is not None else None

    @property
    def answered_live(self) -> int:
        """How many calls went live."""
        return self._fork.answered_live

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is not None:
            aborted = isinstance(error, KeyboardInterrupt | GeneratorExit) or is_cancellation(error)
            if aborted:
                self.run.abort(type(error).__name__)
            elif self.run.outcome in (None, "success"):
                self.run.fail(error)
        try:
            return super().__exit__(kind, error, trace)
        except DivergenceError as divergence:
            self.run.fail(divergence)
            raise
        finally:
            if self._tape is not None:
                self.run.outcome = self.run.outcome or "success"
                self._tape.finish()


def fork(
    recording: Recording | str | Path,
    *,
    at: int,
    live: Sequence[Boundary] | None = None,
    recorded: Sequence[Boundary] = (),
    match: Matching = "strict",
    normalisers: Sequence[Normaliser] = (),
    cross_version: bool = False,
    allow_side_effects: Sequence[str] = (),
    reexecute: bool = False,
    store: str | Path | None = None,
    id: str | None = None,
) -> Fork:
    """Answer the block from ``recording`` up to and with step ``at``, then let it go live, into a new recording.

    Of models, tools, plain HTTP and what was wrapped, those go live that are in ``live``, or all that are not in
    ``recorded``; the others are answered from the recording by what is asked. Tools with side effects do not go live
    unless they are in ``allow_side_effects``, nor do models that the recording did not ask, unless ``cross_version``.
    With ``reexecute`` another process by which the agent worked, such as Antigravity's, runs again from the beginning.

    >>> import playhead
    >>> @playhead.tool
    ... def look_up(item: str) -> int:
    ...     return len(item)
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     look_up("tea") + look_up("salt")
    7
    >>> with playhead.fork(run.id, at=1, store=str(tmp)) as fork:
    ...     look_up("tea") + look_up("sugar")
    8
    >>> fork.answered_live
    1
    """
    settings = read_settings(store=str(store) if store is not None else None)
    found = recording if isinstance(recording, Recording) else choose_store(settings).open(str(recording))
    return open_fork(
        found,
        settings,
        at=at,
        live=choose_live(live, recorded),
        match=match,
        normalisers=normalisers,
        cross_version=cross_version,
        allowed=allow_side_effects,
        reexecute=reexecute,
        id=id,
    )


def choose_live(live: Sequence[str] | None, recorded: Sequence[str]) -> tuple[str, ...]:
    """The boundaries that go live. Raises `UsageError` for what is none, or for both at once."""
    from playhead.editing import LIVE

    for name in (*(live or ()), *recorded):
        if name not in LIVE:
            raise UsageError(f"{name!r} is no boundary: {', '.join(LIVE)} are", next="playhead fork --help")
    if live is not None and recorded:
        raise UsageError("either what goes live is named, or what is recorded", next="playhead fork --help")
    return tuple(live) if live is not None else tuple(name for name in LIVE if name not in recorded)


def open_fork(
    recording: Recording,
    settings: Settings,
    *,
    at: int,
    live: Sequence[str],
    match: Matching = "strict",
    normalisers: Sequence[Normaliser] = (),
    files: tuple[str, ...] = (),
    folder: str = "",
    cross_version: bool = False,
    allowed: Sequence[str] = (),
    ask: Callable[[str], bool] | None = None,
    reexecute: bool = False,
    id: str | None = None,
) -> Fork:
    """A fork of ``recording`` after step ``at``, not begun. See `playhead._replays.open_replay` for the rest."""
    from playhead.editing import ForkRules, ForkSession, copy_prefix, find_point

    if recording.started is None:
        name = printable(recording.id)
        raise CorruptRecordingError(f"{name} does not say how its run began", next=f"playhead verify {name}")
    point = find_point(recording, at)
    last = 0 if reexecute else point
    place = choose_store(settings)
    masker = make_masker(settings, place.mask_key())
    children = ReplayedChildren(recording, settings, place, match=match, normalisers=files, folder=folder)
    own = (*load_normalisers(settings), *normalisers)
    replay = PrefixSession(
        cut_recording(recording, last),
        masker=masker,
        match=match,
        normalisers=own,
        ignored_hosts=host_matcher(settings.ignore_hosts),
        errands=children,
    )
    run = Run(id or new_id(recording.kind), recording.kind)

    def go_live() -> RecordSession:
        tape = forking._tape = _make_tape(run, recording, settings, at)
        now_ns = _system.SystemClock.mono_ns()
        tape.continue_from(
            lambda log, masker: copy_prefix(recording, last, log, masker, now_ns=now_ns, asked=replay.asked)
        )
        return tape.session

    known = _models(recording)
    rules = ForkRules(
        run=recording.id, at=at, live=live, allowed=allowed, cross_version=cross_version, ask=ask, models=known
    )
    answers = RecordedAnswers(recording, masker=masker, normalisers=own, after=last)
    before = ReexecutedAnswers(recording, point, masker=masker, normalisers=own) if reexecute else None
    session = ForkSession(replay, go_live=go_live, rules=rules, recorded=answers, before=before)
    forking = Fork(recording, session, run, settings=settings, children=children)
    return forking


def _make_tape(run: Run, recording: Recording, settings: Settings, at: int) -> Tape:
    """What records the fork; its beginning names the parent and the point."""
    started = recording.started
    assert started is not None
    return Tape(
        run,
        started.entry,
        settings,
        task=recording.task,
        policy=decode(started.policy, missing="opaque"),
        tools=decode(started.tools, missing="opaque"),
        parent=Parent(run=recording.id, head=recording.head, at_step=at),
    )


def _models(recording: Recording) -> dict[str, set[str | None]]:
    """The models that were asked, by provider."""
    found: dict[str, set[str | None]] = {}
    for event in recording.of_kind("model.requested"):
        if isinstance(event.body, ModelRequested):
            found.setdefault(event.body.provider, set()).add(event.body.model)
    return found


def ask_on_terminal(name: str) -> bool:
    """Ask the person at the terminal whether a tool with side effects may go live; no where there is no terminal."""
    try:
        with open("/dev/tty", "r+", encoding="utf-8") as terminal:
            terminal.write(f"playhead: the tool {name} has side effects; call it live? [y/N] ")
            terminal.flush()
            return terminal.readline().strip().lower() in ("y", "yes")
    except OSError:
        return False
