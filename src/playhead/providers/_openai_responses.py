"""OpenAI responses: events folded into the response that the last of them carries."""

from __future__ import annotations

from typing import Any, Final

from playhead.providers._draft import Draft, Path, Slot, look_up
from playhead.providers._json_text import Unmergeable, copy_json

__all__ = ["STREAMED", "fold_responses"]

STREAMED: Final = "_streamed"
"""The key of ``final`` for texts that were streamed but that the response itself does not hold."""

_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
_FIELDS: Final = {
    "response.output_text.delta": "text",
    "response.reasoning_text.delta": "text",
    "response.reasoning_summary_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.function_call_arguments.delta": "arguments",
    "response.mcp_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
    "response.code_interpreter_call_code.delta": "code",
}


def fold_responses(values: list[Any], draft: Draft) -> None:
    """Fold events into ``draft``. Raises Unmergeable where no event carries a response or says why not."""
    events = [(event, value) for event, value in enumerate(values) if type(value) is dict]
    built: dict[str, Any] = {}
    items: dict[int, Any] = {}
    ended: dict[str, Any] | None = None
    for event, value in events:
        kind = value.get("type")
        if type(value.get("response")) is dict:
            built = value["response"]
            ended = built if kind in _ENDS else ended
        elif kind == "error":
            said = {key: part for key, part in value.items() if key in ("code", "message", "param")}
            built = built | {"error": said or {"type": kind}}
        _build_item(value, items)
        _grow(event, value, draft)
    if not built:
        raise Unmergeable("no response in the stream")
    draft.final = copy_json(ended if ended is not None else built)
    if items and not draft.final.get("output"):
        draft.final["output"] = [items[index] for index in sorted(items)]
    for slot in draft.slots:
        _place(slot, draft)


def _build_item(value: dict[str, Any], items: dict[int, Any]) -> None:
    """The output as a client puts it together: what a stream that was left early has."""
    kind, index = value.get("type"), value.get("output_index")
    if type(index) is not int:
        return
    if kind in ("response.output_item.added", "response.output_item.done"):
        items[index] = copy_json(value.get("item"))
        return
    for added, part_index, name in (
        ("response.content_part.", "content_index", "content"),
        ("response.reasoning_summary_part.", "summary_index", "summary"),
    ):
        if not (type(kind) is str and kind.startswith(added) and type(items.get(index)) is dict):
            continue
        parts, place = items[index].setdefault(name, []), value.get(part_index)
        if type(parts) is list and type(place) is int and 0 <= place <= len(parts):
            parts[place : place + 1] = [copy_json(value.get("part"))]


def _grow(event: int, value: dict[str, Any], draft: Draft) -> None:
    kind, delta = value.get("type"), value.get("delta")
    if type(kind) is not str or type(delta) is not str:
        return
    draft.grow(event, ("delta",), delta, _slot_path(kind, value))
    logprobs = value.get("logprobs")
    if type(logprobs) is list:
        draft.grow(event, ("logprobs",), logprobs, (*_slot_path(kind, value)[:-1], "logprobs"))


def _slot_path(kind: str, value: dict[str, Any]) -> Path:
    index = value.get("output_index")
    field = _FIELDS.get(kind)
    if type(index) is not int or field is None:
        return (STREAMED, f"{kind} {value.get('item_id')} {index}", "delta")
    for part_index, name in (("content_index", "content"), ("summary_index", "summary")):
        place = value.get(part_index)
        if type(place) is int:
            return ("output", index, name, place, field)
    return ("output", index, field)


def _place(slot: Slot, draft: Draft) -> None:
    """Where the response holds the same text, that is its place; where it holds none yet, it is put there.

    A text that the response tells otherwise stands beside it, so that both are kept.
    """
    whole = slot.whole
    there = look_up(draft.final, slot.path)
    if there == whole or (not there and slot.path[0] != STREAMED and draft.place(slot, whole)):
        return
    name = slot.path[1] if slot.path[0] == STREAMED else "/".join(map(str, slot.path))
    slot.path = (STREAMED, name, slot.path[-1])
    draft.final.setdefault(STREAMED, {}).setdefault(name, {})[slot.path[-1]] = whole
