"""Hits put into a text, or into the pieces in which it arrived."""

from __future__ import annotations

from collections.abc import Sequence

from playhead.masking._rules import Hit

__all__ = ["splice", "splice_pieces"]


def splice(text: str, hits: Sequence[Hit]) -> str:
    """``text`` with ``hits``, ascending and apart, replaced."""
    pieces: list[str] = []
    position = 0
    for hit in hits:
        pieces += (text[position : hit.start], hit.replacement)
        position = hit.end
    return "".join((*pieces, text[position:]))


def splice_pieces(pieces: Sequence[str], hits: Sequence[Hit]) -> list[str]:
    """As many pieces as there were; a replacement goes to the first piece that its hit touches."""
    out = []
    start = 0
    hits_left = list(reversed(hits))
    for piece in pieces:
        end = start + len(piece)
        kept: list[str] = []
        position = start
        while hits_left and hits_left[-1].start < end:
            hit = hits_left[-1]
            if hit.start >= start:
                kept += (piece[position - start : hit.start - start], hit.replacement)
            position = min(hit.end, end)
            if hit.end > end:
                break
            hits_left.pop()
        out.append("".join((*kept, piece[position - start :])))
        start = end
    return out
