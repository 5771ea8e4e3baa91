"""In a process of its own: a gateway around a command, whose requests are recorded or answered from a recording."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2s
from pathlib import Path
from subprocess import Popen

from playhead._configuration import Settings, read_settings
from playhead._masking import make_masker
from playhead._program._ends import Ends
from playhead._program._launching import Ended, launch
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order
from playhead._program._routes import set_variables
from playhead._runs import Run, Tape
from playhead._stores import choose_store
from playhead._system import ENVIRONMENT
from playhead.boundary import Call, Lane, Program, Returned, outside_runs
from playhead.errors import PlayheadError
from playhead.events import Entry
from playhead.gateway import Conversations, Gateway

_NO_KEY = "playhead-replay-needs-no-key"
_LETTERS = 2
"""So many bytes tell conversations apart that begin otherwise."""


def serve_command(order: Order, mailbox: Mailbox) -> None:
    """Run the command of ``order`` with a gateway, and end as it ends."""
    settings = read_settings(store=order.store)
    try:
        if order.mode == "record":
            tape = Tape(Run(order.run, order.kind), order.entry, settings, task=order.task, policy=None, tools=())
            lane, ends = tape.main, Ends(lambda: _leave(tape, mailbox))
            ends.watch()
        else:
            from playhead._program._playing import play, start_replay

            playing = start_replay(order, mailbox)
            ends = play(playing, mailbox)
            lane = playing.lane
        is_replayed = order.mode == "replay" and order.fork is None
        ended = _run(lane, order.entry, _labels(settings), is_replayed=is_replayed)
    except PlayheadError as error:
        mailbox.fail(error.message)
        sys.exit(error.exit_code)
    ends.code, ends.signal = (ended.code, None) if ended.signal is None else (None, ended.signal)
    ends.conclude()
    _end_as(ended)


def _leave(tape: Tape, mailbox: Mailbox) -> None:
    tape.leave()
    mailbox.report({"gaps": tape.gaps()})


def _run(lane: Lane, entry: Entry, label: Callable[[str], str], *, is_replayed: bool) -> Ended:
    """The command from its start to its end: a process of the run, which is awaited while it lives."""
    name = Path(entry.argv[0]).name
    program = Program(tuple(entry.argv), lane.child(name).name, "served")
    ticket = lane.session.begin(lane, Call("process", name, program))
    activity, key = lane.activity, threading.get_ident()
    gateway = Gateway(lane, entry.routes, conversations=Conversations(lane, label=label))

    def attend(child: Popen[bytes]) -> None:
        gateway.attend(child.pid)
        lane.session.attend(ticket, lambda: child.poll() is None)

    with outside_runs(), gateway:
        added = set_variables({route: gateway.url(route) for route in entry.routes}, ENVIRONMENT)
        if is_replayed:
            added |= {name: _NO_KEY for name in entry.keys if not ENVIRONMENT.get(name)}
        activity.wait(key)
        try:
            ended = launch(entry.argv, added, attend=attend)
        finally:
            activity.wake(key)
    lane.session.finish(ticket, Returned({"code": ended.code if ended.signal is None else -ended.code, "by": "wait"}))
    return ended


def _labels(settings: Settings) -> Callable[[str], str]:
    """A few letters that follow from a text and from the key of the store: without that they tell nothing of it."""
    key = choose_store(settings).mask_key()
    masker = make_masker(settings, key)

    def label(text: str) -> str:
        masked = masker.text(text).encode("utf-8", "surrogatepass")
        return blake2s(masked, key=key, digest_size=_LETTERS, person=b"gateway").hexdigest()

    return label


def _end_as(ended: Ended) -> None:
    """End this process as the command ended."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    if ended.signal is not None:
        with suppress(ImportError, OSError, ValueError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the command has left its own, where it left one
        with suppress(OSError, ValueError):
            signal.signal(ended.code, signal.SIG_DFL)
        os.kill(os.getpid(), ended.code)
    os._exit(ended.exit_code)
