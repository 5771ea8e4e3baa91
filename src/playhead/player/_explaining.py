"""Making a miss understandable: where, what was asked, what is nearest to it, what exactly differs, what next."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from playhead.boundary import Lane
from playhead.eventlog import counted, printable
from playhead.player._causes import name_causes
from playhead.player._differences import Difference, differences
from playhead.player._masked import name_used
from playhead.player._report import Divergence, Unplayed
from playhead.player._requests import Request
from playhead.player._slots import Layout, Slot

_SHOWN = 12
_NEAR = 3


def explain_miss(
    layout: Layout, lane: Lane, asked: Request, candidate: Slot | None, equal: Sequence[Slot], reason: str
) -> Divergence:
    """Why no recorded exchange answers ``asked``.

    ``candidate`` is the lane's next unplayed question of this kind, ``equal`` the recorded questions that are
    equal but played already, ``reason`` what the matcher said of the candidate.
    """
    run = layout.recording.id
    place = f"{asked.boundary} {printable(asked.name)} in lane {lane.name}"
    if equal:
        times = counted(len(equal), "time")
        text = f"{place}: recorded {times} ({_places(equal)}) and asked once more now"
        text += "".join(
            f"; {slot.place}, recorded in lane {slot.lane}, went to lane {slot.given_to}"
            for slot in equal
            if slot.given_to is not None
        )
        return _divergence("again", lane, asked, equal[-1], text, run)
    near = _nearest(layout, asked, candidate)
    if not near:
        text = f"{place}: nothing like it was recorded"
        if candidate is not None:
            text += f"; the recording goes on with {printable(candidate.request.name)} at {candidate.place}"
        return _divergence("new", lane, asked, None, text, run, causes=("new call",))
    slot, found = near[0]
    causes = name_causes(found, slot.request.content)
    used = name_used(found, layout.given_answers())
    causes = (used, *causes) if used is not None else causes
    kind = "never-recorded" if _starts_differently(asked, slot, found) else "changed"
    what = "this conversation was never recorded; nearest is" if kind == "never-recorded" else "differs from"
    lines = [f"{place}: {what} {slot.place} of {run}" + (f"; {reason}" if reason else "")]
    lines += [f"  {each.path or '/'}: {printable(each.words(), limit=600)}" for each in found[:_SHOWN]]
    if len(found) > _SHOWN:
        lines.append(f"  … and {counted(len(found) - _SHOWN, 'place')} more")
    lines += [f"  cause: {printable(cause)}" for cause in causes]
    others = tuple(f"{other.place}: {counted(_weight(places), 'character')} away" for other, places in near[1:])
    return _divergence(kind, lane, asked, slot, "\n".join(lines), run, tuple(found), causes, others)


def explain_unanswered(layout: Layout, lane: Lane, asked: Request, slot: Slot) -> Divergence:
    """The question is recorded and its answer is not: the recorded run ended in between, or it was erased."""
    if slot.answer is not None:
        text = f"{asked.boundary} {printable(asked.name)} in lane {lane.name}: the answer of {slot.place} was erased"
        return _divergence("erased", lane, asked, slot, text, layout.recording.id)
    text = (
        f"{asked.boundary} {printable(asked.name)} in lane {lane.name}: the recording ends here; "
        f"{slot.place} was asked and the run ended ({layout.recording.outcome}) before an answer came"
    )
    return _divergence("unanswered", lane, asked, slot, text, layout.recording.id)


def describe_unplayed(slot: Slot) -> Unplayed:
    """A recorded exchange that was not asked for."""
    return Unplayed(seq=slot.seq, step=slot.step, lane=slot.lane, boundary=slot.boundary, name=slot.request.name)


def explain_blocked(layout: Layout, slot: Slot | None, waiting: str, *, cancelled: bool = False) -> Divergence:
    """Nothing goes on: ``waiting`` waits for what was recorded before it; ``slot`` is the next and does not come.

    Without a slot nothing is left to wait for: what waits was ``cancelled`` by the program when recorded, or had
    not ended when the recording did.
    """
    waiting = printable(waiting)
    if slot is not None:
        what = f"{slot.place} ({printable(slot.request.name)}) in lane {slot.lane}"
        happens = "is not answered" if slot.played else "is not asked"
        text = f"the order cannot be kept: {what} came before {waiting} when recorded, and now {happens}"
    elif cancelled:
        text = f"{waiting} was cancelled when recorded, and is not now"
    else:
        text = f"the recording ends here, while {waiting} goes on"
    return Divergence(
        kind="order",
        lane=slot.lane if slot else "",
        boundary=slot.boundary if slot else "",
        name=slot.request.name if slot else "",
        message=text,
        step=slot.step if slot else None,
        seq=slot.seq if slot else None,
        causes=("order changed",) if slot else (),
        next=_next(layout.recording.id, slot),
    )


def explain_unplayed(layout: Layout, slots: Sequence[Slot]) -> Divergence:
    """The program ended and these had not been asked."""
    first = slots[0]
    names = ", ".join(f"{slot.place} ({slot.request.name})" for slot in slots[:5])
    more = f" and {len(slots) - 5} more" if len(slots) > 5 else ""
    text = f"never asked in this replay: {printable(names)}{more}"
    return Divergence(
        kind="unplayed",
        lane=first.lane,
        boundary=first.boundary,
        name=first.request.name,
        message=text,
        step=first.step,
        seq=first.seq,
        causes=("missing call",),
        next=_next(layout.recording.id, first),
    )


def with_cause(found: Divergence, cause: str) -> Divergence:
    """``found``, with one more cause, which comes first."""
    message = f"{found.message}\n  cause: {printable(cause)}"
    return msgspec.structs.replace(found, causes=(cause, *found.causes), message=message)


def _divergence(
    kind: str,
    lane: Lane,
    asked: Request,
    slot: Slot | None,
    text: str,
    run: str,
    found: tuple[Difference, ...] = (),
    causes: tuple[str, ...] = (),
    candidates: tuple[str, ...] = (),
) -> Divergence:
    return Divergence(
        kind=kind,
        lane=lane.name,
        boundary=asked.boundary,
        name=asked.name,
        message=text,
        step=slot.step if slot else None,
        seq=slot.seq if slot else None,
        differences=found,
        causes=causes,
        candidates=candidates,
        next=_next(run, slot),
    )


def _next(run: str, slot: Slot | None) -> str:
    step = f"#{slot.step}" if slot is not None and slot.step is not None else ""
    return f"playhead show {run}{step}"


def _nearest(layout: Layout, asked: Request, candidate: Slot | None) -> list[tuple[Slot, list[Difference]]]:
    """The candidate first, then the nearest others of the kind, with what differs."""
    others = [slot for slot in layout.slots if slot.boundary == asked.boundary and slot is not candidate]
    named = [slot for slot in others if slot.request.name == asked.name][:200]
    scored = [(slot, list(differences(slot.request.content, asked.content))) for slot in named]
    scored.sort(key=lambda pair: (pair[0].played, _weight(pair[1])))
    near = scored[: _NEAR - 1]
    if candidate is None or (candidate.request.name != asked.name and asked.boundary != "http"):
        return near
    return [(candidate, _candidate_differences(candidate.request, asked)), *near]


def _candidate_differences(recorded: Request, asked: Request) -> list[Difference]:
    if recorded.name != asked.name:
        return [Difference("", "changed", recorded.name, asked.name)]
    return list(differences(recorded.content, asked.content))


def _weight(found: Sequence[Difference]) -> int:
    return sum(each.distance for each in found[:50])


def _starts_differently(asked: Request, slot: Slot, found: Sequence[Difference]) -> bool:
    """A model's very first user message is another one: it is not this conversation."""
    if asked.boundary != "model" or slot.played:
        return False
    content = asked.content if isinstance(asked.content, dict) else {}
    messages = content.get("messages") or content.get("contents") or content.get("input")
    if isinstance(messages, str):
        return any(each.path == "/input" and not each.renaming for each in found)
    if not isinstance(messages, list):
        return False
    users = [at for at, each in enumerate(messages) if isinstance(each, dict) and each.get("role") == "user"]
    if not users:
        return False
    prefixes = tuple(f"/{key}/{users[0]}/" for key in ("messages", "contents", "input"))
    return any(each.path.startswith(prefixes) and not each.renaming for each in found)


def _places(slots: Sequence[Slot]) -> str:
    return ", ".join(slot.place for slot in slots)
