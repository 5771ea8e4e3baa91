"""Checks that are programs of any language: each gets the recording up to a step and says by its exit code."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from playhead._system import ENVIRONMENT
from playhead.bisection._checks import GOOD, Check, Judgement, check_failed
from playhead.bisection._prefixes import Prefix
from playhead.errors import ProgramNotStartedError
from playhead.eventlog import printable
from playhead.events import ErasedBody
from playhead.player import request_of_event

SKIP = 125


def command_check(command: Sequence[str], *, variables: Mapping[str, str] | None = None) -> Check:
    """A check that runs ``command``, as ``git bisect run`` does.

    On its standard input stands `prefix_as_data` as JSON; ``PLAYHEAD_RUN`` and ``PLAYHEAD_STEP`` say which prefix it
    is. Exit code 0 is good, 1 to 124 bad, 125 skip; any other (126 and 127, with which a shell says that it found
    nothing to run, and signals) is `CheckFailedError`. What it prints goes to standard error.
    """

    def check(prefix: Prefix) -> Judgement:
        run = prefix.recording.id
        said = {"PLAYHEAD_RUN": run, "PLAYHEAD_STEP": str(prefix.step)}
        with tempfile.TemporaryFile() as content:
            content.write(msgspec.json.encode(prefix_as_data(prefix), enc_hook=str))
            content.seek(0)
            try:
                done = subprocess.run(
                    list(command),
                    stdin=content,
                    stdout=sys.stderr.fileno(),
                    env={**ENVIRONMENT, **(variables or {}), **said},
                    check=False,
                )
            except OSError as error:
                raise ProgramNotStartedError(
                    f"{printable(command[0])} cannot be started: {error.strerror}",
                    next=f"playhead bisect {printable(run)} -- PROGRAM",
                ) from error
        return _judge(done.returncode, command, prefix)

    return check


def _judge(code: int, command: Sequence[str], prefix: Prefix) -> Judgement:
    if code == 0:
        return GOOD
    if code == SKIP:
        return Judgement("skip", f"exit code {code}")
    if 1 <= code < SKIP:
        return Judgement("bad", f"exit code {code}")
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    raise check_failed(" ".join(command), prefix, f"it ended by {ended}; 0 is good, 1 to 124 bad, 125 skip")


def prefix_as_data(prefix: Prefix) -> dict[str, Any]:
    """A prefix as JSON: what was asked and answered at each step, the context that the model saw, state, usage."""
    spent = prefix.spent
    return {
        "run": prefix.recording.id,
        "kind": prefix.recording.kind,
        "task": prefix.recording.task,
        "step": prefix.step,
        "steps": [_step_as_data(each) for each in prefix.steps],
        "context": prefix.context,
        "state": prefix.state_tree,
        "usage": {
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "uncounted": spent.uncounted,
            "usd": spent.usd if not spent.unpriced else None,
        },
    }


def _step_as_data(prefix: Prefix) -> dict[str, Any]:
    """A step; of a model the request is left out, which is the context and stands there once."""
    question, answer = prefix.exchange.question, prefix.exchange.answer
    data: dict[str, Any] = {"step": prefix.step, "kind": prefix.kind, "name": prefix.name, "lane": question.lane}
    if prefix.kind == "tool" and not isinstance(question.body, ErasedBody):
        data["arguments"] = request_of_event(question).content
    if prefix.tool_calls:
        data["tool_calls"] = prefix.tool_calls
    body: Any = answer.body if answer is not None else None
    if not prefix.over_wire:
        data["value"] = prefix.answer_tree
    for name in ("status", "error"):
        if getattr(body, name, None) is not None:
            data[name] = getattr(body, name)
    return {**data, "text": prefix.text, "answered": answer is not None, "failed": prefix.failed}
