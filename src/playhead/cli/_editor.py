"""One step of a run as JSON in the user's editor, and what was changed there as edits."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from playhead.errors import UsageError

if TYPE_CHECKING:
    from playhead._edits import Edits

_MARK = "//"


def edit_step(edits: Edits, where: int | str) -> None:
    """Open the answer at a place in $VISUAL or $EDITOR until it is valid, and add what was changed to ``edits``.

    Raises `UsageError` where nothing was changed or the person gives up.
    """
    document = _document(edits, where)
    problem = ""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    while True:
        text = _edited(text, problem)
        try:
            _take(edits, where, document, _read(text))
        except _WrongError as error:
            problem = str(error)
            click.echo(f"error: {problem}", err=True)
            if not click.confirm("mend it?", default=True, err=True):
                raise UsageError(f"nothing was changed: {problem}", next="playhead edit --help") from None
            continue
        return


class _WrongError(Exception):
    """What was written cannot be used."""


def _document(edits: Edits, where: int | str) -> dict[str, Any]:
    from playhead.cli._step import step_as_data
    from playhead.editing import as_place
    from playhead.providers import decode_plain, read_json

    place = as_place(where)
    if place.step is None:
        raise UsageError("--editor opens a step", next=f"playhead edit {edits.recording.id} --step N --editor")
    exchange = edits.recording.step(place.step)
    if exchange.answer is None:
        raise UsageError(
            f"step {place.step} has no answer to be edited: say what it is to be",
            next=f"playhead edit {edits.recording.id} --step {place.step} --returns JSON",
        )
    shown = step_as_data(edits.recording, exchange, context=False)
    body = exchange.answer.body
    answer: dict[str, Any]
    if getattr(body, "status", None) is not None:
        content = getattr(body, "content", None)
        said = read_json(content)
        if said is None and content is not None:
            said = decode_plain(content).decode("utf-8", "replace")
        answer = {"status": body.status, "headers": [list(pair) for pair in body.headers], "body": said}  # type: ignore[union-attr]
    elif getattr(body, "error", None) is not None:
        error: Any = body.error  # type: ignore[union-attr]
        message = error.get("message") or (error.get("args") or [""])[0]
        answer = {"raises": f"{error.get('class', '').removeprefix('builtins:')}: {message}"}
    else:
        field = "content" if exchange.question.kind == "model.requested" else "value"
        items = getattr(body, "items", None)
        answer = {"returns": items if items is not None else getattr(body, field, None)}
    return {"run": edits.recording.id, "step": place.step, "asked": shown.get("question"), "answer": answer}


def _edited(text: str, problem: str) -> str:
    head = f'{_MARK} Change what stands under "answer"; lines that begin with {_MARK} are left out.\n'
    if problem:
        head += f"{_MARK} This does not work yet: {problem}\n"
    try:
        changed = click.edit(head + text, extension=".json")
    except click.ClickException as error:
        raise UsageError(
            f"the editor did not work: {error.format_message()}", next="EDITOR=nano playhead edit RUN --step N --editor"
        ) from error
    if changed is None:
        raise UsageError("nothing was changed: the editor was left without saving", next="playhead edit --help")
    return "\n".join(line for line in changed.splitlines() if not line.startswith(_MARK))


def _read(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _WrongError(f"it is no JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("answer"), dict):
        raise _WrongError('there is no "answer" that is an object')
    return found


def _take(edits: Edits, where: int | str, before: dict[str, Any], after: dict[str, Any]) -> None:
    for key in ("run", "step", "asked"):
        if after.get(key) != json.loads(json.dumps(before[key])):
            raise _WrongError(f'"{key}" is what was recorded: only "answer" can be changed')
    answer, was = after["answer"], json.loads(json.dumps(before["answer"]))
    if answer == was:
        raise _WrongError("nothing was changed")
    kinds = [key for key in ("returns", "raises") if key in answer]
    known = {"returns", "raises"} if "status" not in was else {"status", "headers", "body"}
    if set(answer) - known or (known == {"returns", "raises"} and len(kinds) != 1):
        raise _WrongError(
            f'"answer" has {" and ".join(sorted(known))}, ' + ("one of the two" if kinds else "as it was")
        )
    try:
        if "returns" in answer:
            edits.returns(where, answer["returns"])
        elif "raises" in answer:
            edits.raises(where, str(answer["raises"]))
        else:
            _respond(edits, where, answer, was)
    except UsageError as error:
        raise _WrongError(error.message) from None


def _respond(edits: Edits, where: int | str, answer: dict[str, Any], was: dict[str, Any]) -> None:
    status, headers = answer.get("status"), answer.get("headers", [])
    if not isinstance(status, int) or not 100 <= status <= 599:
        raise _WrongError("a status is a number from 100 to 599")
    pairs = [pair for pair in headers if pair not in was["headers"]] if isinstance(headers, list) else None
    if pairs is None or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise _WrongError("headers are a list of names with their values")
    body = answer.get("body") if answer.get("body") != was["body"] else None
    edits.status(where, status, headers=[(str(name), str(value)) for name, value in pairs], body=body)
