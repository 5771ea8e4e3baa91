"""Calls the recorded entry point of a recording again, in a process of its own: ``python -m playhead._program``."""

from __future__ import annotations

import inspect
import os
import sys

from playhead._program._mailbox import Mailbox
from playhead._program._orders import VARIABLE, Order, decode_order
from playhead.errors import PlayheadError


def main() -> None:
    """Import the entry function as the recorded program had it, then call it under replay."""
    order = decode_order(os.environ.pop(VARIABLE))
    mailbox = Mailbox(order.mailbox)
    mailbox.claim()
    if order.entry.form == "gateway":
        from playhead._program._gateway import serve_command

        serve_command(order, mailbox)
        return
    _call_entry(order, mailbox)


def _call_entry(order: Order, mailbox: Mailbox) -> None:
    from playhead._program._playing import play, start_replay
    from playhead._program._serving import run_to_end
    from playhead._replays import find_entry

    entry = order.entry
    sys.argv = list(entry.argv) or sys.argv[:1]
    if entry.file is not None:
        sys.path.insert(0, os.path.dirname(os.path.abspath(entry.file)))
    try:
        playing = start_replay(order, mailbox)
        function, args, kwargs = find_entry(playing.recording, entry)
    except PlayheadError as error:
        mailbox.fail(error.message)
        sys.exit(error.exit_code)
    play(playing, mailbox)
    result = function(*args, **kwargs)
    if inspect.isawaitable(result):
        run_to_end(result)


if __name__ == "__main__":
    main()
