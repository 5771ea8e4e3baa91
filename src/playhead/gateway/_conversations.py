"""Which lane a request belongs to: the one of its conversation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec

from playhead.boundary import HttpRequest, Lane
from playhead.providers import read_conversation, recognise

_PLAIN = "http"
"""What the lanes of requests are called that ask no model, such as for the list of models."""


class Strand(msgspec.Struct, eq=False):
    """A lane of the gateway: how many turns its latest request had, and what that has come to."""

    lane: Lane
    turns: int = 0
    is_asking: bool = False
    is_answering: bool = False

    def begin(self) -> None:
        """Its answer begins to be given."""
        self.is_answering = True

    def end(self) -> None:
        """It has its answer."""
        self.is_asking = False


class Conversations:
    """The lanes of all conversations below ``lane``.

    A conversation is what begins alike: the same wire format and model, the same system prompt, the same first turn of
    the user. Such requests are of one lane, one after the other; one that comes while its lane waits for an answer has
    a sibling of that. ``label`` makes of how a conversation begins a few letters for its lane's name, so that lanes are
    named alike whichever comes first. It has to make them so that they do not tell what was said.
    """

    def __init__(self, lane: Lane, *, label: Callable[[str], str] | None = None) -> None:
        self._lane = lane
        self._label = label
        self._strands: dict[tuple[str, str], list[Strand]] = {}
        self._lock = threading.Lock()

    def enter(self, route: str, request: HttpRequest) -> Strand:
        """The lane for ``request``, which asks there now, until `Strand.end`."""
        name, beginning, turns = _read(route, request)
        with self._lock:
            strands = self._strands.setdefault((name, beginning), [])
            strand = next((each for each in strands if _is_free(each, turns)), None)
            if strand is None:
                strand = Strand(self._lane.child(self._name(name, beginning)))
                strands.append(strand)
            strand.turns, strand.is_asking, strand.is_answering = turns, True, False
            return strand

    def _name(self, name: str, beginning: str) -> str:
        letters = self._label(beginning) if self._label is not None and beginning else ""
        return f"{name}.{letters}" if letters else name


def _is_free(strand: Strand, turns: int) -> bool:
    """Whether a request of so many turns can be the next in a lane.

    Who has read a stream to its last event goes on at once, before the stream has ended.
    """
    return not strand.is_asking or (strand.is_answering and turns > strand.turns)


def _read(route: str, request: HttpRequest) -> tuple[str, str, int]:
    """What the lanes of a request are called, how its conversation begins, and how many turns it has."""
    model = recognise(request.method, request.url, request.headers, request.body)
    if model is None:
        return f"{route}.{_PLAIN}", "", 0
    name = model.model or route
    try:
        asked: Any = msgspec.json.decode(request.body or b"{}")
        said = read_conversation(model.provider, asked)
    except (ValueError, RecursionError):
        return name, "", 0
    beginning: list[str] = [model.provider]
    for role, text in said:
        if role in ("system", "developer"):
            beginning.append(text)
        elif role == "user":
            beginning.append(text)
            break
    return name, "\0".join(beginning), len(said)
