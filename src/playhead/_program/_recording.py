"""In the parent: a program runs as it always does, and a recording of it is kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program._closing import Closed, close_recording
from playhead._program._launching import Ended, choose_hash_seed, launch
from playhead._program._mailbox import Mailbox
from playhead._program._orders import RUNNER, Order, variables
from playhead.errors import PlayheadError, ProgramNotStartedError
from playhead.events import Entry
from playhead.stores import LocalStore


class Recorded(msgspec.Struct, frozen=True):
    """A program that has run. ``closed`` is its recording, or ``None``: then ``failure`` says why there is none.

    ``others`` counts Python processes beside the recorded one, ``incomplete`` says what is missing from the
    recording, ``captured`` lists reads of clock and chance that could not be caught.
    """

    ended: Ended
    closed: Closed | None = None
    failure: PlayheadError | None = None
    others: int = 0
    incomplete: tuple[str, ...] = ()
    captured: tuple[str, ...] = ()


def record_program(
    command: Sequence[str],
    place: LocalStore,
    *,
    run: str,
    kind: str = "run",
    task: str | None = None,
    stdout: int | None = None,
    entry: Entry | None = None,
) -> Recorded:
    """Run ``command`` to its end and keep a recording of the first Python process in it.

    Where its ``entry`` is a gateway, what it asks through that is recorded instead, whatever it is written in.

    Whether a recording can be kept is found out before the program runs: raises `StoreNotWritableError`,
    `RecordingExistsError` or `ProgramNotStartedError`.
    """
    place.mask_key()
    log = place.create(run, "probe")
    log.abandon()
    log.path.unlink()
    with Mailbox.make() as mailbox:
        order = Order(
            mode="record",
            run=run,
            kind=kind,
            task=task,
            store=str(place.path.absolute()),
            mailbox=str(mailbox.path),
            entry=entry or Entry(form="program", argv=list(command), folder=os.getcwd()),
        )
        program = command if entry is None else RUNNER
        added = {**variables(order, path=entry is None), "PYTHONHASHSEED": choose_hash_seed()}
        ended = launch(program, added, stdout=stdout)
        said = mailbox.read_report() or {}
        try:
            _check_begun(mailbox, command, entry)
            masker = make_masker(read_settings(store=str(place.path)), place.mask_key())
            closed = close_recording(place.find(run), ended, masker, gaps=said.get("gaps"), others=mailbox.others)
        except PlayheadError as error:
            return Recorded(ended, failure=error)
        return Recorded(
            ended,
            closed,
            others=mailbox.others,
            incomplete=tuple(said.get("gaps", {}).get("incomplete", ())),
            captured=tuple(said.get("captured", ())),
        )


def _check_begun(mailbox: Mailbox, command: Sequence[str], entry: Entry | None) -> None:
    if mailbox.claimed and mailbox.failure is None:
        return
    why = mailbox.failure or f"{Path(command[0]).name} started no Python that could be recorded"
    then = f"record -- {sys.executable} my_agent.py" if entry is None else "gateway -- node agent.js"
    raise ProgramNotStartedError(
        f"nothing was recorded: {why.removesuffix('; nothing was recorded')}", next=f"playhead {then}"
    )
