"""What an exchange is recognised by when two recordings are compared: its name, its shape, its value.

A model's request repeats the conversation so far. What a request says anew, since an earlier one in its lane that it
goes on from, is all that is compared of it: so a change is told once, where it came in, and a long run costs what is
new in it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Hashable, Mapping
from hashlib import blake2b
from typing import Any, Final

import msgspec

from playhead.comparison._sequences import Item
from playhead.eventlog import Exchange, Recording
from playhead.events import ModelRequested
from playhead.player import Request, request_of_event
from playhead.providers import read_json, read_tool_calls, tool_names

_REMEMBERED: Final = 4
"""How many earlier requests of a lane a request may go on from."""

_DEEP: Final = 8


class News(msgspec.Struct, frozen=True):
    """What a request says anew. ``kept`` tells how many items of a list an earlier request had already.

    ``back`` is how many requests earlier that one was; 0: it goes on from none.
    """

    content: Any
    kept: dict[str, int]
    back: int


class Entry:
    """An exchange with what it is recognised by."""

    __slots__ = ("boundary", "calls", "exchange", "item", "name", "news")

    def __init__(self, exchange: Exchange, request: Request, news: News) -> None:
        self.exchange = exchange
        self.news = news
        self.boundary = request.boundary
        self.name = request.name
        self.calls = _calls(exchange)
        name = (request.boundary, request.name)
        shape = (*name, _shape_of_question(exchange, request, self.calls))
        said = (news.content, news.back, sorted(news.kept))
        self.item = Item(name=name, shape=shape, value=(shape, _digest(said)))

    @property
    def content(self) -> Any:
        """All that was asked, read again."""
        return _request(self.exchange).content

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the tools that a model's answer calls."""
        return tuple(name for name, _ in self.calls)

    @property
    def failed(self) -> bool | None:
        """Whether the answer was a failure; ``None`` without one."""
        return None if self.exchange.answer is None else self.exchange.answer.kind.endswith(".failed")


def entries_by_lane(recording: Recording) -> dict[str, list[Entry]]:
    """The exchanges of each lane, in order."""
    lanes: dict[str, list[Entry]] = {}
    earlier: dict[tuple[str, str], deque[Any]] = {}
    for exchange in recording.exchanges:
        request, lane = _request(exchange), exchange.question.lane
        news = News(request.content, {}, 0)
        if request.boundary == "model" and isinstance(request.content, dict):
            known = earlier.setdefault((lane, request.name), deque(maxlen=_REMEMBERED))
            news = _news(request.content, known)
            known.appendleft(request.content)
        lanes.setdefault(lane, []).append(Entry(exchange, request, news))
    return lanes


def _news(content: dict[str, Any], known: deque[Any]) -> News:
    back, base = 0, {}
    for at, before in enumerate(known, start=1):  # the last one first
        if any(_goes_on(content.get(key), value) for key, value in before.items()):
            back, base = at, before
            break
    said: dict[str, Any] = {}
    kept: dict[str, int] = {}
    for key, value in content.items():
        if _goes_on(value, base.get(key)):
            kept[key] = len(base[key])
            said[key] = value[len(base[key]) :]
        elif key not in base or (base[key] is not value and base[key] != value):
            said[key] = value
    gone = {key: None for key in base if key not in content}
    return News({**said, **gone}, kept, back)


def _goes_on(value: Any, before: Any) -> bool:
    """Whether a list begins with all that another has. What requests share is the same object, so this is quick."""
    if type(value) is not list or type(before) is not list or not before:
        return False
    return len(value) >= len(before) and value[: len(before)] == before


def _request(exchange: Exchange) -> Request:
    try:
        return request_of_event(exchange.question)
    except TypeError:  # a question of a later version, or one whose body was erased
        return Request("wrap", exchange.question.kind, None)


def _calls(exchange: Exchange) -> tuple[tuple[str, Hashable], ...]:
    """The tool calls that a model's answer asks for: names, and shapes of arguments."""
    question: Any = exchange.question.body
    content = getattr(exchange.answer.body, "content", None) if exchange.answer is not None else None
    if not isinstance(question, ModelRequested) or not isinstance(content, Mapping):
        return ()
    found: list[tuple[str, Hashable]] = []
    for call in read_tool_calls(question.provider, read_json(content)):
        found.append((call.name, shape_of(json.loads(call.arguments)) if call.verdict == "ok" else call.verdict))
    return tuple(found)


def _shape_of_question(exchange: Exchange, request: Request, calls: Hashable) -> Hashable:
    body = exchange.question.body
    if isinstance(body, ModelRequested) and body.form != "arguments" and isinstance(request.content, dict):
        return tuple(tool_names(body.provider, request.content)), calls
    if isinstance(body, ModelRequested):  # how much was said so far is no part of its shape
        return shape_of(request.content, _DEEP - 1)
    return shape_of(request.content)


def shape_of(tree: Any, depth: int = 0) -> Hashable:
    """What a tree is made of, whatever stands in it: keys, and the sorts of values.

    >>> shape_of({"q": "tea", "n": 3}) == shape_of({"n": 4.5, "q": "salt"})
    True
    """
    if isinstance(tree, dict):
        if "$t" in tree:
            return str(tree["$t"])
        if depth >= _DEEP:
            return "object"
        return frozenset((key, shape_of(value, depth + 1)) for key, value in tree.items())
    if isinstance(tree, list):
        return ("list", frozenset(shape_of(item, depth + 1) for item in tree)) if depth < _DEEP else "list"
    return "number" if type(tree) in (int, float) else type(tree).__name__


def _digest(tree: Any) -> bytes:
    """Equal for equal trees; not written down anywhere."""
    return blake2b(msgspec.json.encode(tree, order="sorted"), digest_size=16).digest()
