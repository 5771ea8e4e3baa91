"""One step in full: what was asked, with the context that the model saw, and what came back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import msgspec

from playhead.cli._timeline import describe_question
from playhead.cli._trees import brief, error_text
from playhead.cli._words import duration
from playhead.eventlog import Exchange, Recording, printable
from playhead.events import Event, ModelRequested, UnknownBody
from playhead.providers import read_answer, read_conversation, read_parameters

_WHOLE = 10_000_000


def step_as_data(recording: Recording, exchange: Exchange, *, context: bool) -> dict[str, Any]:
    """A step as plain JSON: both events, and the request that the model saw last."""
    data: dict[str, Any] = {"run": recording.id, "step": exchange.step, "question": event_as_data(exchange.question)}
    data["answer"] = event_as_data(exchange.answer) if exchange.answer is not None else None
    if context and exchange.step is not None:
        data["context"] = recording.context(exchange.step)
    return data


def event_as_data(event: Event) -> dict[str, Any]:
    """An event as plain JSON."""
    body = event.body
    plain = {"raw": body.raw.decode("utf-8", "replace")} if isinstance(body, UnknownBody) else msgspec.to_builtins(body)
    return {
        "seq": event.seq,
        "kind": event.kind,
        "lane": event.lane,
        "at_ns": event.at_ns,
        "mono_ns": event.mono_ns,
        "of": event.of,
        "body": plain,
    }


def print_step(recording: Recording, exchange: Exchange) -> None:
    """Print a step for a person."""
    question, answer = exchange.question, exchange.answer
    kind, name, _ = describe_question(question, 200)
    took = f" · {duration(answer.mono_ns - question.mono_ns)}" if answer is not None else ""
    heading = f"step {exchange.step} of {len(recording.steps)} · {kind} {name} · lane {printable(question.lane)}"
    _line(f"{heading} · event {question.seq}{took}", bold=True)
    if isinstance(question.body, ModelRequested) and question.body.form != "arguments":
        _print_request(question.body.provider, question.body)
        if answer is not None:
            _print_model_answer(question.body.provider, answer)
    else:
        _section("asked")
        _indented(_pretty(_asked(question)))
        if answer is not None:
            _print_answer(answer)
        print_context(recording, exchange)
    if answer is None:
        _section("no answer: the recording ends before it", fg="yellow")


def _asked(question: Event) -> Any:
    body: Any = question.body
    found = getattr(body, "arguments", None)
    return found if found is not None else getattr(body, "request", None)


def _print_request(provider: str, body: ModelRequested) -> None:
    _section(f"asked ({provider}{', streamed' if body.stream else ''})")
    if body.url:
        _indented(f"{body.method} {body.url}", dim=True)
    for key, value in read_parameters(provider, body.request).items():
        _indented(f"{key}: {brief(value, 300)}", dim=True)
    _print_turns(provider, body.request)


def _print_turns(provider: str, request: Any) -> None:
    for role, text in read_conversation(provider, request):
        _line(f"  [{printable(role)}]", fg="cyan")
        _indented(text, by=4)


def _print_model_answer(provider: str, answer: Event) -> None:
    body: Any = answer.body
    verdict = getattr(body, "verdict", None) or {}
    usage = getattr(body, "usage", None) or {}
    tokens = f", {usage.get('input_tokens', '?')} tokens in, {usage.get('output_tokens', '?')} out" if usage else ""
    version = f", {printable(body.version)}" if getattr(body, "version", None) else ""
    end = getattr(body, "end", "complete")
    ended = "" if end == "complete" else f", {end}"
    failed = answer.kind.endswith(".failed")
    status = getattr(body, "status", None) or "no status"
    facts = f"{status}, {verdict.get('kind', 'ok')}{ended}{version}{tokens}"
    _section(f"answered ({facts})", fg="red" if failed else None)
    if getattr(body, "error", None) is not None:
        _indented(error_text(body.error, _WHOLE), fg="red")
    if verdict.get("detail"):
        _indented(verdict["detail"], fg="red" if failed else None)
    text, calls = read_answer(provider, getattr(body, "content", None))
    _indented(text)
    for call in calls:
        _indented(f"→ {call}")


def _print_answer(answer: Event) -> None:
    body: Any = answer.body
    if getattr(body, "error", None) is not None:
        _section("failed", fg="red")
        _indented(error_text(body.error, _WHOLE), fg="red")
        return
    status = getattr(body, "status", None)
    _section("answered" + (f" ({status})" if status is not None else ""))
    for name in ("content", "items", "value"):
        found = getattr(body, name, None)
        if found is not None:
            _indented(_pretty(found))
            return
    _indented("None")


def print_context(recording: Recording, exchange: Exchange) -> None:
    """What the model saw at this step or, for a tool's, what the model had before it when it asked for the call."""
    assert exchange.step is not None
    request = recording.context(exchange.step)
    if request is None:
        return
    provider = next(
        each.question.body.provider
        for each in reversed(recording.steps[: exchange.step])
        if isinstance(each.question.body, ModelRequested)
    )
    _section("the context that the model saw")
    _print_turns(provider, request)


def _pretty(tree: Any) -> str:
    if isinstance(tree, str):
        return tree
    try:
        return msgspec.json.format(msgspec.json.encode(tree), indent=2).decode()
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError):
        return brief(tree, _WHOLE)


def _section(text: str, *, fg: str | None = None) -> None:
    click.echo()
    _line(text, fg=fg, bold=True)


def _line(text: str, **style: Any) -> None:
    click.echo(click.style(printable(text, limit=_WHOLE), **style))


def _indented(text: str, *, by: int = 2, **style: Any) -> None:
    for line in _lines(text):
        _line(" " * by + line, **style)


def _lines(text: str) -> Iterator[str]:
    yield from (line.expandtabs(4) for line in text.split("\n") if text)
