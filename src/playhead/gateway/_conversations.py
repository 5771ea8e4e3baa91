"""Which lane a request belongs to: the one of its conversation."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import msgspec

from playhead.boundary import HttpRequest, Lane
from playhead.providers import read_conversation, recognise

_PASSING = re.compile(
    r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d\b|\d\d:\d\d(?::\d\d(?:\.\d+)?)?|\d{6,}",
    re.IGNORECASE,
)
"""Ids and times, which are others in each run."""

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


class Read(msgspec.Struct, frozen=True):
    """What a request tells of its conversation: how that ``begins``, the ``first`` turn of its user, its turns so far.

    ``name`` is what its lane is called.
    """

    name: str
    begins: tuple[str, ...] = ()
    first: str = ""
    turns: int = 0


class Conversations:
    """The lanes of all conversations below ``lane``.

    A conversation is what begins alike: the same wire format and model, the same system prompt, the same first turn of
    the user. Such requests are of one lane, one after the other; one that comes while its lane waits for an answer has
    a sibling of that. ``label`` makes of that turn a few letters for the lane's name, so that lanes are named alike
    whichever comes first. It has to make them so that they do not tell what was said. Neither the model nor the system
    prompt is in a name: a replay that is not strict takes another one.
    """

    def __init__(self, lane: Lane, *, label: Callable[[str], str] | None = None) -> None:
        self._lane = lane
        self._label = label
        self._strands: dict[tuple[str, ...], list[Strand]] = {}
        self._lock = threading.Lock()

    def enter(self, route: str, request: HttpRequest) -> Strand:
        """The lane for ``request``, which asks there now, until `Strand.end`."""
        read = _read(route, request)
        with self._lock:
            strands = self._strands.setdefault((read.name, *read.begins, read.first), [])
            strand = next((each for each in strands if _is_free(each, read.turns)), None)
            if strand is None:
                strand = Strand(self._lane.child(self._name(read)))
                strands.append(strand)
            strand.turns, strand.is_asking, strand.is_answering = read.turns, True, False
            return strand

    def _name(self, read: Read) -> str:
        if self._label is None or not read.first:
            return read.name
        return f"{read.name}.{self._label(_PASSING.sub('', read.first))}"


def _is_free(strand: Strand, turns: int) -> bool:
    """Whether a request of so many turns can be the next in a lane.

    Who has read a stream to its last event goes on at once, before the stream has ended.
    """
    return not strand.is_asking or (strand.is_answering and turns > strand.turns)


def _read(route: str, request: HttpRequest) -> Read:
    """How a request continues a conversation."""
    model = recognise(request.method, request.url, request.headers, request.body)
    if model is None:
        return Read(f"{route}.{_PLAIN}")
    try:
        said = read_conversation(model.provider, msgspec.json.decode(request.body or b"{}"))
    except (ValueError, RecursionError):
        return Read(route)
    begins = [model.provider, model.model or ""]
    first = ""
    for role, text in said:
        if role in ("system", "developer"):
            begins.append(text)
        elif role == "user":
            first = text
            break
    return Read(route, tuple(begins), first, len(said))
