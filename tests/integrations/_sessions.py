"""Sessions that hold exchanges in memory, for the tests of the seams; the real ones stand behind the same rig."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

import playhead
from playhead.boundary import (
    Activity,
    Call,
    HttpHead,
    HttpRequest,
    Installation,
    Installer,
    Lane,
    Outcome,
    Raised,
    Streamed,
    Ticket,
    in_lane,
)
from playhead.errors import ConnectionRefusedInReplayError, DivergenceError
from playhead.events import decode_error, encode, snapshot_error
from playhead.integrations.network import forbid
from playhead.testing import forbid_connections


class Exchange(msgspec.Struct):
    """A question and what became of it."""

    lane: str
    call: Call
    outcome: Outcome | None = None

    @property
    def request(self) -> HttpRequest:
        assert isinstance(self.call.payload, HttpRequest)
        return self.call.payload

    @property
    def streamed(self) -> Streamed:
        assert isinstance(self.outcome, Streamed), self.outcome
        return self.outcome

    @property
    def head(self) -> HttpHead:
        assert self.streamed.head is not None
        return self.streamed.head

    @property
    def body(self) -> bytes:
        return b"".join(self.streamed.items)


class Recorder:
    """Does everything live and keeps what came. ``double`` counts answers that were handed in twice."""

    forbids_network = False
    is_over = False

    def __init__(self, *, ignored: tuple[str, ...] = ()) -> None:
        self.exchanges: list[Exchange] = []
        self.notices: list[tuple[str, Any]] = []
        self.double = 0
        self.activity = Activity()
        self._ignored = ignored
        self._lock = threading.Lock()

    def ignores(self, host: str) -> bool:
        return host in self._ignored or host.rpartition(":")[0] in self._ignored

    def refuse(self, lane: Lane | None, place: str) -> None:
        return None

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        return True

    def begin(self, lane: Lane, call: Call) -> Ticket:
        ticket = Ticket(lane, call)
        ticket.mark = Exchange(lane.name, call)
        with self._lock:
            self.exchanges.append(ticket.mark)
        return ticket

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        self.double += ticket.mark.outcome is not None
        ticket.mark.outcome = outcome

    def read(self, lane: Lane, kind: str, fn: str, site: str, live: Any) -> Any:
        return live()

    def tell_time(self, now: float) -> float:
        return now

    def follows(self, lane: Lane, after: Lane) -> None:
        pass

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        self.notices.append((name, details))


class Player(Recorder):
    """Answers each lane's questions in the order recorded, with fresh copies."""

    forbids_network = True

    def __init__(self, exchanges: list[Exchange], *, ignored: tuple[str, ...] = ()) -> None:
        super().__init__(ignored=ignored)
        self._left: defaultdict[str, deque[Exchange]] = defaultdict(deque)
        for exchange in exchanges:
            self._left[exchange.lane].append(exchange)

    @property
    def left(self) -> int:
        return sum(map(len, self._left.values()))

    def refuse(self, lane: Lane | None, place: str) -> Any:
        return ConnectionRefusedInReplayError(f"no connection to {place} in a replay")

    def begin(self, lane: Lane, call: Call) -> Ticket:
        ticket = super().begin(lane, call)
        if not self._left[lane.name]:
            raise DivergenceError(f"{call.name} was not recorded in lane {lane.name}")
        recorded = self._left[lane.name].popleft()
        if recorded.call.name != call.name:
            raise DivergenceError(f"{call.name} is asked where {recorded.call.name} was recorded")
        ticket.answer = _copy(recorded.outcome)
        return ticket


def _copy(outcome: Outcome | None) -> Outcome:
    match outcome:
        case Raised(error=error):
            return Raised(_copy_error(error))
        case Streamed(error=BaseException() as error):
            return msgspec.structs.replace(outcome, error=_copy_error(error))
        case None:
            raise DivergenceError("the recorded question was never answered")
    return outcome


def _copy_error(error: BaseException) -> BaseException:
    return decode_error(msgspec.json.decode(msgspec.json.encode(encode(snapshot_error(error)))))


class MemoryRig:
    """Records and replays in memory: ``exchanges`` is what the last run left."""

    def __init__(self, installers: tuple[Installer, ...]) -> None:
        self._installers = installers
        self._installation = Installation()
        self.ignored: tuple[str, ...] = ()
        self.recorder = Recorder()
        self.player = Player([])

    @property
    def exchanges(self) -> list[Exchange]:
        return self.recorder.exchanges

    @contextmanager
    def record(self) -> Iterator[Lane]:
        self.recorder = Recorder(ignored=self.ignored)
        with self._installed(), in_lane(Lane(self.recorder)) as lane:
            assert lane is not None
            yield lane

    @contextmanager
    def replay(self, *, whole: bool = True) -> Iterator[Lane]:
        """Replay what was recorded last; ``whole`` asserts that all of it was asked for."""
        self.player = Player(self.recorder.exchanges, ignored=self.ignored)
        with self._installed(), forbid_connections() as guard:
            leave = forbid(self.player)
            try:
                with in_lane(Lane(self.player)) as lane:
                    assert lane is not None
                    yield lane
            finally:
                leave()
        assert guard.attempts == []
        if whole:
            assert self.player.left == 0

    @contextmanager
    def _installed(self) -> Iterator[None]:
        self._installation.enter(self._installers)
        try:
            yield
        finally:
            self._installation.leave()


class RealRig:
    """Records to a file and replays strictly from it."""

    def __init__(self, store: Any) -> None:
        self._store = str(store)
        self._run = ""

    @contextmanager
    def record(self) -> Iterator[None]:
        with playhead.record(kind="seam", store=self._store) as run:
            yield
        self._run = run.id

    @contextmanager
    def replay(self) -> Iterator[None]:
        with forbid_connections() as guard, playhead.replay(self._run, store=self._store):
            yield
        assert guard.attempts == []
