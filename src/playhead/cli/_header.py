"""What a recording says of its run as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from playhead._system import SystemClock
from playhead.cli._trees import brief, brief_error
from playhead.cli._words import ago, duration, size
from playhead.eventlog import Recording, counted, printable
from playhead.events import ModelRequested

Style = dict[str, Any]
_COLOURS = {"success": "green", "failure": "red", "aborted": "yellow"}


def header_as_data(recording: Recording) -> dict[str, Any]:
    """The facts of a run as plain JSON."""
    started, finished = recording.started, recording.finished
    first, last = recording.events[0] if len(recording) else None, _last(recording)
    models, versions, tokens = _models(recording)
    return {
        "id": recording.id,
        "kind": recording.kind,
        "task": recording.task,
        "outcome": recording.outcome,
        "reason": finished.reason if finished else None,
        "error": finished.error if finished else None,
        "result": finished.result if finished else None,
        "incomplete": finished.incomplete if finished else [],
        "unseen": finished.unseen if finished else {},
        "started_ns": recording.header.created_ns,
        "duration_ns": last.mono_ns - first.mono_ns if first is not None and last is not None else None,
        "entry": msgspec.to_builtins(started.entry) if started else None,
        "environment": msgspec.to_builtins(started.environment) if started else None,
        "parent": msgspec.to_builtins(started.parent) if started and started.parent else None,
        "models": models,
        "model_versions": versions,
        "tokens": tokens,
        "events": recording.count,
        "steps": len(recording.steps),
        "exchanges": len(recording.exchanges),
        "reads": {kind: len(recording.of_kind(kind)) for kind in ("clock.read", "random.drawn")},
        "lanes": list(recording.lanes),
        "sealed": recording.sealed,
        "torn": msgspec.to_builtins(recording.torn),
        "size": recording.path.stat().st_size if recording.path is not None else None,
        "path": str(recording.path) if recording.path is not None else None,
    }


def header_lines(recording: Recording, *, width: int) -> Iterator[tuple[str, Style]]:
    """The facts of a run for a person: lines, each with its style; an error is cut to ``width``."""
    data = header_as_data(recording)
    why = printable(data["reason"]) if data["reason"] else ""
    yield (
        f"{printable(recording.id)}  {data['outcome']}" + (f" ({why})" if why else ""),
        {
            "fg": _COLOURS[data["outcome"]],
            "bold": True,
        },
    )
    task = f" · task {printable(recording.task)}" if recording.task else ""
    took = f" · took {duration(data['duration_ns'])}" if data["duration_ns"] is not None else ""
    yield f"  kind {printable(recording.kind)}{task} · {_when(data['started_ns'])}{took}", {}
    entry = data["entry"]
    if entry is not None:
        yield f"  {_entry(entry)}", {"dim": True}
    if data["parent"] is not None:
        yield f"  {_parent(data['parent'])}", {}
    yield f"  {_amounts(data)}", {}
    if data["error"] is not None:
        yield f"  {brief_error(data['error'], width - 2)}", {"fg": "red"}
    if data["result"] is not None:
        yield f"  result {brief(data['result'], width - 9)}", {}
    yield f"  {_state(data)}", {} if data["sealed"] else {"fg": "yellow"}
    for gap in data["incomplete"]:
        yield f"  incomplete: {printable(gap)}", {"fg": "yellow"}
    for name, times in data["unseen"].items():
        yield f"  not seen: {times} x {printable(name)}", {"fg": "yellow"}


def _last(recording: Recording) -> Any:
    """The last event of the run itself: the seal may come long after."""
    at = recording.count - 1
    while at > 0 and recording.events[at].kind == "recording.sealed":
        at -= 1
    return recording.events[at] if at >= 0 else None


def _models(recording: Recording) -> tuple[list[str], list[str], dict[str, int]]:
    models: dict[str, None] = {}
    versions: dict[str, None] = {}
    tokens = {"input": 0, "output": 0}
    for exchange in recording.steps:
        body = exchange.question.body
        if not isinstance(body, ModelRequested):
            continue
        models[body.model or body.provider] = None
        answer: Any = exchange.answer.body if exchange.answer is not None else None
        usage = getattr(answer, "usage", None) or {}
        if version := getattr(answer, "version", None):
            versions[version] = None
        for side in tokens:
            tokens[side] += usage.get(f"{side}_tokens") or 0
    return list(models), list(versions), tokens


def _parent(parent: dict[str, Any]) -> str:
    """Which recording this one was derived from, and how."""
    edits = parent.get("edits", [])
    if not edits:
        return f"forked from {printable(parent['run'])} after step {parent['at_step']}"
    how = f"edited from {printable(parent['run'])}: {counted(len(edits), 'change')}"
    return how + (f", the first at step {parent['at_step']}" if parent.get("at_step") else "")


def _when(ns: int) -> str:
    now = SystemClock.wall_ns()
    try:
        moment = datetime.fromtimestamp(ns / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "at no known time"
    return f"{moment} ({ago(now - ns)})"


def _entry(entry: dict[str, Any]) -> str:
    folder = f"  in {printable(entry['folder'])}" if entry.get("folder") else ""
    match entry["form"]:
        case "program":
            return f"program {printable(' '.join(entry.get('argv', ())))}{folder}"
        case "gateway":
            return f"behind the gateway: {printable(' '.join(entry.get('argv', ())))}{folder}"
        case "call":
            return f"entry point {printable(entry.get('call'))}{folder}"
        case _:
            return f"a block in {printable(' '.join(entry.get('argv', ())) or 'a program')}{folder}"


def _amounts(data: dict[str, Any]) -> str:
    said = [counted(data["steps"], "step")]
    other = data["exchanges"] - data["steps"]
    if other:
        said.append(counted(other, "other exchange"))
    if data["models"]:
        versions = [version for version in data["model_versions"] if version not in data["models"]]
        names = ", ".join(data["models"]) + (f" ({', '.join(versions)})" if versions else "")
        said.append(printable(names))
    if any(data["tokens"].values()):
        said.append(f"{data['tokens']['input']:,} tokens in, {data['tokens']['output']:,} out")
    clock, chance = data["reads"].values()
    if clock or chance:
        said.append(f"{counted(clock, 'read')} of the clock, {chance} of chance")
    return " · ".join(said)


def _state(data: dict[str, Any]) -> str:
    amount = f"{counted(data['events'], 'event')}, {size(data['size'] or 0)}"
    if data["torn"] is not None:
        return f"torn: {printable(data['torn']['why'])} ({amount})"
    return f"sealed, {amount}" if data["sealed"] else f"not sealed, so the end is unproven ({amount})"
