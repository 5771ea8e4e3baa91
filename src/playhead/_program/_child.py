"""In a child process of a run: it is recorded, or replayed, as part of that run, or kept off the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from playhead import _children
from playhead._configuration import Settings
from playhead._program._ends import Ends, uncaught
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order, decode_order, variables
from playhead._runs import INSTALLATION, Run, Tape, installers
from playhead._stores import choose_store
from playhead.boundary import Lane, Session, as_fallback, enter_lane, forget_lanes, forget_watches, in_lane
from playhead.errors import ConnectionRefusedInReplayError, PlayheadError, RecordingExistsError
from playhead.events import Entry

if TYPE_CHECKING:
    from playhead._replays import Replay


def begin_child(text: str) -> None:
    """Carry out the order of the run that started this process; the program is left alone where it cannot be recorded.

    One that is to be replayed and cannot be is ended.
    """
    order = decode_order(text)
    mailbox = Mailbox(order.mailbox) if order.mailbox else None
    try:
        if order.mode == "record":
            _record(order)
        elif mailbox is not None and mailbox.claim():
            _play(order, mailbox)
        else:
            guard(order)
    except Exception as error:
        if mailbox is not None:
            mailbox.fail(error.message if isinstance(error, PlayheadError) else f"{type(error).__name__}: {error}")
        if order.mode == "replay":
            os._exit(PlayheadError.exit_code)


def begin_in_fork(text: str) -> None:
    """The same in a process that was forked amid a run or a replay."""
    forget_lanes()
    forget_watches()
    begin_child(text)


class Task:
    """A function that is sent to a worker of a pool, with the order that its calls there are to carry out."""

    def __init__(self, order: str, function: Callable[..., Any]) -> None:
        self._order = order
        self._function = function
        self._maker = os.getpid()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if os.getpid() == self._maker:  # a pool that is none of processes
            return self._function(*args, **kwargs)
        with _carrying_out(decode_order(self._order)):
            return self._function(*args, **kwargs)


_is_worker = False


def _become_worker(settings: Settings) -> None:
    """This process does tasks: what was patched stays so between them."""
    global _is_worker
    if not _is_worker:
        _is_worker = True
        forget_lanes()
        forget_watches()
        INSTALLATION.enter(installers(settings))


@contextmanager
def _carrying_out(order: Order) -> Iterator[None]:
    settings = _settings(order)
    _become_worker(settings)
    if order.mode == "record":
        with _recorded(order, settings):
            yield
    elif order.mode == "replay":
        mailbox = Mailbox(order.mailbox)
        mailbox.claim()
        playing = _open(order, settings, mailbox, None)
        try:
            with playing, as_fallback(playing.lane):
                yield
        finally:
            mailbox.report({"report": playing.report.to_dict()})
    else:
        yield


@contextmanager
def _recorded(order: Order, settings: Settings) -> Iterator[None]:
    run = Run(order.run, order.kind)
    tape = Tape(run, _entry(order), settings, task=None, policy=None, tools=(), starter=order.starter)
    try:
        with in_lane(tape.main), as_fallback(tape.main):
            yield
    except BaseException as error:
        run.fail(error)
        raise
    finally:
        if not tape.discard():
            tape.finish()


def guard(order: Order) -> None:
    """Open no connection from here: this process was not recorded, and nothing goes live in a replay."""
    from playhead.integrations.network import forbid

    settings = order.settings or Settings()
    for name, value in variables(order).items():
        os.environ.setdefault(name, value)  # for those that this one starts
    forbid(cast("Session", _Refusing(order.run)), allow=settings.allow_hosts)


class _Refusing:
    """Stands at the boundary of a process that was not recorded."""

    forbids_network = True
    is_over = False

    def __init__(self, run: str) -> None:
        self._run = run

    def ignores(self, host: str) -> bool:
        return False

    def refuse(self, lane: Lane | None, place: str) -> BaseException:
        return ConnectionRefusedInReplayError(
            f"a child process that was not recorded tried to connect to {place} in a replay; nothing was opened",
            next=f"playhead show {self._run}",
            facts={"place": place},
        )


def _settings(order: Order) -> Settings:
    settings = order.settings or Settings()
    if not order.secrets:
        return settings
    secrets = msgspec.json.decode(Path(order.secrets).read_bytes(), type=tuple[str, ...])
    return msgspec.structs.replace(settings, secrets=secrets)


def _record(order: Order) -> None:
    from playhead._program._inside import belong_to, captured_reads, note_uncaught

    settings = _settings(order)
    run = Run(order.run, order.kind)
    INSTALLATION.enter(installers(settings))
    try:
        tape = Tape(run, _entry(order), settings, task=None, policy=None, tools=(), starter=order.starter)
    except RecordingExistsError:  # an earlier process that found the order has taken it up
        INSTALLATION.leave()
        return
    enter_lane(tape.main)
    belong_to(tape.main)

    def finish() -> None:
        error = uncaught()
        if error is not None:
            note_uncaught(tape, error)
            run.fail(error)
        elif ends.signal is not None:
            run.abort(ends.signal)
        elif ends.code:
            run.fail(f"exit code {ends.code}")
        tape.session.unseen |= {f"a read that cannot be caught: {place}": 1 for place in captured_reads()}
        tape.finish()

    def give_way() -> dict[str, str]:
        return variables(order) if tape.discard() else {}

    ends = Ends(finish, replaced=give_way)
    ends.watch()


def _entry(order: Order) -> Entry:
    return Entry(form="program", argv=order.entry.argv or list(sys.orig_argv), folder=os.getcwd())


def _play(order: Order, mailbox: Mailbox) -> None:
    from playhead._program._playing import play

    ends: list[Ends] = []

    def cut(number: int) -> None:
        ends[0].conclude()
        _children.end_by(number)

    ends.append(play(_open(order, _settings(order), mailbox, cut), mailbox))


def _open(order: Order, settings: Settings, mailbox: Mailbox, cut: Callable[[int], None] | None) -> Replay:
    """The replay that an order asks for, not begun; ``cut`` ends the process where a signal had ended it."""
    from playhead._normalisers import load_normalisers
    from playhead._replays import open_replay

    recording = choose_store(settings).open(order.run)
    number = _children.killed_by(recording)
    return open_replay(
        recording,
        settings,
        match=order.match,
        normalisers=load_normalisers(msgspec.structs.replace(settings, normalisers=order.normalisers)),
        files=order.normalisers,
        folder=str(mailbox.path.parent),
        cut=partial(cut, number) if cut is not None and number is not None else None,
    )
