"""What became of the recordings of a suite: held, drifted, changed, or not played at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from playhead.errors import PlayheadError
from playhead.eventlog import Recording, counted, printable, shown_path
from playhead.events import RunFinished
from playhead.player import Difference, ReplayReport, differences, tree_without_keys
from playhead.suite._fixtures import Fixture
from playhead.suite._settings import Match

Outcome = Literal["held", "drifted", "changed", "broken"]
"""``drifted``: it held in loose, in other words. ``broken``: it could not be played, so nothing is known."""

_SHOWN = 5


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is not as it was recorded, at a ``step`` where it has one.

    ``kind`` is that of the divergence, ``unplayed``, ``outcome``, ``result``, or the slug of an error.
    """

    kind: str
    message: str
    step: int | None = None
    where: str | None = None
    """The line of the agent's own code."""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of one recording.

    ``problems`` are what it fails by; ``drift`` is what was forgiven, in words. ``output`` is what the program printed
    last, masked, where it failed.
    """

    name: str
    path: str
    match: Match
    outcome: Outcome
    took_ns: int
    run: str = ""
    steps: int = 0
    problems: tuple[Problem, ...] = ()
    drift: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    output: str = ""
    next: str = ""

    @property
    def ok(self) -> bool:
        """Whether it passes."""
        return self.outcome in ("held", "drifted")


class Summary(msgspec.Struct, frozen=True):
    """All results of a suite, by name."""

    folder: str
    results: tuple[Result, ...]
    took_ns: int

    def count(self, outcome: Outcome) -> int:
        """How many came out so."""
        return sum(each.outcome == outcome for each in self.results)

    @property
    def ok(self) -> bool:
        """Whether all pass."""
        return all(each.ok for each in self.results)

    @property
    def exit_code(self) -> int:
        """0 where all pass, 1 where one has changed, 3 where none has but one could not be played."""
        return 0 if self.ok else 1 if self.count("changed") else 3

    def __str__(self) -> str:
        named = [("held", "held"), ("drifted", "drifted"), ("changed", "changed"), ("broken", "could not be played")]
        counts = [f"{self.count(outcome)} {word}" for outcome, word in named if self.count(outcome)]  # type: ignore[arg-type]
        return f"{counted(len(self.results), 'recording')}: {', '.join(counts)}"


def failed_result(fixture: Fixture, error: PlayheadError, *, output: str = "", took_ns: int = 0) -> Result:
    """The result of a recording that could not be played."""
    return Result(
        name=fixture.name,
        path=shown_path(fixture.path),
        match=fixture.match,
        outcome="broken",
        took_ns=took_ns,
        problems=(Problem(error.slug, error.message),),
        output=output,
        next=error.next or "",
    )


def judge_replay(
    fixture: Fixture,
    recording: Recording,
    report: ReplayReport,
    *,
    where: str | None,
    runs: Sequence[Any],
    ended: str,
    output: str,
    took_ns: int,
) -> Result:
    """The result of a replay.

    What was recorded and is not asked any more fails it in loose as well, and so does another outcome of the run. A
    result with other content fails it in strict. ``runs`` are the runs within, as they ended; ``ended`` says how the
    process did.
    """
    problems = [*_divergence(report, where), *_unplayed(report)]
    drift = list(_drift(report))
    if not problems:
        found, changed = _ending(recording, runs, ended)
        problems += found
        texts = [f"the result at {each.path or '/'}: {each.words()}" for each in changed[:_SHOWN]]
        if changed and fixture.match == "strict":
            problems.append(Problem("result", "\n".join(["the run gives another result:", *texts])))
        else:
            drift += texts
    steps = [problem.step for problem in problems if problem.step is not None]
    path = shown_path(fixture.path)
    return Result(
        name=fixture.name,
        path=path,
        match=fixture.match,
        outcome="changed" if problems else "drifted" if drift else "held",
        took_ns=took_ns,
        run=recording.id,
        steps=report.steps,
        problems=tuple(problems),
        drift=tuple(drift),
        warnings=tuple(report.warnings),
        output=output if problems else "",
        next=f"playhead show {path}" + (f"#{steps[0]}" if steps else "") if problems else "",
    )


def _divergence(report: ReplayReport, where: str | None) -> Iterator[Problem]:
    found = report.divergence
    if found is not None and found.kind != "unplayed":
        yield Problem(found.kind, found.message, found.step, where)
    for child in report.children:
        if not child.report.ok and found is None:
            yield from _divergence(child.report, None)


def _unplayed(report: ReplayReport) -> Iterator[Problem]:
    """What was never asked for; after a divergence that says nothing."""
    if report.divergence is not None and report.divergence.kind != "unplayed":
        return
    for each in report.unplayed:
        place = f"step {each.step}" if each.step is not None else f"event {each.seq}"
        text = f"never asked: {place}, {each.boundary} {each.name} in lane {each.lane}"
        yield Problem("unplayed", text, each.step)
    if report.divergence is not None and not report.unplayed:
        yield Problem("unplayed", report.divergence.message, report.divergence.step)


def _drift(report: ReplayReport) -> Iterator[str]:
    for drift in report.drift:
        place = f"step {drift.step}" if drift.step is not None else f"event {drift.seq}"
        for each in drift.differences[:_SHOWN]:
            yield f"{place} ({drift.name}) at {each.path or '/'}: {each.words()}"
        if len(drift.differences) > _SHOWN:
            yield f"{place} ({drift.name}): {len(drift.differences) - _SHOWN} more"


def _ending(recording: Recording, runs: Sequence[Any], ended: str) -> tuple[list[Problem], list[Difference]]:
    """How the run ended otherwise than recorded, and what its result has in another form."""
    finished, started = recording.finished, recording.started
    if finished is None or started is None:
        return [], []
    now = next((run for run in runs if isinstance(run, dict)), None)
    if not started.entry.is_command and now is not None:
        outcome = str(now.get("outcome", "success"))
        if outcome != finished.outcome:
            return [Problem("outcome", _outcomes(finished, outcome, now.get("reason")))], []
        return [], _results(finished.result, now.get("result"))
    then = finished.process_end
    if started.entry.is_command and ended != then:
        return [Problem("outcome", f"the program ended with {ended} now, with {then} when recorded")], []
    return [], _results(finished.result, now.get("result")) if now is not None else []


def _outcomes(finished: RunFinished, outcome: str, reason: Any) -> str:
    now = f"{outcome} ({printable(str(reason))})" if reason else outcome
    then = f"{finished.outcome} ({printable(finished.reason)})" if finished.reason else finished.outcome
    return f"the run ended as {now} now, as {then} when recorded"


def _results(recorded: Any, now: Any) -> list[Difference]:
    found = differences(tree_without_keys(recorded), tree_without_keys(now))
    return [each for each in found if not each.renaming]
