"""Who stands at the boundary, and the slip that goes with every crossing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from playhead.boundary._calls import Call, Outcome
from playhead.boundary._lanes import Lane
from playhead.boundary._turns import Pace, Turn
from playhead.boundary._working import Activity

T = TypeVar("T")


class Errand(msgspec.Struct, frozen=True, eq=False):
    """What a child process is told, so that it is recorded, or replayed, as part of the run that starts it.

    ``order`` is that as text, for a process that finds it by ``variables``, which makes of an environment what is to
    be added to it, or by ``source``: Python code that carries it out in a process which has nothing else of us yet.
    ``begin`` carries it out in a fork. ``wrap`` makes a function carry it out around its calls, wherever it is sent.
    """

    run: str | None
    variables: Callable[[Mapping[str, str]], dict[str, str]]
    source: str
    begin: Callable[[], None]
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]


class Ticket(msgspec.Struct, eq=False):
    """A crossing that has begun.

    ``answer`` is set by a session that answers itself; where it is ``None`` the call is to be made live. ``seq`` is
    the position of the question in the recording once it has been written. ``keep`` makes a picture of each yielded
    item that later changes do not reach. ``turn`` is when the answer, or the head of a stream, may be given, and
    ``pace`` when the pieces of a stream; at once where they are ``None``. ``turns`` says how many turns of its loop
    after what crossed there before it the question came, -1 where the loop was idle in between. ``mark`` is the
    session's own. ``carrier`` is the lane of the task that carries the call out, where it was made in another.
    ``body`` is the lane in which it is carried out, if it is one of its own. ``marked`` is what the watch of its loop
    had counted when it was asked, and ``ready`` how much it counted between the moment when the task was made ready to
    go on with the answer and the answer. ``after_piece`` is what the watch says of the pieces of streams before the
    answer. ``errand`` is for the process that the call starts.
    """

    lane: Lane
    call: Call
    answer: Outcome | None = None
    began_ns: int = 0
    seq: int | None = None
    turn: Turn | None = None
    pace: Pace | None = None
    turns: int = 0
    keep: Callable[[Any], Any] | None = None
    mark: Any = None
    carrier: Lane | None = None
    body: Lane | None = None
    marked: int = 0
    ready: int = 0
    after_piece: list[int] = []
    errand: Errand | None = None

    @property
    def inside(self) -> Lane:
        """The lane in which the call is carried out."""
        return self.body or self.lane.inside()


class Session(Protocol):
    """What a record, replay or fork session does at the boundary. Every method is plain, fast and thread-safe.

    A session that records never raises into the program. A session that answers raises `DivergenceError`
    where it cannot.
    """

    @property
    def forbids_network(self) -> bool:
        """Whether no connection may be opened while this session stands."""
        ...

    @property
    def activity(self) -> Activity:
        """Which threads work in its lanes."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether it has ended, though lanes of it may go on."""
        ...

    def ignores(self, host: str) -> bool:
        """Whether traffic with ``host`` lies outside the run."""
        ...

    def refuse(self, lane: Lane | None, place: str) -> BaseException | None:
        """The error for a connection to ``place`` that is about to be opened; ``None`` where it may be."""
        ...

    def open(self, lane: Lane, *, waited: int | None = None) -> bool:
        """A thread begins to work in ``lane``, or goes on there after it has ``waited`` for what other threads do.

        That is the number of the wait among the places in the lane where there may be one, 0 where it has none. In a
        replay this tells whether it began when recorded; elsewhere it is true.
        """
        ...

    def begin(self, lane: Lane, call: Call) -> Ticket:
        """Take note of a question, or answer it."""
        ...

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Take note of what became of it. Called once for each ticket, also for those answered by the session."""
        ...

    def read(self, lane: Lane, kind: Literal["clock", "random"], fn: str, site: str, live: Callable[[], T]) -> T:
        """Answer a read of clock or chance, live or from the recording."""
        ...

    def attend(self, ticket: Ticket, is_alive: Callable[[], bool]) -> None:
        """The process of ``ticket`` has been started; it is awaited until `finish` is called."""
        ...

    def follows(self, lane: Lane, after: Lane) -> None:
        """What ``lane`` does from now on comes after what the lane ``after`` has done: made, joined or woken by it."""
        ...

    def tell_time(self, now: float) -> float:
        """What a loop's clock, at ``now`` seconds, says in a lane."""
        ...

    def claim_entry(self, kind: str, call: str | None, task: str | None) -> str | None:
        """The id of the run that this session stands for, where a run that begins now is that one itself."""
        ...

    def leave_entry(self) -> None:
        """Take note that the run which was claimed has been left."""
        ...

    def note(self, lane: Lane, kind: str, body: dict[str, Any]) -> None:
        """Take note of an event of ``kind`` that the program itself asked for, its body being plain trees."""
        ...

    def notice(self, lane: Lane, name: str, details: Any = None) -> None:
        """Take note of something seen that could not be caught, for the report."""
        ...
