"""A check that looks at the agent itself: a replay is stopped at a step, and an expression is evaluated there."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from playhead._program import Match, Stopping, replay_program
from playhead.bisection import Check, Judgement, Prefix, check_failed
from playhead.cli._driving import Driven
from playhead.errors import UsageError
from playhead.eventlog import printable

_GRACE_S: Final = 60.0
_SIGN: Final = "playhead-check"


def live_check(expression: str, store: Path, *, match: Match = "strict") -> Check:
    """Whether ``expression`` is true in the frame of the agent that asks for a step, before the step is answered.

    Each check replays the program in a process of its own up to there. A name that is not known there says nothing
    (skip); a failed assertion in what is called is bad; anything else that is raised is `CheckFailedError`, as is a
    replay that does not come to the step.
    """
    try:
        compile(expression, "--live", "eval")
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f"{printable(expression)!r} is no expression: {error}", next="playhead bisect RUN --live 'balance >= 0'"
        ) from None

    def check(prefix: Prefix) -> Judgement:
        said = _evaluate(f"({_SIGN!r}, bool({expression}))", prefix, store, match)
        if said in (f"({_SIGN!r}, True)", f"({_SIGN!r}, False)"):
            return Judgement(
                "good" if said.endswith("True)") else "bad", "" if said.endswith("True)") else "it is false"
            )
        if said.startswith(("NameError:", "UnboundLocalError:")):
            return Judgement("skip", said)
        if said.startswith("AssertionError"):
            return Judgement("bad", said)
        raise check_failed(expression, prefix, f"it raised {said}")

    return check


def _evaluate(text: str, prefix: Prefix, store: Path, match: Match) -> str:
    """What the value of an expression is in the agent stopped at the last step of ``prefix``."""
    said: list[str] = []
    with Driven(lambda data: None) as driven:

        def meanwhile() -> None:
            stopped = driven.begin()
            if stopped is not None and stopped.stopped == prefix.step:
                said.extend(driven.ask("print", text))
            driven.leave()

        replay_program(
            prefix.recording,
            store,
            match=match,
            stdin=subprocess.DEVNULL,
            stdout=driven.printer,
            stderr=driven.printer,
            limit_s=_GRACE_S,
            meanwhile=meanwhile,
            stopping=Stopping(breaks=(prefix.step,), control=driven.control),
        )
    if not said:
        raise check_failed(
            "--live", prefix, f"the replay did not come to it: playhead replay {prefix.recording.id} says why"
        )
    return "\n".join(said)
