"""In the parent: many recordings are played side by side, each for itself, with as few interpreters as possible."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from playhead._configuration import read_settings
from playhead._masking import make_masker
from playhead._program._capturing import Captured, capture
from playhead._program._launching import Ended, not_started
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order, variables
from playhead._program._replaying import Match, Replayed, find_start, receive, replay_order, replay_program
from playhead._program._talking import Done, send
from playhead._program._talking import receive as receive_message
from playhead._system import ENVIRONMENT, SystemClock
from playhead.errors import NoReportError, PlayheadError
from playhead.eventlog import open_recording, printable
from playhead.events import Entry
from playhead.stores import LocalStore

_SEED: Final = "0"
"""The hash seed of those that were recorded under a random one: the same in each run, so that none is flaky."""

_OUTPUT: Final = 4000
"""So many characters of what a program printed last are kept."""


class Play(msgspec.Struct, frozen=True):
    """A recording to be played: its file, its entry with the places where its files are now, and how it is matched."""

    path: Path
    entry: Entry
    hash_seed: str | None = None
    match: Match = "strict"
    normalisers: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    attentive: bool = False


class Played(msgspec.Struct, frozen=True):
    """What became of it: the replay, or the ``error`` for which there was none. ``output`` is masked."""

    play: Play
    done: Replayed | None
    error: PlayheadError | None
    output: str
    took_ns: int


def play_many(
    plays: Sequence[Play], store: Path, *, jobs: int, limit_s: float | None, told: Callable[[Played], None]
) -> None:
    """Play them, so many at a time as there are ``jobs``; ``told`` is called in this thread as each ends.

    Each is played in a process of its own; those of one module's agents are forked from one that has imported it.
    After ``limit_s`` seconds one is ended. Nothing is tried twice.
    """
    queue = _Queue(plays)
    results = _Results(len(plays))
    players = [Player(store, limit_s=limit_s) for _ in range(min(jobs, len(plays)))]
    threads = [threading.Thread(target=_work, args=(player, queue, results), daemon=True) for player in players]
    for thread in threads:
        thread.start()
    try:
        for played in results:
            told(played)
    except BaseException:
        queue.clear()
        for player in players:
            player.kill()
        raise
    finally:
        for thread in threads:
            thread.join()


def _work(player: Player, queue: _Queue, results: _Results) -> None:
    """On a thread: play until nothing is left."""
    group = None
    try:
        while (taken := queue.take(group)) is not None:
            group, play = taken
            results.put(player.play(play))
    except BaseException as error:
        results.put(error)
    finally:
        player.close()


class _Queue:
    """What is still to be played, by the process that can play it."""

    def __init__(self, plays: Sequence[Play]) -> None:
        self._lock = threading.Lock()
        self._groups: dict[Any, list[Play]] = {}
        for play in reversed(plays):
            self._groups.setdefault(_group(play), []).append(play)

    def take(self, last: Any) -> tuple[Any, Play] | None:
        """The next one, if there is one of the same group as the ``last``; else of the group with most left."""
        with self._lock:
            self._groups = {group: plays for group, plays in self._groups.items() if plays}
            if not self._groups:
                return None
            group = last if last in self._groups else max(self._groups, key=lambda each: len(self._groups[each]))
            return group, self._groups[group].pop()

    def clear(self) -> None:
        """Nothing more is to be played."""
        with self._lock:
            self._groups.clear()


def _group(play: Play) -> Any:
    """Those that are equal in this can be forked from one process; ``None`` for what needs one of its own."""
    entry = play.entry
    if entry.form != "call" or play.command or not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        return None
    return str(entry.call).partition(":")[0], entry.file, entry.folder, _seed(play)


def _seed(play: Play) -> str:
    return play.hash_seed if play.hash_seed and play.hash_seed.isdecimal() else _SEED


class _Results:
    """What was played, as it comes."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._ready = threading.Condition()
        self._items: list[Played | BaseException] = []

    def put(self, item: Played | BaseException) -> None:
        """One more, or the fault by which a player ended."""
        with self._ready:
            self._items.append(item)
            self._ready.notify()

    def __iter__(self) -> _Results:
        return self

    def __next__(self) -> Played:
        if self._left == 0:
            raise StopIteration
        with self._ready:
            self._ready.wait_for(lambda: bool(self._items))
            item = self._items.pop(0)
        self._left -= 1
        if isinstance(item, BaseException):
            raise item
        return item


class Player:
    """Plays recordings one after the other, each in a process of its own."""

    def __init__(self, store: Path, *, limit_s: float | None = None) -> None:
        self._store = store
        self._limit_s = limit_s
        self._masker = make_masker(read_settings(store=str(store)), LocalStore(store).mask_key())
        self._group: Any = None
        self._server: _Server | None = None
        self._alone: set[Any] = set()

    def kill(self) -> None:
        """End what is being played."""
        if self._server is not None:
            self._server.kill()

    def close(self) -> None:
        """Nothing more is to be played."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def play(self, play: Play) -> Played:
        """Play one."""
        if _group(play) != self._group:
            self.close()
        self._group = _group(play)
        began_ns = SystemClock.mono_ns()
        done, error = None, None
        with capture() as captured:
            try:
                done = self._replayed(play, captured)
            except PlayheadError as ours:
                error = ours
        text = self._masker.text(captured.text[-4 * _OUTPUT :])[-_OUTPUT:]
        return Played(play, done, error, text, SystemClock.mono_ns() - began_ns)

    def _replayed(self, play: Play, captured: Captured) -> Replayed:
        if self._group is not None and self._group not in self._alone:
            found = self._forked(play, captured.fd)
            if found is not None:
                return found
            self._alone.add(self._group)
        with open_recording(play.path) as recording:
            done = replay_program(
                recording,
                self._store,
                match=play.match,
                command=play.command,
                normalisers=play.normalisers,
                stdin=subprocess.DEVNULL,
                stdout=captured.fd,
                stderr=captured.fd,
                hash_seed=_seed(play),
                limit_s=self._limit_s,
                moved=play.entry,
                attentive=play.attentive,
            )
            _check_time(recording.id, done.ended, self._limit_s)
            return done

    def _forked(self, play: Play, output: int) -> Replayed | None:
        """The replay in a fork; ``None`` where the module does not allow that."""
        if self._server is None:
            self._server = _Server(play)
        with Mailbox.make() as mailbox, open_recording(play.path) as recording:
            started, path = find_start(recording)
            order = replay_order(
                path, play.entry, self._store, mailbox,
                match=play.match, normalisers=play.normalisers, attentive=play.attentive,
            )  # fmt: skip
            done = self._server.ask(order, output, self._limit_s)
            if done is None or not done.forks:
                late = done is None and self._server.late
                self.close()
                if late:
                    _check_time(recording.id, Ended(9, "SIGKILL", late=True), self._limit_s)
                if done is None:
                    run = printable(recording.id)
                    raise NoReportError(
                        f"there is no report of the replay of {run}: the process that was to play it died",
                        next=f"playhead replay {printable(path)}",
                    )
                return None
            started = msgspec.structs.replace(started, entry=play.entry)
            return receive(mailbox, _ended(done.code), recording, started)


class _Server:
    """A process that has imported a module, and forks for each recording of its agents."""

    def __init__(self, play: Play) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._sock = ours
            command = [sys.executable, "-m", "playhead._program._serving", str(theirs.fileno())]
            try:
                self._process = subprocess.Popen(
                    command,
                    cwd=play.entry.folder,
                    env={**ENVIRONMENT, "PYTHONHASHSEED": _seed(play)},
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    process_group=0,
                )
            except OSError as error:
                ours.close()
                raise not_started(command, error, play.entry.folder) from error
        self.late = False

    def ask(self, order: Order, output: int, limit_s: float | None) -> Done | None:
        """Have one played; ``None`` where the process has died, or was ended as it took too long."""
        (text,) = variables(order, path=False).values()
        try:
            send(self._sock, text.encode(), output)
            self._sock.settimeout(limit_s)
            received = receive_message(self._sock)
        except TimeoutError:
            self.late = True
            self.kill()
            return None
        except OSError:
            return None
        finally:
            self._sock.settimeout(None)
        return msgspec.json.decode(received[0], type=Done) if received is not None else None

    def kill(self) -> None:
        """End it, and what it plays."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def close(self) -> None:
        """Let it end."""
        self._sock.close()
        self._process.wait()


def _ended(code: int) -> Ended:
    if code >= 0:
        return Ended(code)
    try:
        return Ended(-code, signal.Signals(-code).name)
    except ValueError:
        return Ended(-code, f"signal {-code}")


def _check_time(run: str, ended: Ended, limit_s: float | None) -> None:
    if ended.late:
        raise NoReportError(
            f"the replay of {printable(run)} was ended: it took more than {limit_s:g} seconds",
            next=f"playhead replay {printable(run)}",
            facts={"limit_s": limit_s},
        )
