"""The bodies of events, one class a kind.

Fields that are not there are not written. ``Any`` marks a tree: JSON with tagged values.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Pairs = list[tuple[str, str]]
"""Header names and values in the order, case and number they came in."""

End = Literal["complete", "closed", "cancelled", "broken"]
"""How a stream ended: read to its end; left early by the program; cancelled; cut by an error."""


class _Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    pass


class Entry(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """Where the program was entered, so that it can be invoked again."""

    form: Literal["call", "program", "block", "gateway"]
    """``gateway`` is a command of any language, of which was recorded what it asked over the wire."""
    call: str | None = None
    """``module:qualname`` of the entry function."""
    arguments: Any = None
    argv: list[str] = []
    folder: str | None = None
    """The working directory."""
    file: str | None = None
    """The file that holds the entry function's module."""
    routes: dict[str, str] = {}
    """Of a gateway: the base URLs of those that were asked, by the names of their routes."""
    keys: list[str] = []
    """Of a gateway: the variables in which the command found its API keys."""

    @property
    def is_command(self) -> bool:
        """Whether the run is a whole process, from its command line to its end."""
        return self.form in ("program", "gateway")


class Environment(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """What a replay has to know of the machine and the versions the run had."""

    python: str
    platform: str
    timezone: str | None = None
    utc_offset_s: int = 0
    locale: str | None = None
    hash_seed: str | None = None
    """``PYTHONHASHSEED``, or ``None`` where it was random."""
    packages: dict[str, str] = {}
    code: dict[str, Any] = {}
    """``commit`` and ``dirty`` of the program's git checkout."""


class Parent(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The recording that this one was derived from."""

    run: str
    head: str
    at_step: int | None = None
    edits: list[Any] = []


class Child(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A process that was started: the lane that it is, and the id that its own recording has, where it made one."""

    lane: str
    run: str | None = None


class Starter(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The run whose program started this one as a child process, and the lane of that run which it is."""

    run: str
    lane: str


class RunStarted(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A run began."""

    id: str
    kind: str
    task: str | None = None
    entry: Entry
    environment: Environment
    policy: Any = None
    tools: list[Any] = []
    rules: dict[str, Any] = {}
    """Versions of the key and mask rules, and the id of the mask key."""
    parent: Parent | None = None
    starter: Starter | None = None


class RunFinished(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A run ended."""

    outcome: Literal["success", "failure", "aborted"]
    result: Any = None
    reason: str | None = None
    error: Any = None
    incomplete: list[str] = []
    """What is known to be missing from the recording, and why."""
    unseen: dict[str, int] = {}
    """Reads, connections and the like that were noticed but could not be caught, counted by name."""

    @property
    def process_end(self) -> str:
        """How the process of a recorded program ended, in words: ``"exit code 3"``, ``"SIGKILL"``."""
        reason = self.reason or ""
        return reason if reason.startswith(("exit code", "SIG", "signal")) else "exit code 0"


class MessageReceived(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The agent was given a message from outside, such as a user's turn."""

    role: str
    content: Any


class ModelRequested(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A model was asked."""

    provider: str
    model: str | None = None
    stream: bool = False
    method: str | None = None
    url: str | None = None
    headers: Pairs = []
    request: Any = None
    """The request's JSON, or the arguments of a wrapped model function."""
    form: Literal["json", "text", "bytes", "arguments"] = "json"
    call: str | None = None
    turns: int | None = None
    """How many turns of its event loop later than the event before it there it was asked, if not in the same one.

    -1 where the loop was idle in between.
    """


class ModelResponded(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A model answered. ``content`` says in which form the answer's body is kept."""

    status: int | None = None
    headers: Pairs = []
    protocol: dict[str, Any] = {}
    content: Any = None
    end: End = "complete"
    turns: int | None = None
    """How many turns of its event loop came between this and the event before it there; absent where it was idle."""
    ready: int = 0
    """How many events of its loop came between the moment when its task was made ready and this."""
    after_piece: list[int] = []
    """Where the loop was idle since the event before this, but not since a piece of a stream: the turns since that.

    Where that was a piece of another stream, the second number says how many pieces had come in this loop. At the end
    of a stream it may stand beside ``turns``.
    """
    head_after: list[int] = []
    """Where there is a head: the microseconds from the question to it, and ``after_piece`` of it."""
    piece_turns: list[list[int]] = []
    """For pieces of a stream in a row: their number, and for each ``after_piece``, of what came last in its loop."""
    usage: dict[str, Any] | None = None
    """The tokens counted; with ``partial`` where the answer broke off, so that they are a lower bound."""
    verdict: dict[str, Any] | None = None
    """What became of the question: ``ok``, ``refusal``, ``truncated``…, with details."""
    version: str | None = None
    """The provider's own name of the model version that answered."""
    gaps: list[int] = []
    """Microseconds before each piece of the body as it came."""
    first_ns: int | None = None
    items: list[Any] | None = None
    """What a wrapped model function yielded, one by one."""
    """From the question to the first piece of the body, in nanoseconds."""


class ModelFailed(ModelResponded, frozen=True, kw_only=True, omit_defaults=True):
    """A model answered with an error status, or the transport failed (``error``)."""

    error: Any = None


class ToolCalled(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A tool was called."""

    name: str
    arguments: Any = None
    call_id: str | None = None
    turns: int | None = None
    """How many turns of its event loop later than the event before it there it was asked, if not in the same one.

    -1 where the loop was idle in between.
    """
    causes: str | None = None
    """The name of the calls by which what this gives was put where it takes it from."""


class ToolReturned(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A tool returned ``value``, or yielded ``items`` one by one."""

    value: Any = None
    items: list[Any] | None = None
    gaps: list[int] = []
    """Microseconds before each item."""
    end: End = "complete"
    turns: int | None = None
    """How many turns of its event loop came between this and the event before it there; absent where it was idle."""
    ready: int = 0
    """How many events of its loop came between the moment when its task was made ready and this."""
    after_piece: list[int] = []
    """Where the loop was idle since the event before this, but not since a piece of a stream: the turns since that.

    Where that was a piece of another stream, the second number says how many pieces had come in this loop. At the end
    of a stream it may stand beside ``turns``.
    """
    piece_turns: list[list[int]] = []
    """For pieces of a stream in a row: their number, and for each ``after_piece``, of what came last in its loop."""


class ToolFailed(ToolReturned, frozen=True, kw_only=True, omit_defaults=True):
    """A tool raised ``error``, at once or after some items."""

    error: Any


class BoundaryAsked(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """Anything else was asked: plain HTTP (``name`` is ``"http"``), a wrapped function, a ``child`` process."""

    name: str
    method: str | None = None
    url: str | None = None
    headers: Pairs = []
    request: Any = None
    form: Literal["json", "text", "bytes", "arguments", "multipart", "none"] = "none"
    call: str | None = None
    child: Child | None = None
    """The process that was started; ``request`` is its command line, and the answer its exit code."""
    turns: int | None = None
    """How many turns of its event loop later than the event before it there it was asked, if not in the same one.

    -1 where the loop was idle in between.
    """
    causes: str | None = None
    """The name of the calls by which what this gives was put where it takes it from."""


class BoundaryAnswered(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The answer of a wrapped function (``value`` or ``items``) or of plain HTTP (``status``, ``content``)."""

    value: Any = None
    items: list[Any] | None = None
    gaps: list[int] = []
    status: int | None = None
    headers: Pairs = []
    protocol: dict[str, Any] = {}
    content: Any = None
    """The body of plain HTTP, in one of the forms of `playhead.providers.encode_content`."""
    end: End = "complete"
    turns: int | None = None
    """How many turns of its event loop came between this and the event before it there; absent where it was idle."""
    ready: int = 0
    """How many events of its loop came between the moment when its task was made ready and this."""
    after_piece: list[int] = []
    """Where the loop was idle since the event before this, but not since a piece of a stream: the turns since that.

    Where that was a piece of another stream, the second number says how many pieces had come in this loop. At the end
    of a stream it may stand beside ``turns``.
    """
    head_after: list[int] = []
    """Where there is a head: the microseconds from the question to it, and ``after_piece`` of it."""
    piece_turns: list[list[int]] = []
    """For pieces of a stream in a row: their number, and for each ``after_piece``, of what came last in its loop."""


class BoundaryFailed(BoundaryAnswered, frozen=True, kw_only=True, omit_defaults=True):
    """It raised ``error`` instead, at once or after some of the answer."""

    error: Any


class ClockRead(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The agent's own code read a clock."""

    fn: str
    site: str
    value: Any


class RandomDrawn(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The agent's own code drew from chance."""

    fn: str
    site: str
    value: Any


class SleepAsked(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The agent began to sleep, or set a timer, for ``seconds``."""

    seconds: float
    turns: int | None = None
    """How many turns of its event loop later than the event before it there it was asked, if not in the same one.

    -1 where the loop was idle in between.
    """


class SleepEnded(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The sleep ended, or the timer fired. One that was taken back before has no end."""

    end: End = "complete"
    turns: int | None = None
    """How many turns of its event loop came between this and the event before it there; absent where it was idle."""


class LaneOpened(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A lane's first event is about to follow. ``parent`` is the lane that created it."""

    parent: str | None = None
    by: str | None = None
    """Who makes what crosses in the lane, where that is another process, with which the program speaks."""
    behind: bool = False
    """Whether that reaches the program only in their conversation: a replay of that does not ask for it."""
    turns: int | None = None
    """Of a thread that began beside a busy event loop: how many turns after the event before it there."""


class LaneWoken(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A thread in the lane goes on, having waited for what other threads did."""

    wait: int = 0
    """The how-manieth this was, from 1, of those places in the lane where it may have to wait; 0: not counted."""
    turns: int | None = None
    """Of a thread beside a busy event loop: how many turns after the event before it there."""


class LaneClosed(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A lane ended."""


class CycleStarted(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A turn of the agent loop began."""

    index: int
    action_type: str | None = None


class CycleFinished(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A turn of the agent loop ended."""

    index: int
    end: Literal["complete", "failed"] = "complete"


class StateKept(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The agent's state, as it handed it over."""

    state: Any
    label: str | None = None


class PartKept(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """A part of later bodies, kept once. ``digest`` is the SHA-256 of its ``content`` as stored."""

    digest: str
    content: Any


class NoteAdded(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """Something that the recorder or the program wants remembered: ``name`` and details."""

    name: str
    details: Any = None


class RecordingSealed(_Body, frozen=True, omit_defaults=True, kw_only=True):
    """The closing statement: how many events came before, and the head of the chain up to here."""

    count: int
    head: str
    signature: str | None = None
    key: str | None = None


class UnknownBody(msgspec.Struct, frozen=True):
    """The body of a kind that this version does not know, kept as the text it was."""

    raw: bytes
