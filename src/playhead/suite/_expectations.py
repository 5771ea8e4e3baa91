"""Whether the present code does what people said it should have done, at the steps where it had not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from playhead.eventlog import Recording
from playhead.player import Asked, ReplayReport
from playhead.suite._annotations import Annotation
from playhead.suite._rules import Rule

Verdict = Literal["held", "failed", "open"]
"""``open``: this cannot be told from a replay."""

Fixed = Literal["fixed", "not fixed", "open", "broken"]


class Judged(msgspec.Struct, frozen=True):
    """An expectation, whether it holds now, and why."""

    rule: str
    verdict: Verdict
    why: str


class Scored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An annotation of a recording and whether the failure is ``fixed``: nothing failed, and something held."""

    name: str
    run: str
    number: int
    wrong: str
    fixed: Fixed
    step: int | None = None
    failure_class: str = ""
    expectations: tuple[Judged, ...] = ()
    why: str = ""


class Score(msgspec.Struct, frozen=True):
    """All annotations of a suite."""

    folder: str
    scored: tuple[Scored, ...]
    took_ns: int

    def count(self, fixed: Fixed) -> int:
        """How many came out so."""
        return sum(each.fixed == fixed for each in self.scored)

    @property
    def exit_code(self) -> int:
        """0 where all that can be told is fixed, 1 where something is not or nothing can be told, 3 where one broke."""
        if self.count("not fixed") or not (self.count("fixed") or self.count("broken")):
            return 1
        return 3 if self.count("broken") else 0

    def by_class(self) -> dict[str, dict[str, int]]:
        """How many of each class of failures are fixed, and how many not."""
        found: dict[str, dict[str, int]] = {}
        for each in self.scored:
            row = found.setdefault(each.failure_class or "unnamed", {})
            row[each.fixed] = row.get(each.fixed, 0) + 1
        return dict(sorted(found.items()))

    def __str__(self) -> str:
        named: list[Fixed] = ["fixed", "not fixed", "open", "broken"]
        counts = [f"{self.count(each)} {each}" for each in named if self.count(each)]
        return f"{len(self.scored)} annotated: {', '.join(counts)}"


def judge_annotation(
    name: str,
    recording: Recording,
    annotation: Annotation,
    report: ReplayReport,
    asked: Sequence[Asked],
    runs: Sequence[Any],
) -> Scored:
    """Judge an annotation by what a loose replay of the present code ``asked``.

    What counts is what the program asks in the place of the annotated step: at the step itself, or instead of it. That
    the replay diverges there is no fault: it may be the improvement.
    """
    place = _Place(recording, annotation.step, report, asked, runs)
    judged = tuple(place.judge(rule, annotation.rules) for rule in annotation.rules)
    verdicts = {each.verdict for each in judged}
    fixed: Fixed = "not fixed" if "failed" in verdicts else "fixed" if "held" in verdicts else "open"
    return Scored(
        name=name,
        run=recording.id,
        number=annotation.number,
        wrong=annotation.wrong,
        fixed=fixed,
        step=annotation.step,
        failure_class=annotation.failure_class or _class_of(recording),
        expectations=judged,
    )


class _Place:
    """What is asked now in the place of a step; in that of the whole run where there is no step."""

    def __init__(
        self, recording: Recording, step: int | None, report: ReplayReport, asked: Sequence[Asked], runs: Sequence[Any]
    ) -> None:
        self._exchange = recording.step(step) if step is not None else None
        self._runs = runs
        self._report = report
        self.unreached = ""
        self.items = list(asked) if self._exchange is None else list(self._around(recording, asked))

    def _around(self, recording: Recording, asked: Sequence[Asked]) -> Iterator[Asked]:
        assert self._exchange is not None
        question = self._exchange.question
        before = [each.seq for each in recording.questions if each.lane == question.lane and each.seq < question.seq]
        lane = [each for each in asked if each.lane == question.lane]
        answered = {each.seq for each in lane}
        if before and before[-1] not in answered:
            self.unreached = "the replay diverged before it came to this step"
            return
        start = max((at for at, each in enumerate(lane, start=1) if each.seq in before), default=0)
        seen = False
        for each in lane[start:]:
            beyond = each.seq is not None and each.seq > question.seq
            if beyond and seen:
                return
            yield each
            seen = seen or each.seq == question.seq
            if beyond:
                return

    @property
    def calls(self) -> list[Asked]:
        """The tools that are called there."""
        return [each for each in self.items if each.boundary == "tool"]

    def judge(self, rule: Rule, rules: Sequence[Rule]) -> Judged:
        """Whether a rule holds; ``rules`` are all that were said with it."""
        if self.unreached:
            return Judged(rule.text, "open", self.unreached)
        match rule.kind:
            case "tool":
                return self._tool(rule)
            case "no-tool":
                called = any(each.name == rule.name for each in self.calls)
                return Judged(rule.text, "failed" if called else "held", f"it calls {self._called()}")
            case "argument":
                return self._argument(rule, [each.name for each in rules if each.kind == "tool"])
            case "answer" | "no-answer":
                return self._answer(rule)
            case _:
                return Judged(rule.text, "open", "this is for a person to judge")

    def _called(self) -> str:
        return ", ".join(each.name for each in self.calls) or "no tool there"

    def _tool(self, rule: Rule) -> Judged:
        if any(each.name == rule.name for each in self.calls):
            return Judged(rule.text, "held", f"it calls {self._called()}")
        asks_model = [each for each in self.items if each.boundary == "model" and each.seq is None]
        if asks_model and not self.calls:
            return Judged(
                rule.text, "open", "it asks the model something new there, which only a live model can answer"
            )
        return Judged(rule.text, "failed", f"it calls {self._called()}")

    def _argument(self, rule: Rule, expected: list[str]) -> Judged:
        names = expected or ([str(getattr(self._exchange.question.body, "name", ""))] if self._exchange else [])
        calls = [each for each in self.calls if not names or each.name in names]
        if not calls:
            return Judged(rule.text, "failed", f"there is no such call: it calls {self._called()}")
        for each in calls:
            there, found = _argument(each.content, rule.name)
            if not there or not rule.holds_for(found):
                said = repr(found) if there else "not given"
                return Judged(rule.text, "failed", f"{each.name} is called with {rule.name} {said}")
        return Judged(rule.text, "held", f"it calls {self._called()}")

    def _answer(self, rule: Rule) -> Judged:
        if self._exchange is not None and self._exchange.question.kind == "model.requested":
            why = "a replay has the recorded answer of the model; fork before this step to ask a live one"
            return Judged(rule.text, "open", why)
        result = next((run.get("result") for run in self._runs if isinstance(run, dict)), None)
        if result is None:
            return Judged(rule.text, "open", "the run gives no result: it did not come to its end")
        holds = rule.holds_for(result) is (rule.kind == "answer")
        return Judged(rule.text, "held" if holds else "failed", "by the result of the run")


def _argument(content: Any, name: str) -> tuple[bool, Any]:
    """Whether a call has an argument, and what it is; dots lead into it."""
    for key in name.split("."):
        if not isinstance(content, dict) or key not in content:
            return False, None
        content = content[key]
    return True, content


def _class_of(recording: Recording) -> str:
    finished = recording.finished
    return (finished.reason or finished.outcome) if finished is not None else "aborted"
