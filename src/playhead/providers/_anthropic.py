"""Anthropic messages (also through Vertex): events folded into one message."""

from __future__ import annotations

from typing import Any

from playhead.providers._draft import FIXED_KEYS, Draft, Slot, look_up
from playhead.providers._json_text import Unmergeable, copy_json, load

__all__ = ["fold_messages"]


def fold_messages(values: list[Any], draft: Draft) -> None:
    """Fold events into ``draft``. Raises Unmergeable where no event begins a message or says why not."""
    started = False
    for event, value in enumerate(values):
        if type(value) is not dict:
            continue
        kind = value.get("type")
        if kind == "message_start" and type(value.get("message")) is dict and not started:
            draft.final = copy_json(value["message"]) | draft.final
            draft.final["content"] = []
            started = True
        elif kind == "content_block_start":
            _start_block(event, value, draft)
        elif kind == "content_block_delta":
            _grow_block(event, value, draft)
        elif kind == "message_delta":
            _take_delta(value, draft.final)
        elif kind == "error":
            draft.final["error"] = copy_json(value.get("error"))
    if not started and "error" not in draft.final:
        raise Unmergeable("no message_start")
    for slot in draft.slots:
        _place(slot, draft)


def _start_block(event: int, value: dict[str, Any], draft: Draft) -> None:
    content, index = draft.final.get("content"), value.get("index")
    if type(content) is not list or type(index) is not int or index != len(content):
        raise Unmergeable("content blocks out of order")
    block = copy_json(value.get("content_block"))
    content.append(block)
    if type(block) is dict:
        for key, text in block.items():
            if type(text) is str and key not in FIXED_KEYS:
                draft.grow(event, ("content_block", key), text, ("content", index, key))


def _grow_block(event: int, value: dict[str, Any], draft: Draft) -> None:
    index, delta = value.get("index"), value.get("delta")
    if type(index) is not int or type(delta) is not dict:
        return
    block = look_up(draft.final, ("content", index))
    if type(block) is not dict:
        raise Unmergeable("a delta without its content block")
    for key, piece in delta.items():
        if key == "type":
            continue
        if key == "citation" and type(piece) is dict:
            block["citations"] = block.get("citations") or []
            block["citations"].append(copy_json(piece))
            continue
        name = "input" if key == "partial_json" else key
        if type(piece) is str:
            block.setdefault(name, "")
            draft.grow(event, ("delta", key), piece, ("content", index, name))
        else:
            block[name] = copy_json(piece)


def _take_delta(value: dict[str, Any], final: dict[str, Any]) -> None:
    """The counts of a ``message_delta`` are totals, not increments: they replace those of the start."""
    for key, part in value.items():
        if key == "delta" and type(part) is dict:
            final.update(copy_json(part))
        elif key == "usage" and type(part) is dict:
            known = final.get("usage")
            said = {name: count for name, count in part.items() if count is not None}
            final["usage"] = copy_json((known if type(known) is dict else {}) | said)
        elif key != "type":
            final[key] = copy_json(part)


def _place(slot: Slot, draft: Draft) -> None:
    """A tool's input is an object in a message: its text is not kept where the object gives it again exactly."""
    text = slot.whole
    value: Any = text
    if slot.path[-1] == "input":
        try:
            parsed, style = load(text, "s")
        except (ValueError, Unmergeable, RecursionError):
            parsed, style = None, None
        if style is not None and type(parsed) is dict:
            value, slot.kind, slot.style = parsed, "json", style
    draft.place(slot, value)
