"""A user's words, replaced wherever they went into a run or into one of its questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from playhead.editing._edits import Says
from playhead.errors import UsageError
from playhead.eventlog import Recording, printable
from playhead.events import Event, MessageReceived, ModelRequested, RunStarted
from playhead.masking import Masker
from playhead.providers import final_user_turn, list_request_parts


def first_said(recording: Recording) -> str:
    """What the user said first, as the first question to a model has it.

    Raises `UsageError` where no model was asked in words.
    """
    for event in recording.of_kind("model.requested"):
        body = event.body
        if isinstance(body, ModelRequested) and isinstance(body.request, Mapping) and body.form == "json":
            said = _text(final_user_turn(body.provider, body.request))
            if said:
                return said
    raise UsageError(
        f"no model was told a user's words in {printable(recording.id)}: say which text is to be replaced",
        next=f"playhead edit {printable(recording.id)} --says TEXT --instead-of TEXT",
    )


def _text(content: Any) -> str | None:
    if isinstance(content, str):
        return content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and isinstance(part.get("text"), str):
            return str(part["text"])
    return None


def replace_said(recording: Recording, edit: Says, masker: Masker, changed: Mapping[int, Event]) -> dict[int, Event]:
    """The events that held the text, with the new one; ``changed`` are those that are not as they were recorded.

    Raises `UsageError` where it stands nowhere.
    """
    old, new = masker.text(edit.instead_of), masker.text(edit.text)
    found: dict[int, Event] = {}
    for kind in ("run.started", "message.received", "model.requested"):
        for recorded in recording.of_kind(kind):
            event = changed.get(recorded.seq, recorded)
            body = _replaced(event.body, old, new)
            if body is not event.body:
                found[event.seq] = msgspec.structs.replace(event, body=body)
    if not found:
        raise UsageError(
            f"nobody said {printable(old)!r} in {printable(recording.id)}", next=f"playhead show {recording.id}#1"
        )
    return found


def _replaced(body: Any, old: str, new: str) -> Any:
    match body:
        case RunStarted(entry=entry):
            arguments, argv = _swap(entry.arguments, old, new), _swap(entry.argv, old, new)
            if arguments is entry.arguments and argv is entry.argv:
                return body
            return msgspec.structs.replace(body, entry=msgspec.structs.replace(entry, arguments=arguments, argv=argv))
        case MessageReceived():
            content = _swap(body.content, old, new)
            return body if content is body.content else msgspec.structs.replace(body, content=content)
        case ModelRequested(form="arguments"):
            request = _swap(body.request, old, new)
        case ModelRequested() if isinstance(body.request, dict):
            request = _swap_turns(body.provider, body.request, old, new)
        case _:
            return body
    return body if request is body.request else msgspec.structs.replace(body, request=request)


def _swap_turns(provider: str, request: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    changed = request
    for key in list_request_parts(provider)["conversation"]:
        turns = request.get(key)
        if isinstance(turns, str):
            swapped: Any = _swap(turns, old, new)
        elif isinstance(turns, list):
            swapped = [_swap(turn, old, new) if _is_users(turn) else turn for turn in turns]
            swapped = turns if all(map(_is, swapped, turns)) else swapped
        else:
            continue
        if swapped is not turns:
            changed = {**changed, key: swapped}
    return changed


def _is(one: Any, other: Any) -> bool:
    return one is other


def _is_users(turn: Any) -> bool:
    return isinstance(turn, str) or (isinstance(turn, dict) and turn.get("role", "user") == "user")


def _swap(tree: Any, old: str, new: str) -> Any:
    """``tree`` with the text replaced in all its strings; the same object where it is in none."""
    if isinstance(tree, str):
        return tree.replace(old, new) if old in tree else tree
    if isinstance(tree, dict):
        values = [_swap(value, old, new) for value in tree.values()]
        return tree if all(map(_is, values, tree.values())) else dict(zip(tree, values, strict=True))
    if isinstance(tree, list):
        values = [_swap(value, old, new) for value in tree]
        return tree if all(map(_is, values, tree)) else values
    return tree
