"""OpenAI chat completions, and the many servers that speak it: chunks folded into one ``chat.completion``."""

from __future__ import annotations

from typing import Any

from playhead.providers._draft import Draft, Path, look_up
from playhead.providers._json_text import Unmergeable

__all__ = ["fold_chat"]


def fold_chat(values: list[Any], draft: Draft) -> None:
    """Fold chunks into ``draft``. Raises Unmergeable where no value is a chunk."""
    chunks = [(event, value) for event, value in enumerate(values) if type(value) is dict]
    if not any(type(value.get("choices")) is list or "error" in value for _, value in chunks):
        raise Unmergeable("no chat completion chunk")
    choices = _Choices(chunks)
    final = draft.final
    for event, chunk in chunks:
        for key, value in chunk.items():
            if key == "choices":
                final[key] = choices.finals
            elif key == "object":
                final[key] = "chat.completion" if value == "chat.completion.chunk" else value
            elif value is not None or key not in final:
                final[key] = value
        for position, choice in enumerate(choices.of(chunk)):
            choices.absorb(event, position, choice, draft)
    for choice in choices.finals:
        calls = look_up(choice, ("message", "tool_calls"))
        for call in calls if type(calls) is list else ():
            call.pop("index", None)  # says which call a delta goes on with; a finished answer has none
    draft.place_all()


class _Choices:
    """The choices of all chunks, in the order of their indexes."""

    def __init__(self, chunks: list[tuple[int, dict[str, Any]]]) -> None:
        found = [_index(place, choice) for _, chunk in chunks for place, choice in enumerate(self.of(chunk))]
        self.places = {index: place for place, index in enumerate(sorted(set(found)))}
        self.finals: list[dict[str, Any]] = [{} for _ in self.places]
        self.parted = any(
            type(_delta(choice).get("content")) is list for _, chunk in chunks for choice in self.of(chunk)
        )

    @staticmethod
    def of(chunk: dict[str, Any]) -> list[Any]:
        choices = chunk.get("choices")
        return choices if type(choices) is list else []

    def absorb(self, event: int, position: int, choice: Any, draft: Draft) -> None:
        if type(choice) is not dict:
            return
        place = self.places[_index(position, choice)]
        final, leaf, slot = self.finals[place], ("choices", position), ("choices", place)
        for key, value in choice.items():
            if key == "delta" and type(value) is dict:
                message = final.setdefault("message", {})
                self._absorb_delta(event, value, (*leaf, key), message, (*slot, "message"), draft)
            elif key == "logprobs" and type(value) is dict:
                if type(final.get(key)) is not dict:
                    final[key] = {}
                draft.absorb(event, value, (*leaf, key), final[key], (*slot, key))
            elif key == "text" and type(value) is str:
                final[key] = ""
                draft.grow(event, (*leaf, key), value, (*slot, key))
            elif value is not None or key not in final:
                final[key] = value

    def _absorb_delta(
        self, event: int, delta: dict[str, Any], leaf: Path, message: dict[str, Any], slot: Path, draft: Draft
    ) -> None:
        """A server that sends content now as text and now as parts gets parts in the end, as it would unstreamed."""
        content = delta.get("content")
        if not (self.parted and type(content) is str):
            draft.absorb(event, delta, leaf, message, slot)
            return
        draft.absorb(event, {k: v for k, v in delta.items() if k != "content"}, leaf, message, slot)
        parts = message.setdefault("content", [])
        if content and type(parts) is list:
            if not parts or parts[-1].get("type") != "text":
                parts.append({"type": "text", "text": ""})
            draft.grow(event, (*leaf, "content"), content, (*slot, "content", len(parts) - 1, "text"))


def _index(position: int, choice: Any) -> int:
    index = choice.get("index") if type(choice) is dict else None
    return index if type(index) is int else position


def _delta(choice: Any) -> dict[str, Any]:
    delta = choice.get("delta") if type(choice) is dict else None
    return delta if type(delta) is dict else {}
