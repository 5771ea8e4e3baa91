"""What crosses the boundary: calls going out, outcomes coming back.

These are the terms in which integrations and sessions speak to each other. An integration says what the
program asks and how to do it live; the session says whether it is done live or answered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

HeaderPairs = tuple[tuple[str, str], ...]
"""Header names and values, decoded as latin-1, in the order, case and number they came in."""

Kind = Literal["model", "tool", "http", "wrap", "sleep", "process"]
"""Which boundary is crossed. ``http`` is any request; a session finds out by itself whether a model was asked."""

End = Literal["complete", "closed", "cancelled", "broken"]
"""How a stream ended: read to its end; left early by the program; cancelled; cut by an error."""


class HttpRequest(msgspec.Struct, frozen=True):
    """A request as it stands just before it would leave: below the client's redirects and retries."""

    method: str
    url: str
    headers: HeaderPairs
    body: bytes | None
    """The whole body, or ``None`` where it could not be read without disturbing the program."""
    library: str
    """The client package, such as ``httpx2``."""


class HttpHead(msgspec.Struct, frozen=True):
    """The beginning of a response; its body follows as pieces."""

    status: int
    headers: HeaderPairs
    version: str = "HTTP/1.1"
    reason: str = ""


class Arguments(msgspec.Struct, frozen=True):
    """What a wrapped function was called with, and the function itself, for its parameter names."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class Pause(msgspec.Struct, frozen=True):
    """Time that is to pass: a sleep, or a timer that may be taken back before it fires."""

    seconds: float


class Program(msgspec.Struct, frozen=True):
    """A process that is to be started: ``argv`` is its command line, ``lane`` the name of the lane that it will be.

    Of one that runs a function of this program, the command line is the name of that. So it is of a ``task`` which is
    handed to a pool; a ``worker`` of that is not taken note of. One that is ``served`` asks over the wire what it asks,
    and makes no recording of its own.
    """

    argv: tuple[str, ...]
    lane: str
    form: Literal["command", "function", "task", "worker", "served"] = "command"


class Call(msgspec.Struct, frozen=True):
    """A crossing that is about to happen."""

    kind: Kind
    name: str
    payload: HttpRequest | Arguments | Pause | Program
    call_id: str | None = None
    """The provider's id of the tool call that asked for this, where it is known."""
    causes: str | None = None
    """The name of the calls by which what this gives was put where it takes it from, where the program says so."""
    side_effects: bool = False
    """Whether it changes something in the world, so that it is not made again lightly."""


class Returned(msgspec.Struct, frozen=True):
    """The call gave a value."""

    value: Any


class Raised(msgspec.Struct, frozen=True):
    """The call raised."""

    error: BaseException


class Streamed(msgspec.Struct, frozen=True):
    """The call gave its answer piece by piece.

    ``head`` came before the first piece (an `HttpHead`, or ``None`` for generators). ``gaps_ns[i]`` is the
    time in nanoseconds that passed before ``items[i]``, the first counted from the question. ``error`` is
    what cut the stream where ``end`` is ``"broken"``; ``value`` is what a generator returned at its end. ``turns[i]``
    says in which turn ``items[i]`` came where its loop was not idle before it: how many turns after what came there
    last, and where that was a piece of another stream, how many pieces had come in that loop. It may be shorter.
    ``head_ns`` and ``head_turns`` say the same of the head, as time since the question.
    """

    head: HttpHead | None
    items: Sequence[Any]
    gaps_ns: Sequence[int]
    end: End
    error: BaseException | None = None
    value: Any = None
    turns: Sequence[Sequence[int]] = ()
    head_ns: int | None = None
    head_turns: Sequence[int] = ()


Outcome = Returned | Raised | Streamed
"""What became of a call."""
