"""Edits, as frozen data: what is changed in a recording, at which place."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from playhead.errors import UsageError

FaultName = Literal[
    "auth_expired",
    "empty_answer",
    "malformed_json",
    "overloaded",
    "rate_limited",
    "refusal",
    "timeout",
    "truncated_arguments",
    "unknown_tool",
]
"""What goes wrong with providers and tools, by name."""

FAULTS: tuple[str, ...] = FaultName.__args__  # type: ignore[attr-defined]


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where an edit applies: at a ``step``, or at the exchange or read that the event ``seq`` belongs to."""

    step: int | None = None
    seq: int | None = None

    def __str__(self) -> str:
        return f"step {self.step}" if self.step is not None else f"event {self.seq}"


class _Edit(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, tag_field="edit"):
    at: Place
    first: bool = False
    """Whether this comes first, and the recorded answer after it, for a program that asks once more."""


class Returns(_Edit, frozen=True, kw_only=True, tag="returns"):
    """A tool, a wrapped function or a wrapped model gives ``value``, a tree."""

    value: Any


class Raises(_Edit, frozen=True, kw_only=True, tag="raises"):
    """It raises ``error``, the tree of an exception; of an HTTP exchange: the connection fails by it."""

    error: Any


class Wanted(msgspec.Struct, frozen=True):
    """A tool call that a model asks for. ``arguments`` as text are sent as they stand."""

    name: str
    arguments: dict[str, Any] | str


class Answers(_Edit, frozen=True, kw_only=True, tag="answers", omit_defaults=True):
    """A model says ``text``, or asks for ``calls``, in the wire format of its exchange."""

    text: str | None = None
    calls: tuple[Wanted, ...] = ()


class Responds(_Edit, frozen=True, kw_only=True, tag="responds", omit_defaults=True):
    """An HTTP exchange has this ``status``, these ``headers`` more, and this ``body``: a text, or what is JSON."""

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: Any = None


class Faults(_Edit, frozen=True, kw_only=True, tag="faults"):
    """What provider or tool does where this goes wrong."""

    name: FaultName


class Delays(_Edit, frozen=True, kw_only=True, tag="delays"):
    """The answer comes so many ``seconds`` later than recorded, and with it all that followed from it."""

    seconds: float


class Drops(_Edit, frozen=True, kw_only=True, tag="drops"):
    """The exchange is not there: neither its question nor its answer."""


class Reads(_Edit, frozen=True, kw_only=True, tag="reads"):
    """A read of a clock or a random draw gives ``value``, a tree."""

    value: Any


class Takes(_Edit, frozen=True, kw_only=True, tag="takes"):
    """The answer is the event ``seq`` of the run ``run``."""

    run: str
    seq: int


class Adds(msgspec.Struct, frozen=True, kw_only=True, tag="adds", tag_field="edit"):
    """What the event ``seq`` of the run ``run`` asked, and its answer, come after all else: for who asks that now."""

    run: str
    seq: int


class Asks(_Edit, frozen=True, kw_only=True, tag="asks"):
    """The program asks ``content``, a tree as in `playhead.player.Request`, and gets the recorded answer."""

    content: Any


class Ends(msgspec.Struct, frozen=True, kw_only=True, tag="ends", tag_field="edit", omit_defaults=True):
    """The run ends with this ``outcome``, for this ``reason``, with ``result`` or by ``error``, which are trees."""

    outcome: Literal["success", "failure", "aborted"] = "success"
    result: Any = None
    reason: str | None = None
    error: Any = None


class Says(msgspec.Struct, frozen=True, kw_only=True, tag="says", tag_field="edit"):
    """The user says ``text`` in place of ``instead_of``, wherever that went into the run or into a question."""

    text: str
    instead_of: str


Edit = Returns | Raises | Answers | Responds | Faults | Takes | Adds | Delays | Drops | Reads | Asks | Ends | Says
"""One change."""


def as_place(where: int | str) -> Place:
    """A step by its number, an event by ``"#41"``. Raises `UsageError` for anything else."""
    if isinstance(where, int) and not isinstance(where, bool) and where > 0:
        return Place(step=where)
    if isinstance(where, str) and where[:1] == "#" and where[1:].isascii() and where[1:].isdigit():
        return Place(seq=int(where[1:]))
    raise UsageError(
        f"{where!r} is no place in a run: a step is a number from 1 on, an event is '#' and its number",
        next="playhead show RUN --graph",
    )
