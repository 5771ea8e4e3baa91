"""The beginning of a recording, copied into that of a fork."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from playhead.errors import UsageError
from playhead.eventlog import LogWriter, Recording, printable
from playhead.events import Event, ModelRequested
from playhead.masking import Masker
from playhead.recorder import Copyist


def find_point(recording: Recording, step: int) -> int:
    """The event with which the answer of a step came; the run's beginning for step 0.

    Raises `UsageError` where there is no such step, or it has no answer.
    """
    if step == 0:
        return 0
    answer = recording.step(step).answer
    if answer is None:
        raise UsageError(
            f"step {step} of {printable(recording.id)} has no answer to go on from",
            next=f"playhead fork {printable(recording.id)} --at {step - 1}",
        )
    return answer.seq


def copy_prefix(
    recording: Recording, last: int, log: LogWriter, masker: Masker, *, now_ns: int, asked: Mapping[int, Any]
) -> list[str]:
    """Write the events up to ``last`` after the beginning that ``log`` has; the lanes that they opened are given.

    They keep their distances in time, and end ``now_ns``. A question without an answer is not written: it is asked
    again. ``asked`` is what was asked otherwise than recorded.
    """
    events = recording.events
    copyist = Copyist(log, masker)
    shift = now_ns - events[last].mono_ns
    answered = {event.of for event in recording.events[: last + 1] if event.of is not None}
    lanes = []
    for seq in range(last + 1):
        event = events[seq]
        if event.kind == "run.started":
            copyist.stand_for(event, 0)
        elif event.is_question and seq not in answered:
            copyist.leave_out(event)
        else:
            copyist.copy(msgspec.structs.replace(_asked(event, asked), mono_ns=event.mono_ns + shift))
            if event.kind == "lane.opened":
                lanes.append(event.lane)
    return lanes


def _asked(event: Event, asked: Mapping[int, Any]) -> Event:
    if event.seq not in asked:
        return event
    body: Any = event.body
    field = "arguments" if event.kind == "tool.called" else "request"
    more = {"form": "json"} if isinstance(body, ModelRequested) and body.form != "arguments" else {}
    return msgspec.structs.replace(event, body=msgspec.structs.replace(body, **{field: asked[event.seq]}, **more))
