"""What a rule is, and what is found with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Literal, NamedTuple

from playhead.errors import ConfigurationError
from playhead.masking._placeholder import Pseudonyms

__all__ = ["Finding", "Hit", "Rule", "Settled", "Sign", "check_pattern"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

Form = Callable[[Pseudonyms, str, str], str]
"""Makes the placeholder from (pseudonyms, rule name, value): `Pseudonyms.plain` and its siblings are forms."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret stands: the name of the rule and the span in code points, never the secret."""

    rule: str
    start: int
    end: int


class Hit(NamedTuple):
    """A span to be replaced. ``replacement`` takes its place; of two hits on one span the lower ``rank`` wins."""

    start: int
    end: int
    rule: str
    replacement: str
    rank: int = 0


class Settled(NamedTuple):
    """The verdict on one candidate: the spans that are secret, and where to look for the next candidate.

    A span is (start, end, value): ``value`` is what the placeholder stands for, without the escapes around it.
    """

    resume: int
    spans: tuple[tuple[int, int, str], ...] = ()


Settle = Callable[[str, int, int], Settled]


@dataclass(frozen=True, slots=True)
class Sign:
    """What lets the standard-library engine pass over a text without trying the rule's pattern.

    No text can match the pattern without holding one of ``literals`` in the view of it that ``where`` names (see
    `ReEngine`): its ``words`` of twelve characters and more, all of it ``squeezed``, the ``names`` before colons,
    its ``digits``. Without literals, the pattern itself is looked for there. ``gate`` is a part of all the literals,
    which many rules may share.
    """

    where: Literal["text", "words", "squeezed", "names", "digits"]
    literals: tuple[bytes, ...] = ()
    gate: bytes = b""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret: either a ``pattern`` or a function ``find``, and what refines them.

    ``pattern`` is a regular expression in RE2 syntax (no look-around, no back-references), so that it is linear
    for every text. Characters outside ASCII count as neither letters nor digits in it.
    ``find`` takes a text and returns the spans of secrets as (start, end) in code points. If it raises, the whole
    text is masked: the gate fails closed.
    ``check`` has the last word on each match, given its text. ``form`` makes the placeholder.

    The rest is for the built-in rules: ``settle`` turns a match into the spans that are secret. ``folded`` patterns
    are in lower case and match either, ``numeric`` ones never begin within a word. ``sign`` and ``heavy`` tell
    the engines how to be quick (``heavy``: the pattern does not begin with a literal).

    >>> Rule("badge", pattern=r"badge-[0-9]{6}").name
    'badge'
    """

    name: str
    _: KW_ONLY
    pattern: str | None = None
    find: Callable[[str], Iterable[tuple[int, int]]] | None = None
    check: Callable[[str], bool] | None = None
    form: Form = Pseudonyms.plain
    settle: Settle | None = None
    sign: Sign | None = None
    heavy: bool = True
    folded: bool = False
    numeric: bool = False

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"a mask rule's name is of letters, digits, - and _, 64 at most: {self.name!r}",
                next="playhead help configuration",
            )
        if (self.pattern is None) == (self.find is None):
            raise ConfigurationError(
                f"the mask rule {self.name!r} needs either a pattern or a function",
                next="playhead help configuration",
            )
        if self.pattern is not None and self.sign is None:  # with one it is ours, and a test has checked it
            check_pattern(self.name, self.pattern)


def check_pattern(name: str, pattern: str) -> None:
    """Refuse what is no pattern or matches the empty text; the message does not quote it, it may hold a secret."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ConfigurationError(
            f"the pattern of the mask rule {name!r} is not a regular expression (at character {error.pos})",
            next="playhead help configuration",
        ) from None
    if compiled.match(""):
        raise ConfigurationError(
            f"the pattern of the mask rule {name!r} matches the empty text",
            next="playhead help configuration",
        )
