"""In the program's own process: a replay around the whole of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from playhead._configuration import Settings, read_settings
from playhead._forks import Fork, ask_on_terminal, open_fork
from playhead._normalisers import load_normalisers
from playhead._program._controlled import Control
from playhead._program._editors import await_editor, hold_for_editor
from playhead._program._ends import Ends, uncaught
from playhead._program._inside import belong_to, captured_reads
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order
from playhead._replays import Replay, open_replay
from playhead._stores import choose_store
from playhead.errors import DivergenceError
from playhead.events import encode, snapshot_error
from playhead.player import AttentiveSession, ReplaySession


def start_replay(order: Order, mailbox: Mailbox) -> Replay:
    """The replay that an order asks for, not begun."""
    stopping = order.stopping
    if stopping.listen is not None:
        await_editor(stopping.listen)
    given = load_normalisers(Settings(normalisers=order.normalisers))
    settings = read_settings(store=order.store)
    recording = choose_store(settings).open(order.run)
    if order.fork is not None:
        return open_fork(
            recording,
            settings,
            at=order.fork.at,
            live=order.fork.live,
            match=order.match,
            normalisers=given,
            files=order.normalisers,
            folder=order.mailbox,
            cross_version=order.fork.cross_version,
            allowed=order.fork.allowed,
            reexecute=order.fork.reexecute,
            ask=ask_on_terminal,
            id=order.fork.id,
        )
    playing = open_replay(
        recording,
        settings,
        match=order.match,
        normalisers=given,
        files=order.normalisers,
        folder=order.mailbox,
        order=mailbox.read_moments() if order.rearranged else None,
        breaks=stopping.breaks,
        until=stopping.until,
        halt=Control(*stopping.control).halt if stopping.control is not None else None,
        attentive=order.attentive,
        reexecute=order.reexecute,
    )
    if stopping.listen is not None and playing.stops is not None:
        hold_for_editor(playing.stops)
    return playing


def play(playing: Replay, mailbox: Mailbox) -> Ends:
    """Begin a replay around the whole process, which hands in its report when that ends."""
    playing.await_entry()
    playing.__enter__()
    belong_to(playing.lane)
    _pass_over_ends(playing)

    def finish() -> None:
        if isinstance(playing, Fork):
            _conclude(playing, ends)
        try:
            playing.__exit__(None, None, None)
        except DivergenceError:
            pass  # the report tells it
        said: dict[str, Any] = {
            "report": playing.report.to_dict(),
            "captured": captured_reads(),
            "where": _where(playing),
        }
        if isinstance(playing, Fork) and playing.run.path is not None:
            said["live"] = playing.answered_live
        mailbox.report({**said, **_outcome(playing)})

    ends = Ends(finish)
    ends.watch()
    return ends


def _conclude(playing: Fork, ends: Ends) -> None:
    """Have a fork say how its program ended."""
    error = uncaught()
    if error is not None:
        playing.fail(error)
    elif ends.signal is not None:
        playing.run.abort(ends.signal)
    elif ends.code:
        playing.fail(f"exit code {ends.code}")


def _pass_over_ends(playing: Replay) -> None:
    """The parent explains a divergence and a stop; the traceback of where it came up would only hide that."""
    for module, name in ((sys, "excepthook"), (threading, "excepthook")):
        setattr(module, name, _but_ends(getattr(module, name), playing))


def _but_ends(show: Callable[..., Any], playing: Replay) -> Callable[..., Any]:
    def show_others(*raised: Any) -> Any:
        error = raised[1] if len(raised) > 1 else raised[0].exc_value
        ended = isinstance(error, DivergenceError) or (playing.is_stopped and not isinstance(error, KeyboardInterrupt))
        return None if ended else show(*raised)

    return show_others


def _outcome(playing: Replay) -> dict[str, Any]:
    """What came of it, masked: the runs within, the error that ended the program, and who ended after whom."""
    session: Any = playing.lane.session
    error = uncaught()
    told = (
        None
        if error is None or playing.is_stopped or isinstance(error, DivergenceError)
        else encode(snapshot_error(error))
    )
    completed = session.completed if isinstance(session, ReplaySession) else []
    asked = session.asked if isinstance(session, AttentiveSession) else []
    return {"runs": session.inner_runs, "uncaught": session.mask(told), "completed": completed, "asked": asked}


def _where(playing: Replay) -> str | None:
    """The line of the agent's own code that asked what could not be answered."""
    from playhead.integrations._sites import find_site

    found = None
    trace = playing.failure.__traceback__ if playing.failure is not None else None
    while trace is not None:
        code = trace.tb_frame.f_code
        if find_site(trace.tb_frame) is not None:
            found = f"{code.co_filename}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
    return found
