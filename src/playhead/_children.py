"""What the child processes of a run, or of a replay, are told, and what they tell when they end."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from playhead import _system
from playhead._configuration import Settings
from playhead.boundary import Errand, Program
from playhead.errors import PlayheadError
from playhead.eventlog import LIVE_SUFFIX, SEALED_SUFFIX, Recording, is_held, open_recording
from playhead.events import BoundaryAsked, Child, Entry, Starter
from playhead.masking import Masker
from playhead.stores import LocalStore, file_name

if TYPE_CHECKING:
    from playhead._program._orders import Order
    from playhead.player import Handed, Matching

_UNSAFE = re.compile(r"[^a-z0-9_]+")
_HOME = str(Path(__file__).parents[1])

_SOURCE = """
import sys
sys.path.append({home!r})
try:
    import playhead._program.{used}
    from playhead._program import begin_child
except ImportError:
    begin_child = None
finally:
    sys.path.remove({home!r})
if begin_child is not None:
    begin_child({order!r})
elif {guarded!r}:
    sys.exit(3)
"""
"""What a process is given that `multiprocessing` starts anew. What it uses is loaded while it can be found."""


class _Orders:
    """Orders for child processes, with the ``settings`` and the place of the one that starts them."""

    def __init__(self, run: str, settings: Settings, store: LocalStore, folder: str = "") -> None:
        self.run = run
        self.store = str(store.path.absolute())
        base = os.path.abspath(settings.base)
        self.settings = msgspec.structs.replace(settings, secrets=(), secret_variables=(), store=self.store, base=base)
        self._secrets = settings.secrets
        self._given = folder
        self._folder = folder

    @property
    def folder(self) -> str:
        """A folder for what passes between these processes, which only this user may look into."""
        if not self._folder:
            import tempfile

            self._folder = tempfile.mkdtemp(prefix="playhead-")
        return self._folder

    def secrets(self) -> str:
        """The file with the secrets to be masked; none of them is ever in an environment."""
        if not self._secrets:
            return ""
        path = os.path.join(self.folder, f"{file_name(self.run)}.secrets")
        if not os.path.exists(path):
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(msgspec.json.encode(self._secrets))
        return path

    def close(self) -> None:
        """Take away the folder, if it was made here."""
        if self._folder and not self._given:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)


def _errand(run: str | None, order: Order, *, hash_seed: str | None = None) -> Errand:
    from playhead._program import Task, begin_in_fork, variables
    from playhead._program._launching import choose_hash_seed

    text = msgspec.json.encode(order).decode()

    def added(environment: Mapping[str, str]) -> dict[str, str]:
        seed = hash_seed or environment.get("PYTHONHASHSEED") or choose_hash_seed()
        return {**variables(order, environment=environment), **({"PYTHONHASHSEED": seed} if run is not None else {})}

    guarded = order.mode == "replay"
    source = _SOURCE.format(home=_HOME, order=text, guarded=guarded, used="_playing" if guarded else "_child")
    return Errand(run, added, source, lambda: begin_in_fork(text), lambda function: Task(text, function))


class RecordedChildren:
    """The child processes of a run that is recorded: each makes a recording of its own, which names that run."""

    def __init__(self, run: str, settings: Settings, store: LocalStore) -> None:
        self._store = store
        self._orders = _Orders(run, settings, store)

    def start(self, program: Program) -> Errand:
        """What the next one is told."""
        from playhead._ids import new_id
        from playhead._program._orders import Order

        orders = self._orders
        kind = program.lane.rpartition("/")[2].rpartition("#")[0]
        run = new_id(_UNSAFE.sub("-", kind.lower().removesuffix(".py")).strip("-") or "child")
        order = Order(
            mode="record",
            run=run,
            kind=kind,
            store=orders.store,
            entry=Entry(form="program", argv=list(program.argv) if program.form != "command" else []),
            starter=Starter(run=orders.run, lane=program.lane),
            settings=orders.settings,
            secrets=orders.secrets(),
        )
        return _errand(run, order)

    def close(self, started: Mapping[str, int | None], masker: Masker) -> int:
        """Seal what children left that were killed; how many of those that were ``started`` left nothing at all."""
        from playhead._program import Ended, close_recording

        self._orders.close()
        unseen = 0
        for run, code in started.items():
            path = self._store.locate(run)
            if path is None:
                unseen += 1
            elif path.name.endswith(LIVE_SUFFIX) and not is_held(path):
                ended = Ended(9, "SIGKILL") if code is None else Ended(abs(code), _signal_name(code))
                try:
                    close_recording(path, ended, masker, gaps=None)
                except PlayheadError:
                    continue  # it stays as it is: cut off
        return unseen


class ReplayedChildren:
    """The child processes of a replay. ``folder`` is where they leave their reports, and those that they start, too."""

    def __init__(
        self,
        recording: Recording,
        settings: Settings,
        store: LocalStore,
        *,
        match: Matching,
        normalisers: tuple[str, ...] = (),
        folder: str = "",
    ) -> None:
        self._recording = recording
        self._store = store
        self._orders = _Orders(recording.id, settings, store, folder)
        self._match = _plain(match)
        self._normalisers = normalisers

    def replay(self, run: str | None) -> Errand | None:
        """See `playhead.player.Errands`."""
        from playhead._program._orders import Order

        path = locate_beside(self._recording, run, self._store) if run is not None else None
        if run is None or path is None:
            return None
        try:
            with open_recording(path) as recording:
                started = recording.started
        except PlayheadError:
            return None
        orders = self._orders
        mailbox = os.path.join(orders.folder, file_name(run))
        os.makedirs(mailbox, exist_ok=True)
        order = Order(
            mode="replay",
            run=str(path.absolute()),
            store=orders.store,
            mailbox=mailbox,
            match=self._match,
            normalisers=self._normalisers,
            starter=started.starter if started is not None else None,
            settings=orders.settings,
            secrets=orders.secrets(),
        )
        return _errand(run, order, hash_seed=started.environment.hash_seed if started is not None else None)

    def guard(self) -> Errand:
        """See `playhead.player.Errands`."""
        from playhead._program._orders import Order

        return _errand(None, Order(mode="guard", run=self._orders.run, settings=self._orders.settings))

    def receive(self, run: str) -> Handed:
        """See `playhead.player.Errands`."""
        from playhead._program._mailbox import Mailbox
        from playhead.player import Handed, ReplayReport

        mailbox = Mailbox(os.path.join(self._orders.folder, file_name(run)))
        said = mailbox.read_report()
        report = msgspec.convert(said["report"], ReplayReport) if said is not None else None
        return Handed(mailbox.claimed, report, mailbox.failure)

    def close(self) -> None:
        """The replay has ended."""
        self._orders.close()


def locate_beside(recording: Recording, run: str, store: LocalStore) -> Path | None:
    """The recording of ``run``, in the folder of another one or in ``store``."""
    if recording.path is not None:
        for suffix in (SEALED_SUFFIX, LIVE_SUFFIX):
            path = recording.path.with_name(file_name(run) + suffix)
            if path.is_file():
                return path
    return store.locate(run)


def children_of(recording: Recording, store: LocalStore) -> Iterator[tuple[Child, list[str], Path | None]]:
    """The child processes that a run started: with their command lines, and their recordings where they made any."""
    for exchange in recording.exchanges:
        body = exchange.question.body
        if isinstance(body, BoundaryAsked) and body.child is not None:
            path = locate_beside(recording, body.child.run, store) if body.child.run is not None else None
            yield body.child, list((body.request or {}).get("argv", ())), path


def killed_by(recording: Recording) -> int | None:
    """The number of the signal that ended a recorded process, ``None`` where it ended by itself."""
    finished = recording.finished
    if finished is None:
        return int(signal.SIGKILL)
    number: Any = getattr(signal, finished.reason or "", None) if finished.outcome == "aborted" else None
    return int(number) if isinstance(number, signal.Signals) else None


def end_by(number: int) -> None:
    """End this process as the recorded one was ended."""
    os.kill(os.getpid(), number)
    while True:
        _system.sleep(1)


def _signal_name(code: int) -> str | None:
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _plain(match: Matching) -> Literal["strict", "loose"] | dict[str, Literal["strict", "loose"]]:
    """How children are matched: as their starter is, or, where that has matchers of its own, strictly."""
    if isinstance(match, str):
        return match
    if isinstance(match, Mapping):
        return {key: value for key, value in match.items() if isinstance(value, str)}
    return "strict"
