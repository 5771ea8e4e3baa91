"""Masking what came in pieces: a secret that is spread over several of them is whole in none.

The texts that stand at one place in all pieces are masked as the one text that they make together, and cut again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec

from playhead.masking import Masker
from playhead.providers import parse_events

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode

Path = tuple[str | int, ...]


def mask_pieces(masker: Masker, items: Sequence[Any]) -> list[Any]:
    """The trees of ``items``, each masked, and masked as one where their texts go on from one to the next."""
    masked = [masker.value(item) for item in items]
    places: dict[Path, list[tuple[int, str]]] = defaultdict(list)
    for index, item in enumerate(masked):
        _collect(item, (), index, places)
    for path, found in places.items():
        texts = [text for _, text in found]
        if len(texts) < 2:
            continue
        for (index, text), new in zip(found, masker.pieces(texts), strict=True):
            if new != text:
                masked[index] = _replace(masked[index], path, new)
    return masked


def mask_events(masker: Masker, content: dict[str, Any]) -> dict[str, Any]:
    """A body kept as text, masked across the JSON data of its server-sent events.

    Where nothing was spread over events, the same object. Where something was, the events are written anew.
    """
    events = parse_events(content["text"].encode("utf-8"))
    try:
        data = [_decode(event.data) for event in events if event.data and event.data[:1] in "{["]
    except (msgspec.MsgspecError, RecursionError):
        return content
    masked = mask_pieces(masker, data)
    if masked == data:
        return content
    left = iter(masked)
    lines = []
    for event in events:
        text = _encode(next(left)).decode() if event.data and event.data[:1] in "{[" else event.data
        lines.append((f"event: {event.event}\n" if event.event else "") + f"data: {text}\n\n")
    return {"form": "text", "text": "".join(lines)}


def mask_tokens(masker: Masker, tree: Any) -> Any:
    """``tree`` with the token lists of log-probabilities masked as the text that their tokens make.

    What else would tell a masked token (its bytes, its number, what might have stood there) goes with it.
    """
    if isinstance(tree, dict):
        new = {key: mask_tokens(masker, value) for key, value in tree.items()}
        if new.get("topCandidates") and new.get("chosenCandidates") != tree.get("chosenCandidates"):
            new["topCandidates"] = []
        return new
    if not isinstance(tree, list):
        return tree
    if not tree or not all(isinstance(item, dict) and isinstance(item.get("token"), str) for item in tree):
        return [mask_tokens(masker, item) for item in tree]
    tokens = [item["token"] for item in tree]
    pairs = zip(tree, tokens, masker.pieces(tokens), strict=True)
    return [item if token == new else _blank_token(item, new) for item, token, new in pairs]


def _blank_token(item: dict[str, Any], token: str) -> dict[str, Any]:
    blanks = {"bytes": list(token.encode("utf-8", "replace")), "tokenId": 0, "top_logprobs": []}
    return {key: token if key == "token" else blanks.get(key, value) for key, value in item.items()}


def _collect(tree: Any, path: Path, index: int, places: dict[Path, list[tuple[int, str]]]) -> None:
    if isinstance(tree, str):
        places[path].append((index, tree))
    elif isinstance(tree, dict):
        for key, value in tree.items():
            _collect(value, (*path, key), index, places)
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            _collect(value, (*path, at), index, places)


def _replace(tree: Any, path: Path, new: str) -> Any:
    if not path:
        return new
    head, rest = path[0], path[1:]
    if isinstance(tree, dict):
        return {key: _replace(value, rest, new) if key == head else value for key, value in tree.items()}
    return [_replace(value, rest, new) if at == head else value for at, value in enumerate(tree)]


def count_equal(turns: Sequence[Sequence[int]]) -> list[list[int]]:
    """The turns of the pieces of a stream, equal ones in a row once with their number; without idle ones at the end."""
    found = [[len(list(equal)), *each] for each, equal in groupby(turns)]
    return found if len(found[-1]) > 1 else found[:-1]
