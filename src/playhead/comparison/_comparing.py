"""What differs between two recordings, place by place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal

import msgspec

from playhead.comparison._aligning import Pair, align
from playhead.eventlog import Exchange, Recording
from playhead.events import ModelRequested
from playhead.player import Difference, differences, request_of_event
from playhead.providers import read_json

_MINTED: Final = ("id", "created", "created_at", "system_fingerprint", "responseId", "x_groq")
"""Fields at the top of a model's answer that its server makes anew for every answer."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place where the two differ.

    ``added`` is only in the second, ``removed`` only in the first; ``changed`` is in both, with what differs
    between the questions (``asked``) and between the answers (``answered``). ``step`` and ``step_after`` count
    in the first and in the second.
    """

    kind: Literal["added", "removed", "changed"]
    boundary: str
    name: str
    lane: str
    step: int | None = None
    step_after: int | None = None
    asked: tuple[Difference, ...] = ()
    answered: tuple[Difference, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """Two recordings side by side. ``renamed`` are ids and times that only have other values in the second.

    ``outcomes`` and ``results`` are those of the first and the second; ``models`` are the versions that answered.
    ``took_ns`` is kept for whoever wants to know and decides nothing.
    """

    before: str
    after: str
    equal: int
    changes: tuple[Change, ...]
    renamed: tuple[Difference, ...]
    outcomes: tuple[str, str]
    result: tuple[Difference, ...]
    models: tuple[tuple[str, ...], tuple[str, ...]]
    took_ns: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether both runs observed and decided the same."""
        return not self.changes and not self.result and self.outcomes[0] == self.outcomes[1]


def compare(before: Recording, after: Recording) -> Comparison:
    """Compare two recordings. Raises what reading them raises."""
    equal = 0
    changes: list[Change] = []
    renamed: list[Difference] = []
    for pair in align(before, after):
        change, ids = _compare_pair(pair)
        renamed += ids
        if change is None:
            equal += 1
        else:
            changes.append(change)
    result, ids = _split(differences(_ending(before), _ending(after)))
    return Comparison(
        before=before.id,
        after=after.id,
        equal=equal,
        changes=tuple(changes),
        renamed=(*renamed, *ids),
        outcomes=(before.outcome, after.outcome),
        result=result,
        models=(_models(before), _models(after)),
        took_ns=(_took(before), _took(after)),
    )


def _compare_pair(pair: Pair) -> tuple[Change | None, tuple[Difference, ...]]:
    before, after = pair.before, pair.after
    if before is None or after is None:
        there = before or after
        assert there is not None
        boundary, name = _named(there)
        lane = there.question.lane
        if after is None:
            return Change(kind="removed", boundary=boundary, name=name, lane=lane, step=there.step), ()
        return Change(kind="added", boundary=boundary, name=name, lane=lane, step_after=there.step), ()
    asked, ids = _split(differences(_asked(before), _asked(after)))
    answered, more = _split(differences(_answered(before), _answered(after)))
    if not asked and not answered:
        return None, ids + more
    boundary, name = _named(before)
    changed = Change(
        kind="changed",
        boundary=boundary,
        name=name,
        lane=before.question.lane,
        step=before.step,
        step_after=after.step,
        asked=asked,
        answered=answered,
    )
    return changed, ids + more


def _split(found: Iterator[Difference]) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """Those that count, and those that only have another name for the same."""
    places = list(found)
    return tuple(each for each in places if not each.renaming), tuple(each for each in places if each.renaming)


def _named(exchange: Exchange) -> tuple[str, str]:
    body: Any = exchange.question.body
    boundary = exchange.question.kind.partition(".")[0]
    if isinstance(body, ModelRequested):
        return boundary, body.model or body.provider
    if getattr(body, "url", None):
        return "http", f"{body.method} {body.url}"
    return boundary, str(getattr(body, "name", exchange.question.kind))


def _asked(exchange: Exchange) -> Any:
    try:
        return request_of_event(exchange.question).content
    except TypeError:
        return None


def _answered(exchange: Exchange) -> Any:
    """What an answer says, without headers, timings and what its server mints anew each time."""
    if exchange.answer is None:
        return {"none": True}
    body: Any = exchange.answer.body
    found: dict[str, Any] = {"kind": exchange.answer.kind}
    for name in ("status", "end", "value", "items", "error"):
        said = getattr(body, name, None)
        if said is not None:
            found[name] = said
    content = getattr(body, "content", None)
    if content is not None:
        said = read_json(content)
        if isinstance(said, dict) and isinstance(exchange.question.body, ModelRequested):
            said = {key: value for key, value in said.items() if key not in _MINTED}
        found["content"] = said if said is not None else content
    return found


def _ending(recording: Recording) -> dict[str, Any]:
    finished = recording.finished
    if finished is None:
        return {}
    return {"result": finished.result, "reason": finished.reason, "error": finished.error}


def _models(recording: Recording) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for exchange in recording.steps:
        body = exchange.question.body
        if isinstance(body, ModelRequested):
            answer: Any = exchange.answer.body if exchange.answer is not None else None
            found[getattr(answer, "version", None) or body.model or body.provider] = None
    return tuple(found)


def _took(recording: Recording) -> int:
    events = recording.events
    closed = 1 + (recording.sealed and len(events) > 1)
    return events[len(events) - closed].mono_ns - events[0].mono_ns if len(events) else 0
