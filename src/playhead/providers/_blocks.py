"""A stream's text cut into blocks: what stands before the JSON, the JSON, and what stands after it.

Server-sent events, newline-delimited JSON and a streamed JSON array differ only in what stands around the values,
so everything above this file treats them alike.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any, Final

from playhead.providers._json_text import Unmergeable, dump, load
from playhead.providers._tail import close_json

__all__ = ["ABSENT", "PLAIN", "Block", "Tail", "render", "split_stream"]

ABSENT: Final = object()
"""The value of a block without data: all of its text is in ``before``."""

PLAIN: Final = "plain"
"""The style of data that is not JSON: its text is the value."""

_BLOCK: Final = re.compile(r"(?:[^\r\n]++(?>\r\n|\r|\n))*+(?>\r\n|\r|\n)")
_COMMON: Final = re.compile(r"((?:event: ?[^\r\n\0]*+\r?\n)?data: )({[^\r\n\0]*+(?<=}))(\r?\n\r?\n)")
_DATA: Final = re.compile(r"(?:\A\ufeff?|(?<=[\r\n]))data(?=[:\r\n]|\Z)(?:: ?+)?([^\r\n]*+)(?:\r\n|\r|\n|\Z)")
_ID: Final = re.compile(r"(?:\A|(?<=[\r\n]))id: ?([^\r\n\0]*+)(?=[\r\n])")
_LINE: Final = re.compile(r"[^\n]*+\n")
_SPACE: Final = re.compile(r"\s*+")


class Block:
    """One event on the wire. ``before`` holds a NUL where ``ident`` (the event's id) goes.

    ``size`` is its length in bytes. ``text`` is what it looked like, None where that is not how it is written again.
    """

    __slots__ = ("after", "before", "ident", "size", "style", "text", "value")

    def __init__(
        self,
        before: str,
        value: Any = ABSENT,
        after: str = "",
        *,
        style: str = "",
        text: str | None = None,
        size: int = 0,
    ) -> None:
        self.before = before
        self.value = value
        self.after = after
        self.style = style
        self.text = text
        self.size = size
        self.ident: str | int | None = None


class Tail:
    """How the last, unfinished block was closed: drop so many characters, then add what is left."""

    __slots__ = ("drop", "extra", "rest")

    def __init__(self, drop: int = 0, extra: str = "", rest: bytes = b"") -> None:
        self.drop = drop
        self.extra = extra
        self.rest = rest


def render(block: Block) -> str:
    """The text of a block, in its style."""
    before = block.before if block.ident is None else block.before.replace("\0", str(block.ident), 1)
    if block.value is ABSENT:
        return before
    return before + (block.value if block.style == PLAIN else dump(block.value, block.style)) + block.after


def split_stream(data: bytes) -> tuple[list[Block], Tail | None]:
    """The blocks of a stream and how its last one was left.

    A ``Tail`` says that the last block never ended. Raises Unmergeable where the bytes cannot be told apart
    into blocks without loss.
    """
    text, rest = _decode(data)
    first = text.lstrip("\ufeff \t\r\n")[:1]
    if first == "[":
        blocks, left = _split_array(text)
    elif first == "{":
        blocks, left = _split_lines(text)
    else:
        blocks, left = _split_sse(text)
    if not left and not rest:
        return blocks, None
    block, tail = _read_tail(left, blocks[-1].style if blocks else "c")
    tail.rest = rest
    blocks.append(block)
    return blocks, tail


def _decode(data: bytes) -> tuple[str, bytes]:
    """The text, and the bytes of a character that was cut at the very end."""
    try:
        return data.decode("utf-8"), b""
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data" or error.end != len(data):
            raise Unmergeable("not UTF-8") from None
        return data[: error.start].decode("utf-8"), data[error.start :]


def _split_sse(text: str) -> tuple[list[Block], str]:
    blocks: list[Block] = []
    at, hint = 0, "c"
    while found := _COMMON.match(text, at) or _BLOCK.match(text, at):
        block = _read_common(found, hint) if found.re is _COMMON else None
        if block is None:
            found = _BLOCK.match(text, at) or found
            block = _read_block(found.group(), hint)
        hint = block.style if block.style not in ("", PLAIN) else hint
        blocks.append(block)
        at = found.end()
    return blocks, text[at:]


def _read_common(found: re.Match[str], hint: str) -> Block | None:
    """A name and one line of JSON, as most blocks of most servers are; None where it is not quite that."""
    text = found.group()
    before, raw, after = found.groups()
    try:
        value, style = load(raw, hint)
    except ValueError:
        return None
    same = text if style is not None and raw[-2:] != " }" else None
    size = len(text) if text.isascii() else len(text.encode())
    return Block(before, value, after, style=style or hint, text=same, size=size)


def _read_block(text: str, hint: str) -> Block:
    lines = list(_DATA.finditer(text))
    size = len(text) if text.isascii() else len(text.encode())
    if "\0" in text:
        raise Unmergeable("NUL in a stream")
    if not lines:
        return _take_id(Block(text, text=text, size=size))
    if any(one.end() != two.start() for one, two in pairwise(lines)):
        raise Unmergeable("data lines with others between them")
    raw = "\n".join(line.group(1) for line in lines)
    start, end = lines[0].start(1), lines[-1].end(1)
    value, style, exact, lead, trail = _read_value(raw, hint)
    if style == PLAIN and len(lines) > 1:
        return _take_id(Block(text, text=text, size=size))
    same = text if exact and len(lines) == 1 else None
    return _take_id(Block(text[:start] + lead, value, trail + text[end:], style=style, text=same, size=size))


def _read_value(raw: str, hint: str) -> tuple[Any, str, bool, str, str]:
    """Value, style, whether it is written like this again, and the blanks on both sides of it."""
    inner = raw.strip(" \t")
    try:
        value, style = load(inner, hint)
    except ValueError:
        return raw, PLAIN, True, "", ""
    exact = style is not None and inner[-2:] != " }"
    lead = raw[: len(raw) - len(raw.lstrip(" \t"))]
    return value, style or hint, exact, lead, raw[len(lead) + len(inner) :]


def _take_id(block: Block) -> Block:
    """Take the id out of the frame, so that events which differ only in it keep one frame."""
    found = _ID.search(block.before) if "id:" in block.before else None
    if found:
        ident = found.group(1)
        block.before = block.before[: found.start(1)] + "\0" + block.before[found.end(1) :]
        block.ident = int(ident) if ident.isascii() and ident.isdigit() and str(int(ident[:18])) == ident else ident
    return block


def _split_lines(text: str) -> tuple[list[Block], str]:
    blocks: list[Block] = []
    at, hint = 0, "c"
    while found := _LINE.match(text, at):
        line = found.group()
        inner = line.rstrip("\r\n")
        value, style, exact, lead, trail = _read_value(inner, hint)
        if style == PLAIN and inner.strip():
            raise Unmergeable("a line that is not JSON")
        hint = style if style != PLAIN else hint
        after, same = trail + line[len(inner) :], line if exact else None
        blocks.append(Block(lead, value, after, style=style, text=same, size=len(line.encode())))
        at = found.end()
    return blocks, text[at:]


def _split_array(text: str) -> tuple[list[Block], str]:
    """A JSON array that is sent element by element: what stands before an element goes into its frame."""
    decoder = json.JSONDecoder()
    blocks: list[Block] = []
    done, hint = 0, "i"
    start = text.index("[") + 1
    while True:
        start = _skip(text, start)
        try:
            _, end = decoder.raw_decode(text, start)
        except ValueError:
            break
        value, style = load(text[start:end], hint)
        hint = style or hint
        same, size = text[done:end] if style else None, len(text[done:end].encode())
        blocks.append(Block(text[done:start], value, style=hint, text=same, size=size))
        done = end
        start = _skip(text, end)
        if text[start : start + 1] != ",":
            break
        start += 1
    left = text[done:]
    if left.strip() == "]":
        blocks.append(Block(left, text=left, size=len(left)))
        left = ""
    return blocks, left


def _skip(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def _read_tail(text: str, hint: str) -> tuple[Block, Tail]:
    """The unfinished block, its JSON closed as far as that can be done, so that its text is text like any other."""
    size = len(text.encode())
    lines = list(_DATA.finditer(text))
    start = lines[-1].start(1) if lines else text.find("{")
    literal = Block(text, text=text, size=size)
    if len(lines) > 1 or start < 0 or "\0" in text:
        return literal, Tail()
    start = _skip(text, start)
    closed = close_json(text[start:])
    if closed is None:
        return literal, Tail()
    whole, drop, extra = closed
    try:
        value, style = load(whole, hint if hint not in ("", PLAIN) else "c")
    except ValueError:
        return literal, Tail()
    if style is None:
        return literal, Tail()
    return Block(text[:start], value, style=style, text=text, size=size), Tail(drop, extra)
