"""``playhead.here``: where a replay is stopped, for use at a debugger's prompt."""

from __future__ import annotations

from typing import Any

import msgspec

from playhead.boundary import Raised, Returned
from playhead.errors import MissingTypeError, NotStoppedError
from playhead.eventlog import Exchange, Recording, counted, printable
from playhead.player import Stop, current_stop, outcome_of, request_of_event


class ToolReturn(msgspec.Struct, frozen=True):
    """What a tool gave at ``step``: the ``value``, or the ``error`` that it raised."""

    step: int
    tool: str
    value: Any = None
    error: BaseException | None = None


def last_returns(recording: Recording, step: int) -> list[ToolReturn]:
    """The tool returns that came last before ``step``: of the calls since the model was asked before them."""
    found: list[ToolReturn] = []
    for exchange in reversed(recording.steps[: step - 1]):
        if exchange.question.kind == "tool.called":
            found.append(_return_of(exchange))
        elif found:
            break
    return found[::-1]


def _return_of(exchange: Exchange) -> ToolReturn:
    step, name = exchange.step or 0, getattr(exchange.question.body, "name", "?")
    value, error = answered(exchange)
    return ToolReturn(step, name, value, error)


def answered(exchange: Exchange) -> tuple[Any, BaseException | None]:
    """What the recording answers: the value that the program is given, and the error that is raised in its place."""
    answer = exchange.answer
    if answer is None:
        return None, None
    body: Any = answer.body
    if getattr(body, "status", None) is not None:
        return body.content, None
    try:
        outcome = outcome_of(answer)
    except MissingTypeError:
        return getattr(body, "value", None), None
    if isinstance(outcome, Raised):
        return None, outcome.error
    return (outcome.value if isinstance(outcome, Returned) else list(outcome.items)), None


class Here:
    """Where the replay of this process is stopped. Everywhere else each of these raises `NotStoppedError`.

    >>> import playhead
    >>> playhead.here
    <no replay is stopped here>
    """

    def _stop(self) -> Stop:
        stop = current_stop()
        if stop is None:
            raise NotStoppedError(
                "playhead.here is known only while a replay is stopped at a step",
                next="playhead replay RUN --break STEP",
            )
        return stop

    @property
    def step(self) -> int:
        """The step that is answered next."""
        return self._stop().step

    @property
    def run(self) -> str:
        """The run's id."""
        return self._stop().recording.id

    @property
    def lane(self) -> str:
        """The lane in which the step was asked for."""
        return self._stop().lane

    @property
    def recording(self) -> Recording:
        """The recording that the replay is answered from."""
        return self._stop().recording

    @property
    def exchange(self) -> Exchange:
        """The recorded exchange of the step: its question and its answer, as events."""
        stop = self._stop()
        return stop.recording.step(stop.step)

    @property
    def asked(self) -> Any:
        """What is asked: a tool's arguments, or the request to the model."""
        return request_of_event(self.exchange.question).content

    @property
    def answer(self) -> Any:
        """What the recording answers: the value that the program will be given, or the error that will be raised."""
        value, error = answered(self.exchange)
        return value if error is None else error

    @property
    def context(self) -> Any:
        """The full request that the model sees at this step or, for a tool's, saw last before it."""
        stop = self._stop()
        return stop.recording.context(stop.step)

    @property
    def returns(self) -> list[ToolReturn]:
        """The tool returns that came last before this step."""
        stop = self._stop()
        return last_returns(stop.recording, stop.step)

    @property
    def state(self) -> Any:
        """The state that the agent kept last before this step; ``None`` where it kept none."""
        stop = self._stop()
        return stop.recording.state(stop.step)

    def __repr__(self) -> str:
        stop = current_stop()
        if stop is None:
            return "<no replay is stopped here>"
        request = request_of_event(self.exchange.question)
        given = [f"{each.tool} (step {each.step})" for each in self.returns]
        amount = counted(len(stop.recording.steps), "step")
        lines = [
            f"<step {stop.step} of {amount} of {printable(stop.recording.id)}, lane {printable(stop.lane)}>",
            f"  asked:    {printable(request.name)} {_brief(request.content)}",
            f"  answer:   {_brief(self.answer)}",
            f"  returns:  {', '.join(map(printable, given)) or 'none yet'}",
            f"  state:    {_brief(self.state)}",
        ]
        return "\n".join(lines)


def _brief(value: Any) -> str:
    import reprlib

    short = reprlib.Repr()
    short.maxstring = short.maxother = 120
    short.maxlevel = 3
    return printable(short.repr(value))


here = Here()
"""Where the replay is stopped."""
