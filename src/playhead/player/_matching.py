"""Deciding whether a recorded question is the one that is asked now.

A `Matcher` looks at one candidate and gives its verdict: it matches, with or without drift, or it does not,
and why. `strict` demands an equal request. `loose` forgives wording, arguments and renamed ids, but never
another set of tools or another final user turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

import msgspec

from playhead.events import canonical
from playhead.player._differences import Difference, differences
from playhead.player._requests import Request
from playhead.providers import final_user_turn, tool_names


class Verdict(msgspec.Struct, frozen=True):
    """What a matcher says of one candidate.

    ``drift`` lists what was different and forgiven; ``reason`` says why a candidate does not match.
    """

    matches: bool
    drift: tuple[Difference, ...] = ()
    reason: str = ""


class Matcher(Protocol):
    """Anything with this method can be given as ``match=``; it must not change what it is shown."""

    def match(self, asked: Request, recorded: Request) -> Verdict:
        """Whether ``recorded`` answers ``asked``."""
        ...


class StrictMatcher:
    """Demands that the canonical requests are equal: order of keys and style of numbers apart."""

    def match(self, asked: Request, recorded: Request) -> Verdict:
        """Equal or not."""
        if same_place(asked, recorded) and canonical(asked.content) == canonical(recorded.content):
            return Verdict(True)
        return Verdict(False, reason="the requests are not equal")


class LooseMatcher:
    """Demands the same boundary and name, for a model the same tools and the same final user turn."""

    def match(self, asked: Request, recorded: Request) -> Verdict:
        """The same question in other words, or not."""
        if not same_place(asked, recorded):
            return Verdict(False, reason=f"{recorded.boundary} {recorded.name} is not {asked.boundary} {asked.name}")
        drift = tuple(differences(recorded.content, asked.content))
        if asked.boundary == "model" and isinstance(asked.content, Mapping) and isinstance(recorded.content, Mapping):
            reason = _model_reason(asked, recorded)
            if reason:
                return Verdict(False, drift, reason)
        return Verdict(True, drift)


def _model_reason(asked: Request, recorded: Request) -> str:
    provider: Any = asked.name
    tools, before = set(tool_names(provider, asked.content)), set(tool_names(provider, recorded.content))
    if tools != before:
        changes = [f"+{name}" for name in sorted(tools - before)] + [f"-{name}" for name in sorted(before - tools)]
        return f"the set of tools changed: {', '.join(changes)}"
    if not _same_turn(final_user_turn(provider, asked.content), final_user_turn(provider, recorded.content)):
        return "the final user turn is another one"
    return ""


def _same_turn(asked: Any, recorded: Any) -> bool:
    """Equal, or equal but for a consistent renaming of opaque ids and times."""
    if canonical(asked) == canonical(recorded):
        return True
    found = list(differences(recorded, asked))
    return bool(found) and all(difference.renaming for difference in found)


def same_place(asked: Request, recorded: Request) -> bool:
    """Whether two requests were put to the same boundary under the same name."""
    return asked.boundary == recorded.boundary and asked.name == recorded.name


Match = Literal["strict", "loose"] | Matcher
Matching = Match | Mapping[str, Match]
"""What ``match=`` takes: one for all boundaries, or one for each by name (those not named are strict)."""

_BY_NAME: dict[str, Matcher] = {"strict": StrictMatcher(), "loose": LooseMatcher()}


class Matchers:
    """The matcher of each boundary."""

    def __init__(self, match: Matching) -> None:
        self._each: Mapping[str, Match] = match if isinstance(match, Mapping) else {}
        self._all: Match = "strict" if isinstance(match, Mapping) else match
        for chosen in (*self._each.values(), self._all):
            if isinstance(chosen, str) and chosen not in _BY_NAME:
                raise ValueError(f"match is 'strict', 'loose' or a Matcher, not {chosen!r}")

    def of(self, boundary: str) -> Matcher:
        """The matcher for ``boundary``."""
        chosen = self._each.get(boundary, self._all)
        return _BY_NAME[chosen] if isinstance(chosen, str) else chosen

    def is_strict(self, boundary: str) -> bool:
        """Whether equality is demanded at ``boundary``, so that it can be looked up."""
        return isinstance(self.of(boundary), StrictMatcher)

    @property
    def all_strict(self) -> bool:
        """Whether nothing is forgiven anywhere."""
        return all(self.is_strict(boundary) for boundary in ("model", "tool", "http", "wrap"))
