"""The search itself: which step is the first at which something is broken. It knows nothing of recordings.

Steps count from 1. Before the first one nothing has happened, so there nothing is broken. A check is asked of a step
and says ``good``, ``bad`` or ``skip`` (it cannot tell there). Halving finds the first bad step **if** the check is
monotonic: good up to some step, bad from there on. Few checks cannot prove that, so a `Finding` says how much was
looked at:

1. The last step, then halving: at most ``ceil(log2(n)) + 1`` checks where none is skipped.
2. One more, at the step after the one found, which is where a check that looks at a single step gives itself away;
   where that is known, in the middle of the longest stretch that nobody has looked at. So at most
   ``ceil(log2(n)) + 2`` in all.
3. Where checks are cheap, all other steps (``sweep``). Then there is nothing left to be taken on trust.

As soon as any answer contradicts another (good after bad), there is no first bad step to be named: all steps are
looked at, and all `Turn`s are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Literal

import msgspec

Verdict = Literal["good", "bad", "skip"]

Kind = Literal["found", "unsure", "holds", "not_monotonic", "open"]


class Turn(msgspec.Struct, frozen=True):
    """Between the steps ``after`` and ``step`` the verdict turns to ``verdict``; 0 is before the first step.

    Steps between the two were skipped or not looked at; where every step was, ``after`` is ``step - 1``.
    """

    after: int
    step: int
    verdict: Literal["good", "bad"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found out.

    ``kind`` is

    - ``found``: ``step`` is the first bad one;
    - ``unsure``: if there is one, it is one of the steps ``between``, of which some or all were skipped;
    - ``holds``: no step that was looked at is bad, and the last one is good;
    - ``not_monotonic``: good again after bad, see ``turns``. There is no answer, so ``step`` is ``None``;
    - ``open``: more has to be looked at; as far as is known it is one of the steps ``between``.

    ``checks`` counts those that the answer took, ``swept`` those made afterwards to see that nothing contradicts it.
    ``looked_at`` is how many of the ``steps`` have a verdict; ``skipped`` are those where the check could not tell.
    """

    kind: Kind
    steps: int
    step: int | None = None
    between: tuple[int, int] | None = None
    turns: tuple[Turn, ...] = ()
    checks: int = 0
    swept: int = 0
    looked_at: int = 0
    skipped: tuple[int, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether every step was looked at, so that the answer does not rest on the check being monotonic."""
        return self.looked_at == self.steps and self.kind != "open"


class Search:
    """Verdicts so far on ``count`` steps, and which step to look at next. It can be marked in any order.

    >>> search = Search(8)
    >>> while (step := search.next_step()) is not None:
    ...     search.mark(step, "bad" if step >= 3 else "good")
    >>> search.finding().step
    3
    """

    def __init__(self, count: int, marks: Mapping[int, Verdict] | None = None) -> None:
        self.count = count
        self.marks: dict[int, Verdict] = {}
        for step, verdict in (marks or {}).items():
            self.mark(step, verdict)

    def mark(self, step: int, verdict: Verdict) -> None:
        """Say what is known of a step; a later word on the same step takes the place of an earlier one.

        Raises `ValueError` where there is no such step.
        """
        if not 1 <= step <= self.count:
            raise ValueError(f"{step} is not one of the steps 1 to {self.count}")
        self.marks[step] = verdict

    def next_step(self) -> int | None:
        """The step to look at next; ``None`` where no further one can make the answer clearer."""
        if self.is_contradictory:
            return None
        low, high = self._bounds()
        if high is None:  # the last step first; where it was skipped, the one before it
            return next((step for step in range(self.count, low, -1) if step not in self.marks), None)
        skipped = [step for step in range(low + 1, high) if step in self.marks]
        gaps = pairwise([low, *skipped, high])
        left, right = max(gaps, key=lambda gap: (gap[1] - gap[0], gap[1]))
        return (left + right) // 2 if right - left > 1 else None

    def witness(self) -> int | None:
        """The step whose verdict says most on whether what was found is true; ``None`` where all are known."""
        high = self._bounds()[1]
        after = high + 1 if high is not None else 0
        if 1 <= after <= self.count and after not in self.marks:
            return after
        return self._middle_of_longest_gap()

    def rest(self) -> list[int]:
        """The steps that nobody has looked at."""
        return [step for step in range(1, self.count + 1) if step not in self.marks]

    @property
    def is_contradictory(self) -> bool:
        """Whether a step is good after one that is bad."""
        bad = [step for step, verdict in self.marks.items() if verdict == "bad"]
        return bool(bad) and any(v == "good" and step > min(bad) for step, v in self.marks.items())

    def turns(self) -> tuple[Turn, ...]:
        """Where the verdicts turn, as far as they are known."""
        found: list[Turn] = []
        after, last = 0, "good"
        for step, verdict in sorted(self.marks.items()):
            if verdict == "skip":
                continue
            if verdict != last:
                found.append(Turn(after, step, verdict))
            after, last = step, verdict
        return tuple(found)

    def finding(self, *, checks: int = 0, swept: int = 0) -> Finding:
        """What is known by now."""
        low, high = self._bounds()
        turns = self.turns()
        kind: Kind
        if self.is_contradictory:
            kind, high, between = "not_monotonic", None, None
        elif self.next_step() is not None:
            kind, between, high = "open", (low + 1, high or self.count), None
        elif (high or self.count + 1) - low > 1:
            kind, between, high = "unsure", (low + 1, high or self.count), None
        elif high is None:
            kind, between = "holds", None
        else:
            kind, between = "found", None
        return Finding(
            kind=kind,
            steps=self.count,
            step=high,
            between=between,
            turns=turns,
            checks=checks,
            swept=swept,
            looked_at=len(self.marks),
            skipped=tuple(sorted(step for step, verdict in self.marks.items() if verdict == "skip")),
        )

    def _bounds(self) -> tuple[int, int | None]:
        """The last good step, 0 where none is known, and the first bad one."""
        good = max((step for step, verdict in self.marks.items() if verdict == "good"), default=0)
        bad = min((step for step, verdict in self.marks.items() if verdict == "bad"), default=None)
        return good, bad

    def _middle_of_longest_gap(self) -> int | None:
        known = [0, *sorted(self.marks), self.count + 1]
        left, right = max(pairwise(known), key=lambda gap: gap[1] - gap[0])
        return (left + right) // 2 if right - left > 1 else None


def bisect(count: int, check: Callable[[int], Verdict], *, sweep: bool = True) -> Finding:
    """Find the first of ``count`` steps at which ``check`` is bad.

    ``sweep`` looks at all other steps afterwards, for checks that are cheap. Without it one step more is looked at,
    and the answer is right if the check is monotonic. A contradiction that is noticed always leads to all steps
    being looked at. What ``check`` raises is not caught.

    >>> bisect(200, lambda step: "bad" if step >= 150 else "good", sweep=False).step
    150
    >>> [turn.step for turn in bisect(200, lambda step: "bad" if step == 150 else "good").turns]
    [150, 151]
    """
    search = Search(count)
    checks = 0
    while (step := search.next_step()) is not None:
        search.mark(step, check(step))
        checks += 1
    witness = search.witness()
    if witness is not None and not sweep:
        search.mark(witness, check(witness))
        checks += 1
    rest = search.rest() if sweep or search.is_contradictory else []
    for step in rest:
        search.mark(step, check(step))
    return search.finding(checks=checks, swept=len(rest))
