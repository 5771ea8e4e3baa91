"""Gemini ``generateContent`` (also through Vertex): responses folded into one."""

from __future__ import annotations

from typing import Any

from playhead.providers._draft import Draft, Path
from playhead.providers._json_text import Unmergeable, copy_json

__all__ = ["fold_generate"]


def fold_generate(values: list[Any], draft: Draft) -> None:
    """Fold responses into ``draft``. Raises Unmergeable where no value is one."""
    chunks = [(event, value) for event, value in enumerate(values) if type(value) is dict]
    known = ("candidates", "promptFeedback", "usageMetadata", "error")
    if not any(key in value for _, value in chunks for key in known):
        raise Unmergeable("no generateContent response")
    places: dict[int, int] = {}
    for event, chunk in chunks:
        for key, value in chunk.items():
            if key != "candidates" or type(value) is not list:
                draft.final[key] = copy_json(value)
                continue
            finals = draft.final.setdefault(key, [])
            for position, candidate in enumerate(value):
                if type(candidate) is not dict:
                    raise Unmergeable("a candidate that is not an object")
                index = candidate.get("index")
                place = places.setdefault(index if type(index) is int else 0, len(finals))
                if place == len(finals):
                    finals.append({})
                _absorb(event, candidate, ("candidates", position), finals[place], ("candidates", place), draft)
    draft.place_all()


def _absorb(event: int, candidate: dict[str, Any], leaf: Path, final: dict[str, Any], slot: Path, draft: Draft) -> None:
    for key, value in candidate.items():
        if key != "content" or type(value) is not dict:
            final[key] = copy_json(value)
            continue
        content = final.setdefault(key, {})
        for name, inner in value.items():
            if name != "parts" or type(inner) is not list:
                content[name] = copy_json(inner)
                continue
            parts = content.setdefault(name, [])
            for position, part in enumerate(inner):
                _absorb_part(event, part, (*leaf, key, name, position), parts, (*slot, key, name), draft)


def _absorb_part(event: int, part: Any, leaf: Path, parts: list[Any], slot: Path, draft: Draft) -> None:
    """A text goes on in the last part if that is of the same kind; a call, a blob, a signature stands alone."""
    text = part.get("text") if type(part) is dict else None
    last = parts[-1] if parts else None
    if type(text) is not str or type(last) is not dict or _rest(last) != _rest(part):
        parts.append(copy_json(part))
    if type(text) is str:
        draft.grow(event, (*leaf, "text"), text, (*slot, len(parts) - 1, "text"))


def _rest(part: dict[str, Any]) -> Any:
    return {key: value for key, value in part.items() if key != "text"} if "text" in part else None
