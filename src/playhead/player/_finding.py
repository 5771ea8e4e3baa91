"""Which of several equal questions is meant, and what a report says of one that is not as it was recorded."""

from __future__ import annotations

from typing import Any

from playhead.boundary import Lane
from playhead.player._causes import name_causes
from playhead.player._report import Drift, Reordered, ReplayReport
from playhead.player._requests import Request
from playhead.player._slots import Slot


def find_equal(report: ReplayReport, lane: Lane, asked: Request, free: list[Slot], candidate: Slot | None) -> Slot:
    """Which of the equal questions to take where it is not at once clear that it is ``candidate``, the lane's next.

    That for which the model gave the same id, in this lane or in another; else the lane's own first, then a sibling's.
    """
    own = [slot for slot in free if slot.lane == lane.name]
    named = [slot for slot in (*own, *free) if asked.call_id is not None and slot.request.call_id == asked.call_id]
    slot = (named or own or free)[0]
    if slot is candidate:
        return slot
    if not own and not named and len(free) > 1:
        report.ambiguous.append(
            f"{asked.boundary} {asked.name} in lane {lane.name}: {len(free)} equal questions are recorded in other "
            f"lanes and nothing tells them apart; {slot.place} was taken"
        )
    if slot.lane != lane.name:
        slot.given_to = lane.name
    report.reordered.append(
        Reordered(seq=slot.seq, step=slot.step, lane=lane.name, recorded_lane=slot.lane, name=asked.name)
    )
    return slot


def note_drift(report: ReplayReport, lane: Lane, slot: Slot, asked: Request, found: tuple[Any, ...]) -> None:
    """Keep in ``report`` how the question differs from the recorded one that it was taken for."""
    if found:
        report.drift.append(
            Drift(
                seq=slot.seq,
                step=slot.step,
                lane=lane.name,
                boundary=asked.boundary,
                name=asked.name,
                differences=found,
                causes=name_causes(found, slot.request.content),
            )
        )
