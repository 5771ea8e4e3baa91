"""What the parent asks of the first Python process that its command starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import msgspec

from playhead._configuration import Settings
from playhead._system import ENVIRONMENT
from playhead.events import Entry, Starter

VARIABLE: Final = "PLAYHEAD_ORDER"
"""The environment variable in which an order travels, as JSON. It is gone before the program's first line."""

_STARTUP: Final = Path(__file__).with_name("startup")
"""The folder that stands first on the path of the program that is started."""


RUNNER: Final = (sys.executable, "-P", "-m", "playhead._program")
"""The process that calls a recorded function again, or stands between a command and what that asks."""

Mode = Literal["record", "replay", "guard"]


class Stopping(msgspec.Struct, frozen=True):
    """Where a replay stops: at the steps ``breaks`` in a debugger, at the step ``until`` for good.

    ``listen`` is a port on which an editor is awaited before the program begins; ``control`` are the descriptors by
    which a session of `playhead debug` asks and is told.
    """

    breaks: tuple[int, ...] = ()
    until: int | None = None
    listen: int | None = None
    control: tuple[int, int] | None = None

    @property
    def steps(self) -> tuple[int, ...]:
        """All of them."""
        return self.breaks if self.until is None else (*self.breaks, self.until)


NOWHERE: Final = Stopping()


class ForkOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Go live after a step of what is replayed: see `playhead.fork`."""

    id: str
    at: int
    live: tuple[str, ...]
    cross_version: bool = False
    allowed: tuple[str, ...] = ()
    reexecute: bool = False


class Order(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Record, or replay, the program that finds this, or keep it off the network.

    ``run`` is the id of the run to make, or the path of the recording to play. ``store`` and ``mailbox`` are
    folders. ``entry`` is what a recording keeps as its entry point. ``normalisers`` are files beyond the configured.
    ``rearranged`` says that the mailbox has another order of events than the recorded; ``attentive`` asks for all that
    was asked. ``reexecute`` has another process of the recording run again.
    A child process of a run that is recorded or replayed has a ``starter``, and the ``settings`` of that run, but for
    the secrets to be masked, which are in a file.
    """

    mode: Mode
    run: str = ""
    store: str = ""
    mailbox: str = ""
    kind: str = "run"
    task: str | None = None
    entry: Entry = msgspec.field(default_factory=lambda: Entry(form="program"))
    match: Literal["strict", "loose"] | dict[str, Literal["strict", "loose"]] = "strict"
    normalisers: tuple[str, ...] = ()
    rearranged: bool = False
    stopping: Stopping = NOWHERE
    fork: ForkOrder | None = None
    attentive: bool = False
    reexecute: bool = False
    starter: Starter | None = None
    settings: Settings | None = None
    secrets: str = ""


def variables(order: Order, *, path: bool = True, environment: Mapping[str, str] = ENVIRONMENT) -> dict[str, str]:
    """The variables that carry ``order`` in an ``environment``; with ``path``, the next Python finds it by itself."""
    found = {VARIABLE: msgspec.json.encode(order).decode()}
    if path:
        before = environment.get("PYTHONPATH")
        found["PYTHONPATH"] = os.pathsep.join([str(_STARTUP), before] if before else [str(_STARTUP)])
    return found


def decode_order(text: str) -> Order:
    """The order again."""
    return msgspec.json.decode(text, type=Order)
