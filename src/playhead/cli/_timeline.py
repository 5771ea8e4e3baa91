"""A recording as lines: one for each exchange, and for what the program and the recorder noted in between."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from playhead.cli._trees import brief, brief_arguments, brief_error
from playhead.eventlog import Exchange, Recording, counted, printable
from playhead.events import (
    BoundaryAsked,
    CycleStarted,
    ErasedBody,
    Event,
    ModelRequested,
    NoteAdded,
    StateKept,
    ToolCalled,
)
from playhead.providers import read_answer


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line. ``failed`` says that the answer was a failure, ``None`` that none came."""

    seq: int
    lane: str
    kind: str
    name: str
    said: str = ""
    step: int | None = None
    failed: bool | None = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    took_ns: int | None = None


def rows(recording: Recording, *, width: int) -> Iterator[Row]:
    """The lines of a recording, in the order of the questions; ``width`` is about how long ``said`` may be."""
    others = [event for kind in ("cycle.started", "state.kept", "note.added") for event in recording.of_kind(kind)]
    others.sort(key=lambda event: event.seq, reverse=True)
    for exchange in recording.exchanges:
        while others and others[-1].seq < exchange.question.seq:
            yield from _noted(others.pop(), width)
        yield row_of(exchange, width=width)
    while others:
        yield from _noted(others.pop(), width)


_MANY = 3
"""So many wrapped calls of one name, one after the other, are one line."""


def folded(found: Iterable[Row]) -> Iterator[Row]:
    """The lines with those in one that tell the same again and again: calls that are no steps and have gone well."""
    for (lane, kind, name, step, failed), group in groupby(found, key=_alike):
        alike = list(group)
        if len(alike) < _MANY or kind != "wrap" or step is not None or failed is not False:
            yield from alike
            continue
        took = sum(row.took_ns or 0 for row in alike)
        yield Row(alike[0].seq, lane, kind, name, f"{len(alike)} times in a row", took_ns=took)


def _alike(row: Row) -> tuple[str, str, str, int | None, bool | None]:
    return row.lane, row.kind, row.name, row.step, row.failed


def row_of(exchange: Exchange, *, width: int) -> Row:
    """The line of one exchange."""
    question, answer = exchange.question, exchange.answer
    kind, name, asked = describe_question(question, width)
    failed = None if answer is None else answer.kind.endswith(".failed")
    said = describe_answer(question, answer, max(width - len(asked) - 3, width // 2))
    usage: dict[str, Any] = getattr(answer.body, "usage", None) or {} if answer is not None else {}
    return Row(
        seq=question.seq,
        lane=question.lane,
        kind=kind,
        name=name,
        said=printable(" → ".join(part for part in (asked, said) if part), limit=width),
        step=exchange.step,
        failed=failed,
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        took_ns=answer.mono_ns - question.mono_ns if answer is not None else None,
    )


def describe_question(question: Event, width: int) -> tuple[str, str, str]:
    """Kind, name and arguments of a question, in a few words."""
    match question.body:
        case ToolCalled() as body:
            return "tool", printable(body.name), f"({brief_arguments(body.arguments, width // 2)})"
        case ModelRequested(form="arguments") as body:
            return "model", printable(body.provider), f"({brief_arguments(body.request, width // 2)})"
        case ModelRequested() as body:
            return "model", printable(body.model or body.provider), ""
        case BoundaryAsked(name="http") as body:
            return "http", printable(f"{body.method} {body.url}"), ""
        case BoundaryAsked() as body if body.child is not None:
            name, argv = body.child.lane.rpartition("/")[2].rpartition("#")[0], (body.request or {}).get("argv", ())
            return "process", printable(name), f"({printable(' '.join(map(str, argv)), limit=width // 2)})"
        case BoundaryAsked() as body:
            return "wrap", printable(body.name), f"({brief_arguments(body.request, width // 2)})"
        case ErasedBody():
            return question.kind.partition(".")[0], "(erased)", ""
        case _:
            return question.kind.partition(".")[0], "", ""


def describe_answer(question: Event, answer: Event | None, width: int) -> str:
    """An answer in a few words."""
    if answer is None:
        return "no answer: the recording ends before it"
    body: Any = answer.body
    if isinstance(body, ErasedBody):
        return "(erased)"
    if getattr(body, "error", None) is not None:
        return brief_error(body.error, width)
    ended = "" if body.end == "complete" else f" ({body.end})"
    if isinstance(question.body, ModelRequested) and question.body.form != "arguments":
        return _model_said(question.body.provider, body, width) + ended
    if isinstance(question.body, BoundaryAsked) and question.body.child is not None:
        return _process_ended(body.value)
    if isinstance(question.body, ModelRequested):
        return brief(body.content, width // 2) + ended
    if getattr(body, "status", None) is not None:
        return f"{body.status}{ended}"
    if body.items is not None:
        return f"{counted(len(body.items), 'item')}{ended}"
    wrapped_model = isinstance(question.body, ModelRequested)
    return brief(body.content if wrapped_model else body.value, width // 2) + ended


def _process_ended(value: Any) -> str:
    code = value.get("code") if isinstance(value, dict) else None
    return f"signal {-code}" if isinstance(code, int) and code < 0 else f"exit code {code}"


def _model_said(provider: str, body: Any, width: int) -> str:
    verdict = body.verdict or {}
    if (body.status is not None and body.status >= 400) or verdict.get("kind") in ("error", "refusal"):
        status = f"{body.status} " if body.status and body.status != 200 else ""
        return printable(f"{status}{verdict.get('kind', 'error')}: {verdict.get('detail') or ''}", limit=width)
    text, calls = read_answer(provider, body.content)
    said = ", ".join(calls) if calls else f'"{text}"'
    odd = verdict.get("kind")
    return printable(said, limit=width) + (f" ({odd})" if odd not in (None, "ok") else "")


def _noted(event: Event, width: int) -> Iterator[Row]:
    body = event.body
    match body:
        case CycleStarted():
            said = f" ({printable(body.action_type)})" if body.action_type else ""
            yield Row(event.seq, event.lane, "cycle", f"{body.index}{said}")
        case StateKept():
            yield Row(event.seq, event.lane, "state", printable(body.label or ""), brief(body.state, width))
        case NoteAdded(name="packages" | "code" | "joined"):
            return
        case NoteAdded(name="uncaught", details=dict(details)):
            said = brief_error(details.get("error"), width)
            yield Row(event.seq, event.lane, "note", "uncaught", said, failed=True)
        case NoteAdded():
            said = brief(body.details, width) if body.details is not None else ""
            yield Row(event.seq, event.lane, "note", printable(body.name), said)
        case _:
            return
