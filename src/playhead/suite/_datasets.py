"""Annotations as data sets of other tools, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from playhead.errors import UsageError
from playhead.eventlog import Recording, printable
from playhead.player import request_of_event
from playhead.suite._annotations import Annotation

Form = Literal["jsonl", "inspect", "pydantic-evals"]
Pair = tuple[Recording, Annotation]


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """An annotation and the run that it is about."""

    run: str
    wrong: str
    step: int | None = None
    expect: tuple[str, ...] = ()
    failure_class: str = msgspec.field(default="", name="class")

    @property
    def annotation(self) -> Annotation:
        """It, to be kept."""
        return Annotation(wrong=self.wrong, step=self.step, expect=self.expect, failure_class=self.failure_class)


def export_annotations(pairs: Sequence[Pair], form: Form) -> str:
    """A data set: JSON Lines of ours, samples of Inspect AI (JSON Lines), or a data set of pydantic-evals (JSON)."""
    if form == "pydantic-evals":
        cases = [_case(*pair) for pair in pairs]
        return json.dumps({"name": "playhead", "cases": cases, "evaluators": []}, indent=2, ensure_ascii=False) + "\n"
    make = _sample if form == "inspect" else _line
    return "".join(json.dumps(make(*pair), ensure_ascii=False) + "\n" for pair in pairs)


def import_annotations(path: Path) -> Iterator[Imported]:
    """What a file of JSON Lines says: ours, or any with ``run``, ``wrong``, ``step``, ``expect`` and ``class``.

    Raises `UsageError` where it cannot be used.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{printable(path)} cannot be read: {error}", next="playhead annotate --import FILE") from None
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            yield msgspec.json.decode(text, type=Imported)
        except msgspec.MsgspecError as error:
            raise UsageError(
                f"line {number} of {printable(path)} is no annotation: {error}", next="playhead annotate --import FILE"
            ) from None


def _line(recording: Recording, annotation: Annotation) -> dict[str, Any]:
    told = {
        "run": recording.id,
        "step": annotation.step,
        "wrong": annotation.wrong,
        "expect": list(annotation.expect),
        "class": annotation.failure_class,
        "kind": recording.kind,
        "task": recording.task,
        "input": _input(recording, annotation),
        "recorded": _recorded(recording, annotation),
    }
    return {name: value for name, value in told.items() if value not in (None, "", [])}


def _sample(recording: Recording, annotation: Annotation) -> dict[str, Any]:
    said = _input(recording, annotation)
    plain = isinstance(said, list) and all(_is_message(each) for each in said)
    return {
        "id": _name(recording, annotation),
        "input": said if plain or isinstance(said, str) else json.dumps(said, ensure_ascii=False),
        "target": list(annotation.expect) or [annotation.wrong],
        "metadata": _about(recording, annotation),
    }


def _case(recording: Recording, annotation: Annotation) -> dict[str, Any]:
    return {
        "name": _name(recording, annotation),
        "inputs": _input(recording, annotation),
        "metadata": _about(recording, annotation),
    }


def _name(recording: Recording, annotation: Annotation) -> str:
    return f"{recording.id}#{annotation.step or 'run'}.{annotation.number}"


def _about(recording: Recording, annotation: Annotation) -> dict[str, Any]:
    line = _line(recording, annotation)
    return {name: value for name, value in line.items() if name != "input"}


def _is_message(each: Any) -> bool:
    known = ("system", "user", "assistant")
    return isinstance(each, Mapping) and each.get("role") in known and isinstance(each.get("content"), str)


def _input(recording: Recording, annotation: Annotation) -> Any:
    """The messages that the model saw at the step, or what the run was given."""
    context = recording.context(annotation.step) if annotation.step is not None else None
    if isinstance(context, Mapping) and isinstance(context.get("messages"), list):
        return context["messages"]
    entry = recording.started.entry if recording.started is not None else None
    if entry is not None and isinstance(entry.arguments, Mapping):
        return {"args": entry.arguments.get("args", []), "kwargs": entry.arguments.get("kwargs", {})}
    return context if context is not None else (recording.task or "")


def _recorded(recording: Recording, annotation: Annotation) -> Any:
    if annotation.step is None:
        return None
    asked = request_of_event(recording.step(annotation.step).question)
    return (
        {"tool": asked.name, "arguments": asked.content} if asked.boundary == "tool" else {asked.boundary: asked.name}
    )
