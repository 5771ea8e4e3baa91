"""In the program's own process: a recording around the whole of it, or, without a need to load it, a replay."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager

from playhead._configuration import read_settings
from playhead._program._child import begin_child, guard
from playhead._program._ends import Ends, uncaught
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order, decode_order, variables
from playhead._runs import INSTALLATION, Run, Tape, installers
from playhead.boundary import Lane, as_fallback, enter_lane
from playhead.errors import PlayheadError
from playhead.events import encode, snapshot_error
from playhead.integrations import find_captured

_held: list[AbstractContextManager[None]] = []


def begin(text: str) -> None:
    """Carry out an order in this process, if it is the first that got it.

    A recording that cannot begin leaves the program alone; a replay that cannot begin ends it, since without
    a replay the program would go live.
    """
    order = decode_order(text)
    if order.starter is not None or order.mode == "guard":
        begin_child(text)
        return
    mailbox = Mailbox(order.mailbox)
    if not mailbox.claim():
        if order.mode == "replay":
            guard(Order(mode="guard", run=order.run))
        return
    try:
        if order.mode == "record":
            _record(order, mailbox)
        else:
            from playhead._program._playing import play, start_replay

            play(start_replay(order, mailbox), mailbox)
    except Exception as error:
        mailbox.fail(error.message if isinstance(error, PlayheadError) else f"{type(error).__name__}: {error}")
        if order.mode == "replay":
            os._exit(PlayheadError.exit_code)


def _record(order: Order, mailbox: Mailbox) -> None:
    settings = read_settings(store=order.store)
    INSTALLATION.enter(installers(settings))
    tape = Tape(Run(order.run, order.kind), order.entry, settings, task=order.task, policy=None, tools=())
    enter_lane(tape.main)
    belong_to(tape.main)

    def finish() -> None:
        error = uncaught()
        if error is not None:
            note_uncaught(tape, error)
        tape.leave()
        captured = captured_reads()
        tape.session.unseen |= {f"a read that cannot be caught: {place}": 1 for place in captured}
        mailbox.report({"gaps": tape.gaps(), "captured": captured})

    def give_way() -> dict[str, str]:
        if mailbox.claimed and not tape.discard():
            return {}
        mailbox.release()
        return variables(order)

    Ends(finish, replaced=give_way).watch()


def note_uncaught(tape: Tape, error: BaseException) -> None:
    """Keep the exception that ends the program."""
    details = {"error": encode(snapshot_error(error))}
    tape.session.note(tape.main, "note.added", {"name": "uncaught", "details": details})


def belong_to(lane: Lane) -> None:
    """Code without a lane of its own, anywhere in the process, belongs to this one's run."""
    whole = as_fallback(lane)
    whole.__enter__()
    _held.append(whole)


def captured_reads() -> list[str]:
    """Reads of clock and chance that cannot be caught, and where."""
    return [f"{each.module}: {each.where} holds {each.what}" for each in find_captured()]
