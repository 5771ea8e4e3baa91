"""What differs between two recordings, place by place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from playhead.comparison._aligning import Both, align_entries
from playhead.comparison._entries import Entry
from playhead.comparison._paths import Selection
from playhead.comparison._spending import Spending, Spent
from playhead.eventlog import Exchange, Recording
from playhead.events import ModelRequested
from playhead.player import Difference, differences
from playhead.providers import read_json

Level = Literal["names", "shapes", "values"]
"""How closely two recordings are compared; each level has what the one before has.

- ``names``: which tools, models and others were called, in which order; which tools a model's answer called;
- ``shapes``: which arguments they were called with, by name and sort of value, and whether they failed;
- ``values``: everything that was asked and answered.
"""

_LEVELS: Final[tuple[Level, ...]] = ("names", "shapes", "values")

_MINTED: Final = ("id", "created", "created_at", "system_fingerprint", "responseId", "x_groq", "usage", "usageMetadata")
"""Fields at the top of a model's answer that its server makes anew for every answer; tokens are told apart."""


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place where the two differ.

    ``added`` is only in the second, ``removed`` only in the first; ``changed`` is in both, with what differs
    between the questions (``asked``) and between the answers (``answered``). ``level`` is the least close one at
    which it shows. ``step`` and ``step_after`` count in the first and in the second, ``seq`` and ``seq_after`` are
    the events of the questions. ``counts`` says whether the two are different by it, at the level compared.
    """

    kind: Literal["added", "removed", "changed"]
    boundary: str
    name: str
    lane: str
    level: Level = "names"
    counts: bool = True
    step: int | None = None
    step_after: int | None = None
    seq: int | None = None
    seq_after: int | None = None
    asked: tuple[Difference, ...] = ()
    answered: tuple[Difference, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """A pair of questions by their events, and the change there, by its number in ``changes``."""

    seq: int | None
    seq_after: int | None
    change: int | None


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two recordings side by side, compared on the level ``on``, and at ``paths`` by value as well.

    ``changes`` are all that there are, also those that do not count at this level; ``equal`` counts the exchanges
    without any. ``renamed`` are ids and times that only have other values in the second. ``outcomes`` and ``results``
    are those of the first and the second. Kept for whoever wants to know, and deciding nothing: ``models`` (the
    versions that answered), ``calls`` (how often each tool was called), ``spent``, ``took_ns``, ``steps``.
    """

    before: str
    after: str
    on: Level
    paths: tuple[str, ...]
    equal: int
    changes: tuple[Change, ...]
    renamed: tuple[Difference, ...]
    outcomes: tuple[str, str]
    result: tuple[Difference, ...]
    models: tuple[tuple[str, ...], tuple[str, ...]]
    calls: tuple[dict[str, int], dict[str, int]]
    spent: tuple[Spent, Spent]
    took_ns: tuple[int, int]
    steps: tuple[int, int]
    places: tuple[Place, ...]

    @property
    def same(self) -> bool:
        """Whether both runs observed and decided the same, as closely as they were compared."""
        if self.outcomes[0] != self.outcomes[1] or any(change.counts for change in self.changes):
            return False
        return not self.result or self.on != "values"


def compare(before: Recording, after: Recording, *, on: Level = "values", paths: Sequence[str] = ()) -> Comparison:
    """Compare two recordings. Raises what reading them raises, and `UsageError` for a path that is none.

    ``on`` is how closely. Values at ``paths`` count whatever it says: JSON pointers into what was asked or answered,
    in which ``*`` stands for any one key or place.
    """
    selection = Selection(paths)
    changes: list[Change] = []
    renamed: list[Difference] = []
    places: list[Place] = []
    pairs = align_entries(before, after)
    for pair in pairs:
        change, ids = _compare_pair(pair, on, selection)
        renamed += ids
        places.append(Place(_seq(pair[0]), _seq(pair[1]), len(changes) if change is not None else None))
        changes += [change] if change is not None else []
    result, ids = _split(differences(_ending(before), _ending(after)))
    ours = [old for old, _ in pairs if old is not None]
    theirs = sorted((new for _, new in pairs if new is not None), key=lambda entry: entry.exchange.question.seq)
    return Comparison(
        before=before.id,
        after=after.id,
        on=on,
        paths=tuple(paths),
        equal=len(places) - len(changes),
        changes=tuple(changes),
        renamed=(*renamed, *ids),
        outcomes=(before.outcome, after.outcome),
        result=result,
        models=(_models(entry.exchange for entry in ours), _models(entry.exchange for entry in theirs)),
        calls=(_count_calls(ours), _count_calls(theirs)),
        spent=(
            Spending(before).sum_up(entry.exchange for entry in ours),
            Spending(after).sum_up(entry.exchange for entry in theirs),
        ),
        took_ns=(_took(before), _took(after)),
        steps=(len(before.steps), len(after.steps)),
        places=tuple(places),
    )


def _compare_pair(pair: Both, on: Level, selection: Selection) -> tuple[Change | None, tuple[Difference, ...]]:
    old, new = pair
    there = old or new
    assert there is not None
    if old is None or new is None:
        return _change(pair, "removed" if new is None else "added"), ()
    asked, ids = _split(_asked(old, new))
    answered, more = _split(differences(_answered(old.exchange), _answered(new.exchange)))
    level = _level(old, new, bool(asked or answered))
    if level is None:
        return None, ids + more
    counts = _LEVELS.index(level) <= _LEVELS.index(on) or selection.has_any((*asked, *answered))
    changed = _change(pair, "changed")
    return msgspec.structs.replace(changed, level=level, counts=counts, asked=asked, answered=answered), ids + more


def _level(old: Entry, new: Entry, differs: bool) -> Level | None:  # noqa: FBT001
    """The least close level at which two exchanges differ."""
    if old.called != new.called:
        return "names"
    if old.item.shape != new.item.shape or old.failed is not new.failed:
        return "shapes"
    return "values" if differs else None


def _change(pair: Both, kind: Literal["added", "removed", "changed"]) -> Change:
    old, new = pair
    there = (old or new).exchange  # type: ignore[union-attr]
    boundary, name = _named(there)
    return Change(
        kind=kind,
        boundary=boundary,
        name=name,
        lane=there.question.lane,
        step=old.exchange.step if old is not None else None,
        step_after=new.exchange.step if new is not None else None,
        seq=_seq(old),
        seq_after=_seq(new),
    )


def _seq(entry: Entry | None) -> int | None:
    return entry.exchange.question.seq if entry is not None else None


def _split(found: Iterator[Difference]) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """Those that count, and those that only have another name for the same."""
    places = list(found)
    return tuple(each for each in places if not each.renaming), tuple(each for each in places if each.renaming)


def _asked(old: Entry, new: Entry) -> Iterator[Difference]:
    """Where the questions differ in what they say anew. Places in lists that go on are counted from their begin."""
    if old.item.value == new.item.value:
        return
    if (old.news.back, *old.news.kept) != (new.news.back, *new.news.kept):  # they do not go on from the same place
        yield from differences(old.content, new.content)
        return
    for found in differences(old.news.content, new.news.content):
        key, sign, rest = found.path[1:].partition("/")
        kept = old.news.kept.get(key, new.news.kept.get(key))
        place, slash, inside = rest.partition("/")
        if sign and kept and place.isdigit():
            found = msgspec.structs.replace(found, path=f"/{key}/{int(place) + kept}{slash}{inside}")
        yield found


def _named(exchange: Exchange) -> tuple[str, str]:
    body: Any = exchange.question.body
    boundary = exchange.question.kind.partition(".")[0]
    if isinstance(body, ModelRequested):
        return boundary, body.model or body.provider
    if getattr(body, "url", None):
        return "http", f"{body.method} {body.url}"
    return boundary, str(getattr(body, "name", exchange.question.kind))


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
        said = read_json(content) if isinstance(content, dict) else None
        if isinstance(said, dict) and isinstance(exchange.question.body, ModelRequested):
            said = {key: value for key, value in said.items() if key not in _MINTED}
        found["content"] = said if said is not None else content
    return found


def _ending(recording: Recording) -> dict[str, Any]:
    finished = recording.finished
    if finished is None:
        return {}
    return {"result": finished.result, "reason": finished.reason, "error": finished.error}


def _models(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for exchange in exchanges:
        body = exchange.question.body
        if isinstance(body, ModelRequested):
            answer: Any = exchange.answer.body if exchange.answer is not None else None
            found[getattr(answer, "version", None) or body.model or body.provider] = None
    return tuple(found)


def _count_calls(entries: Iterable[Entry]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in entries:
        if entry.boundary == "tool":
            found[entry.name] = found.get(entry.name, 0) + 1
    return found


def _took(recording: Recording) -> int:
    events = recording.events
    closed = 1 + (recording.sealed and len(events) > 1)
    return events[len(events) - closed].mono_ns - events[0].mono_ns if len(events) else 0
