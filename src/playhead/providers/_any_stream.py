"""Streams of a format nobody told us about: events of a kind are one event with its growing texts joined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from playhead.providers._draft import Draft, Path
from playhead.providers._json_text import copy_json

__all__ = ["fold_any"]

_KINDS: Final = ("type", "object", "event", "method", "kind", "op", "jsonrpc")


def fold_any(values: list[Any], draft: Draft) -> None:
    """Fold any events into ``{"events": [one of each kind]}``.

    Two events are of a kind where they have the same keys and name the same type; a text that differs between them
    is taken for one that grows.
    """
    families: dict[Any, list[int]] = {}
    for event, value in enumerate(values):
        if type(value) in (dict, list, str):
            families.setdefault(_kind(value), []).append(event)
    draft.final = {"events": []}
    for members in families.values():
        place = len(draft.final["events"])
        draft.final["events"].append(copy_json(values[members[0]]))
        for path, texts in _gather_texts(values, members).items():
            if any(text != texts[0][1] for _, text in texts):
                for event, text in texts:
                    draft.grow(event, path, text, ("events", place, *path))
    draft.place_all()


def _kind(value: Any) -> Any:
    if type(value) is dict:
        said = tuple(value[key] for key in _KINDS if type(value.get(key)) is str)
        return ("{", said, tuple((key, _kind(child)) for key, child in value.items()))
    if type(value) is list:
        return ("[", *map(_kind, value))
    return value == "[DONE]"


def _gather_texts(values: list[Any], members: list[int]) -> dict[Path, list[tuple[int, str]]]:
    texts: dict[Path, list[tuple[int, str]]] = {}
    for event in members:
        for path, text in _list_texts(values[event], ()):
            texts.setdefault(path, []).append((event, text))
    return texts


def _list_texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if type(value) is str:
        yield path, value
    elif type(value) is dict:
        for key, child in value.items():
            yield from _list_texts(child, (*path, key))
    elif type(value) is list:
        for place, child in enumerate(value):
            yield from _list_texts(child, (*path, place))
