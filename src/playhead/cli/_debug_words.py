"""What a session of `playhead debug` tells of a step from the recording alone."""

from __future__ import annotations

from typing import Any, Final

import click

from playhead._here import last_returns
from playhead.cli._step import print_context
from playhead.cli._timeline import describe_question
from playhead.eventlog import Recording, printable
from playhead.events import decode
from playhead.player import differences, request_of_event

HELP: Final = """\
next [N]       on to the next step, or N steps on          (n)
back [N]       to the step before, or N steps back         (b)
goto N         to just before step N; `goto end`           (g)
context        what the model sees at this step
returns        what the tools gave last
state          the state that the agent kept last
show [N]       this step, or step N, with its answer
why            what led to this step
diff N M       what differs between two steps
print EXPR     the value of an expression in the agent     (p)
locals         the variables of the agent's function       (l)
where          the lines of the agent that led here        (w)
edit OPTIONS   a new recording with another answer here: `playhead edit`
fork OPTIONS   a run that goes live from here: `playhead fork`
quit           (q)"""

_WIDE: Final = 110


def describe_step(recording: Recording, step: int) -> str:
    """A step in one line: what is asked, and not yet what is answered."""
    question = recording.step(step).question
    kind, name, said = describe_question(question, _WIDE)
    where = "" if question.lane == "main" else f" [{printable(question.lane)}]"
    return f"step {step} of {len(recording.steps)} {kind} {name} {said}".rstrip() + where


def print_step_context(recording: Recording, step: int) -> None:
    """The request that the model sees at a step, or saw last before it."""
    if recording.context(step) is None:
        click.echo("no model was asked before this step")
    print_context(recording, recording.step(step))


def print_returns(recording: Recording, step: int) -> None:
    """The tool returns that came last before a step."""
    found = last_returns(recording, step)
    for each in found:
        given = repr(each.value) if each.error is None else f"raised {each.error!r}"
        click.echo(printable(f"step {each.step} {each.tool}: {given}", limit=4000))
    if not found:
        click.echo("no tool has returned before this step")


def print_state(recording: Recording, step: int) -> None:
    """The state as of a step."""
    kept = decode(recording.state_tree(step), missing="opaque")
    click.echo("no state was kept before this step" if kept is None else printable(repr(kept), limit=100_000))


def print_why(recording: Recording, step: int) -> None:
    """The chain that led to a step."""
    from playhead.causality import read_graph
    from playhead.cli._tracing import Teller

    graph = read_graph(recording)
    for line in Teller(recording, graph).tree(recording.step(step).question.seq, forward=False):
        click.echo(line)


def print_difference(recording: Recording, one: int, other: int) -> None:
    """Where the questions and answers of two steps differ."""
    before, after = recording.step(one), recording.step(other)
    questions = [request_of_event(each.question) for each in (before, after)]
    if (questions[0].boundary, questions[0].name) != (questions[1].boundary, questions[1].name):
        names = [printable(f"{each.boundary} {each.name}") for each in questions]
        click.echo(f"step {one} is {names[0]}, step {other} is {names[1]}")
    found = [("asked", questions[0].content, questions[1].content), ("answered", _answer(before), _answer(after))]
    is_equal = True
    for what, old, new in found:
        for each in differences(old, new):
            is_equal = False
            click.echo(printable(f"{what} {each.path or '/'}: {each.words()}", limit=4000))
    if is_equal:
        click.echo("the same was asked and answered")


def _answer(exchange: Any) -> Any:
    body: Any = exchange.answer.body if exchange.answer is not None else None
    for name in ("content", "items", "value", "error"):
        found = getattr(body, name, None)
        if found is not None:
            return found
    return None
