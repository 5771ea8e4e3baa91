"""Events as nodes, and what leads from one to another."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

EdgeKind = Literal["order", "spawn", "join", "answer", "call", "result", "context", "text", "channel"]
"""Why an event cannot have come before another.

``order``: the next one in its lane. ``spawn``: the lane was created after it. ``join``: another lane ended, or
signalled, and this one went on after it. ``answer``: the answer of a question. ``call``: a model named the tool call.
``result``: the request holds the result of a tool call that a model asked for. ``context``: the request repeats turns
of the one before it in its lane. ``text``: it holds what was answered before. ``channel``: it came out of a channel
into which it was put.
"""

DATA: Final = frozenset({"answer", "call", "result", "context", "text", "channel"})
"""Kinds of edges along which something was handed on. The others say only what came first."""

Through = Literal["data", "all"]
"""Which edges are followed: those along which something was handed on, or every one."""


Chain = tuple[str, int]
"""A lane and a strand of it."""


class Edge(msgspec.Struct, frozen=True, order=True):
    """The event ``before`` and the event ``after`` that follows from it, by their ``seq``."""

    before: int
    after: int
    kind: EdgeKind


class Node(msgspec.Struct, frozen=True):
    """An event of a run. ``place`` is its position in its lane, from 0; ``of`` is, for an answer, its question.

    ``strand`` is 0 but for calls that went on side by side in one lane, as when the calls themselves are gathered:
    what is on one strand of a lane is in order.

    ``name`` is the tool, model, function or clock, where the event has one. ``lamport`` is one more than the largest
    of the events that it follows from.
    """

    seq: int
    kind: str
    lane: str
    place: int
    lamport: int
    name: str = ""
    of: int | None = None
    strand: int = 0

    @property
    def chain(self) -> Chain:
        """What it is in order with."""
        return self.lane, self.strand
