"""Which exchange of one recording is which of the other.

Lanes are laid against lanes of the same name, so it does not matter which of two parallel branches was quicker.
Within a lane, equal questions are laid against each other first, then those that ask the same boundary by the
same name; what is left was added or removed.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from playhead.eventlog import Exchange, Recording
from playhead.player import Request, request_of_event

Key = tuple[str, str]


class Entry:
    """An exchange with what it is recognised by."""

    __slots__ = ("exchange", "key", "print", "request")

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.request = _request(exchange)
        self.key: Key = (self.request.boundary, self.request.name)
        self.print = (*self.key, _text(self.request.content))


class Pair(msgspec.Struct, frozen=True):
    """Two exchanges that are the same place in two recordings; one of them may be missing."""

    before: Exchange | None
    after: Exchange | None


def align(before: Recording, after: Recording) -> list[Pair]:
    """The exchanges of both recordings, paired, in the order of the one that has them; ``before`` leads."""
    old, new = _by_lane(before), _by_lane(after)
    pairs: list[Pair] = []
    for lane in dict.fromkeys((*old, *new)):
        pairs += [_pair(*both) for both in _lane(old.get(lane, []), new.get(lane, []))]
    return sorted(pairs, key=_place)


def _by_lane(recording: Recording) -> dict[str, list[Entry]]:
    lanes: dict[str, list[Entry]] = {}
    for exchange in recording.exchanges:
        lanes.setdefault(exchange.question.lane, []).append(Entry(exchange))
    return lanes


def _lane(old: Sequence[Entry], new: Sequence[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    for same, gone, come in _blocks([entry.print for entry in old], [entry.print for entry in new]):
        if same:
            yield from zip(old[gone], new[come], strict=True)
            continue
        rest, others = old[gone], new[come]
        for alike, fewer, more in _blocks([entry.key for entry in rest], [entry.key for entry in others]):
            if alike:
                yield from zip(rest[fewer], others[more], strict=True)
            else:
                yield from ((entry, None) for entry in rest[fewer])
                yield from ((None, entry) for entry in others[more])


def _blocks(old: Sequence[Any], new: Sequence[Any]) -> Iterator[tuple[bool, slice, slice]]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for op, a, b, c, d in matcher.get_opcodes():
        yield op == "equal", slice(a, b), slice(c, d)


def _pair(old: Entry | None, new: Entry | None) -> Pair:
    return Pair(old.exchange if old else None, new.exchange if new else None)


def _place(pair: Pair) -> tuple[int, int]:
    """What is only in the second recording stands where it stood there, after what the first had by then."""
    if pair.before is not None:
        return pair.before.question.seq, 0
    assert pair.after is not None
    return pair.after.question.seq, 1


def _request(exchange: Exchange) -> Request:
    try:
        return request_of_event(exchange.question)
    except TypeError:  # a question of a later version, or one whose body was erased
        kind = exchange.question.kind
        return Request("wrap", kind, None)


def _text(tree: Any) -> str:
    """The tree as a text in which equal trees are equal; not written down anywhere."""
    return msgspec.json.encode(tree, order="sorted").decode("utf-8", "replace")
