"""When the events of an edited recording happen: what follows from a delayed answer comes later, all else does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from playhead.causality import read_graph
from playhead.errors import PlayheadError
from playhead.eventlog import Recording
from playhead.events import ClockRead, Event, SleepAsked, SleepEnded, decode, freeze

_FLOATS = frozenset({"time.time", "time.monotonic", "time.perf_counter"})
_WHOLE = frozenset({"time.time_ns", "time.monotonic_ns", "time.perf_counter_ns"})
_DATES = frozenset({"datetime.now", "datetime.utcnow"})
_LAST = frozenset({"run.finished", "recording.sealed"})
_NO_MANNER: dict[str, Any] = {"turns": None, "ready": 0, "after_piece": [], "piece_turns": []}


def delay_events(
    recording: Recording, delays: Mapping[int, int], events: Sequence[Event], new: Iterator[int]
) -> list[Event]:
    """The events with the answers ``delays`` (``seq`` and nanoseconds) later, in the order in which they come now.

    An event that is known to follow from a delayed answer comes so much later; one that is not keeps its time, and may
    come first now. A timer that was taken back in time, and would not be now, fires. ``new`` gives numbers to events
    that were not recorded.
    """
    if not delays:
        return list(events)
    graph = read_graph(recording)
    late = dict.fromkeys(graph.nodes, 0)
    for answer, ns in delays.items():
        for seq in graph.nodes:
            if seq >= answer and graph.reaches(answer, seq):
                late[seq] += ns
    latest = 0
    timed: list[tuple[int, int]] = []
    for at, event in enumerate(events):
        latest = max(latest, event.mono_ns)
        timed.append((latest + late.get(event.seq, 0), at))
    end = max(timed)[0]
    known = [*events, *_fired(recording, delays, new)]
    timed = [(end if events[at].kind in _LAST else due, at) for due, at in timed]
    timed += [(known[at].mono_ns, at) for at in range(len(events), len(known))]
    moved: list[Event] = []
    before: int | None = None
    for due, at in sorted(timed):
        event = known[at]
        shift = due - event.mono_ns if event.kind in _LAST else late.get(event.seq, 0)
        comes_alike = (known[at - 1].seq if at else None) == before and event.seq not in delays
        moved.append(_later(event, shift, delays.get(event.seq, 0), keep=comes_alike))
        before = event.seq
    return moved


def _fired(recording: Recording, delays: Mapping[int, int], new: Iterator[int]) -> Iterator[Event]:
    """The ends of timers that run out while a delayed answer is waited for, in its lane or in one that created it."""
    answers = [(event, ns) for seq, ns in delays.items() for event in (recording.events[seq],)]
    ended = {event.of for event in recording.of_kind("sleep.ended")}
    for asked in recording.of_kind("sleep.asked"):
        if asked.seq in ended or not isinstance(asked.body, SleepAsked):
            continue
        span = round(asked.body.seconds * 1e9)
        due = asked.mono_ns + span
        for answer, ns in answers:
            is_near = f"{answer.lane}/".startswith(f"{asked.lane}/")
            if is_near and asked.mono_ns <= answer.mono_ns < due <= answer.mono_ns + ns:
                yield Event(next(new), "sleep.ended", asked.lane, asked.at_ns + span, due, SleepEnded(), asked.seq)
                break


def _later(event: Event, shift: int, own: int, *, keep: bool) -> Event:
    body: Any = event.body
    changes: dict[str, Any] = {}
    if not keep:
        changes = {name: value for name, value in _NO_MANNER.items() if hasattr(body, name)}
        if event.is_question and changes:
            changes = {"turns": -1}
    head_after = getattr(body, "head_after", None)
    if head_after and (own or not keep):
        changes["head_after"] = [head_after[0] + own // 1000]
    if own and getattr(body, "gaps", None):
        changes["gaps"] = [body.gaps[0] + own // 1000, *body.gaps[1:]]
    if shift and isinstance(body, ClockRead):
        changes["value"] = _shifted(body, shift)
    if changes:
        body = msgspec.structs.replace(body, **changes)
    elif not shift:
        return event
    return msgspec.structs.replace(event, at_ns=event.at_ns + shift, mono_ns=event.mono_ns + shift, body=body)


def _shifted(body: ClockRead, shift: int) -> Any:
    """What a clock says so much later; what says no moment stays."""
    try:
        if body.fn in _FLOATS:
            return body.value + shift / 1e9
        if body.fn in _WHOLE:
            return body.value + shift
        if body.fn in _DATES:
            return freeze(decode(body.value) + timedelta(microseconds=shift // 1000))
    except (TypeError, OverflowError, PlayheadError):
        return body.value
    return body.value
