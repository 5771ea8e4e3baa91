"""Checks: what says of a recording up to a step whether it is still as it should be."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from playhead.bisection._prefixes import Prefix, Prefixes
from playhead.bisection._search import Finding, Verdict, bisect
from playhead.errors import CheckFailedError
from playhead.eventlog import Recording, printable


class Judgement(msgspec.Struct, frozen=True):
    """What a check says of a prefix, and why."""

    verdict: Verdict
    why: str = ""


Check = Callable[[Prefix], Judgement]

GOOD = Judgement("good")


class Bisected(msgspec.Struct, frozen=True):
    """A finding on a recording; ``why`` is what the check said at the step found, at `Turn`s to bad and at skips."""

    run: str
    finding: Finding
    why: dict[int, str]


def bisect_recording(recording: Recording, check: Check, *, sweep: bool = True) -> Bisected:
    """Find the first step of a recording at which ``check`` is bad, without running anything of the agent.

    ``sweep`` says whether all steps are looked at in the end; see `bisect`. Raises what ``check`` raises.

    >>> import playhead
    >>> shout = playhead.tool(lambda word: word.upper(), name="shout")
    >>> with playhead.record(kind="example", store=str(tmp)) as run:
    ...     said = [shout(word) for word in ("tea", "salt", "tea")]
    >>> check = check_of(lambda prefix: "SALT" not in prefix.text, name="no salt")
    >>> bisect_recording(playhead.load(run.id, store=str(tmp)), held_so_far(check)).finding.step
    2
    """
    prefixes = Prefixes(recording)
    why: dict[int, str] = {}

    def judge(step: int) -> Verdict:
        said = check(prefixes.up_to(step))
        if said.verdict != "good":
            why[step] = said.why
        return said.verdict

    finding = bisect(len(prefixes), judge, sweep=sweep)
    shown = [finding.step, *(turn.step for turn in finding.turns), *finding.skipped]
    return Bisected(recording.id, finding, {step: why[step] for step in shown if step in why})


def check_of(function: Callable[[Prefix], Any], *, name: str) -> Check:
    """A check from a function of one's own.

    It is good where the function returns ``True`` or, as a test does, nothing; bad where it returns ``False`` or
    raises `AssertionError`. It may also say ``"good"``, ``"bad"`` or ``"skip"`` by name. Anything else that it
    returns or raises is `CheckFailedError`: a check that is broken itself says nothing of the run.
    """

    def check(prefix: Prefix) -> Judgement:
        try:
            said = function(prefix)
        except AssertionError as error:
            return Judgement("bad", str(error))
        except Exception as error:
            why = f"it raised {type(error).__name__}: {error}"
            raise check_failed(name, prefix, why) from error
        if said is None or said is True or said == "good":
            return GOOD
        if said is False or said == "bad":
            return Judgement("bad")
        if said == "skip":
            return Judgement("skip")
        if inspect.isawaitable(said):
            getattr(said, "close", lambda: None)()
            raise check_failed(name, prefix, "it is asynchronous; a check is a plain function")
        raise check_failed(name, prefix, f"it returned {said!r}, not True, False or nothing")

    return check


def check_failed(name: str, prefix: Prefix, why: str) -> CheckFailedError:
    """The error for a check that could not say anything of a prefix."""
    run, step = printable(prefix.recording.id), prefix.step
    return CheckFailedError(
        f"the check {printable(name)} cannot say anything of step {step}: {printable(why, limit=600)}",
        next=f"playhead show {run}#{step}",
        facts={"check": name, "run": run, "step": step},
    )


def held_so_far(check: Check) -> Check:
    """Whether ``check`` was good at every step up to here: makes a check of single steps one that stays bad.

    Each step is checked once. One where it could not tell leaves it undecided from there on, unless it is bad later.
    """
    said: list[Judgement] = []
    of: list[Recording] = []

    def held(prefix: Prefix) -> Judgement:
        if of[:1] != [prefix.recording]:
            of[:], said[:] = [prefix.recording], []
        known = said[-1] if said else GOOD
        while len(said) < prefix.step and known.verdict != "bad":
            now = check(prefix.steps[len(said)])
            known = known if now.verdict == "good" else now
            said.append(known)
        return said[min(prefix.step, len(said)) - 1]

    return held


def all_of(checks: Sequence[Check]) -> Check:
    """Good where all are; bad with the first one that is."""

    def check(prefix: Prefix) -> Judgement:
        known = GOOD
        for each in checks:
            said = each(prefix)
            if said.verdict == "bad":
                return said
            known = said if said.verdict == "skip" else known
        return known

    return check
