"""Aligning two texts in time that stays near their length, however repetitive they are.

`difflib` alone takes minutes on two texts of 200 kB that repeat their words. So: what is equal at both ends is
put aside; texts of equally many words are compared one by one; lines are aligned before words; and only what
is left and small goes through `difflib`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

Block = tuple[str, str]
"""A stretch as it was recorded and as it is asked; equal strings where nothing changed."""

_SMALL = 400_000
"""The product of two lengths up to which `difflib` is asked."""

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


def align(recorded: str, asked: str) -> list[Block]:
    """``recorded`` and ``asked`` as one sequence of blocks, equal and changed in turn."""
    blocks: list[Block] = []
    for before, after in _align(recorded.splitlines(keepends=True), asked.splitlines(keepends=True)):
        if before == after:
            blocks.append((before, after))
        else:
            blocks.extend(_align(_WORD.findall(before), _WORD.findall(after)))
    return _joined(blocks)


def changed_length(recorded: str, asked: str) -> int:
    """How many characters changed: for each changed stretch, those of its longer side."""
    return sum(max(len(before), len(after)) for before, after in align(recorded, asked) if before != after)


def _align(before: list[str], after: list[str]) -> Iterator[Block]:
    start = 0
    for old, new in zip(before, after, strict=False):
        if old != new:
            break
        start += 1
    end = 0
    limit = min(len(before), len(after)) - start
    while end < limit and before[-1 - end] == after[-1 - end]:
        end += 1
    yield "".join(before[:start]), "".join(after[:start])
    yield from _align_middle(before[start : len(before) - end], after[start : len(after) - end])
    yield "".join(before[len(before) - end :]), "".join(after[len(after) - end :])


def _align_middle(before: list[str], after: list[str]) -> Iterator[Block]:
    same = sum(map(str.__eq__, before, after)) if len(before) == len(after) else 0
    if same * 2 > len(before):
        yield from zip(before, after, strict=True)
    elif len(before) * len(after) <= _SMALL:
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for _, a, b, c, d in matcher.get_opcodes():
            yield "".join(before[a:b]), "".join(after[c:d])
    else:
        yield "".join(before), "".join(after)


def _joined(blocks: list[Block]) -> list[Block]:
    """Neighbours of one sort as one block, empty ones dropped; what changed word after word is one change."""
    joined: list[Block] = []
    for before, after in blocks:
        if not before and not after:
            continue
        changed = before != after
        if joined and _changed(joined[-1]) == changed:
            joined[-1] = (joined[-1][0] + before, joined[-1][1] + after)
        elif changed and len(joined) > 1 and joined[-1][0].isspace() and _changed(joined[-2]):
            space = joined.pop()
            joined[-1] = (joined[-1][0] + space[0] + before, joined[-1][1] + space[1] + after)
        else:
            joined.append((before, after))
    return joined


def _changed(block: Block) -> bool:
    return block[0] != block[1]
