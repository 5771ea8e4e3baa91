"""The shape of a stream: what has to be added to its final JSON to play it again, event for event.

Encoder and decoder of the format, version 1. A shape is a JSON object:

``v``       1.
``forms``   The kinds of event in the stream. Each has the text ``before`` and ``after`` its JSON, the ``style`` in
            which that is written, and ``data``, the JSON with references where events of the form differ or where
            ``final`` has it already. A form without ``style`` is text only (a comment, a keep-alive). ``ident`` is
            the column of the ids that take the place of the NUL in ``before``.
``order``   The column of form numbers, one for each event.
``refs``    What ``{"$": n}`` in a form's data stands for: ``["column", column]``, a value for each event;
            ``["slot", s, column]``, as many characters or items of slot ``s`` as the column says;
            ``["copy", path]``, what stands in ``final`` at the path; ``["like", path, {key: data}]``, the same object
            with other values; ``["raw", value]``, an object that happens to have the key ``$``.
``slots``   The places in ``final`` that grew: ``[kind, style, path]``.
``chunks``  Two columns: events that each chunk of the network completed, bytes of the next event that came with it.
``tail``    Present where the last event was cut off: closing characters to drop, text to add, bytes to add.

Numbers stand for everything that is cut, and references are numbers too: a mask over a shape finds nothing in it to
take away but the constants of a form, which it masks as it does those of ``final``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from playhead.providers._blocks import ABSENT, Block, Tail
from playhead.providers._columns import pack, same, unpack
from playhead.providers._draft import Draft, Path, Slot, look_up
from playhead.providers._json_text import dump
from playhead.providers._known import Known, equal

__all__ = ["VERSION", "ShapeTooLarge", "decode_shape", "encode_shape"]

VERSION: Final = 1
_WORTH: Final = 14  # characters of JSON from which a reference is shorter than what it stands for
_MOST: Final = 256 * 1024 * 1024


class _Form:
    """Events with the same frame, the same keys and the same slots."""

    def __init__(self, sample: int) -> None:
        self.sample = sample
        self.numbers: list[int] = []
        self.rows: list[list[Any]] = []


def _flatten(value: Any, marks: Any, key: list[Any], row: list[Any]) -> None:
    """The structure of an event into ``key``, its leaves into ``row``; of a growing leaf only the length."""
    if type(marks) is Slot:
        key.append(marks)
        row.append(len(value))
        return
    if type(value) is dict:
        key.append(tuple(value))
        pairs: Any = value.items()
    elif type(value) is list:
        key.append(len(value))
        pairs = enumerate(value)
    else:
        row.append(value)
        return
    for name, child in pairs:
        mark = marks.get(name) if marks else None
        if mark is None and type(child) is not dict and type(child) is not list:
            key.append(None)
            row.append(child)
        else:
            _flatten(child, mark, key, row)


class _Encoder:
    def __init__(self, blocks: Sequence[Block], draft: Draft) -> None:
        self._blocks = blocks
        self._marks = draft.marks
        self._known = Known(draft.final)
        self._slots = {slot: number for number, slot in enumerate(draft.slots)}
        self._refs: list[Any] = []
        self._made: dict[str, int] = {}

    def run(self) -> dict[str, Any]:
        forms: dict[Any, _Form] = {}
        order: list[int] = []
        places: dict[Any, int] = {}
        for number, block in enumerate(self._blocks):
            key: list[Any] = [block.before, block.after, block.style, block.ident is not None]
            row: list[Any] = []
            if block.value is not ABSENT:
                _flatten(block.value, self._marks[number], key, row)
            frozen = tuple(key)
            form = forms.get(frozen)
            if form is None:
                form = forms[frozen] = _Form(number)
                places[frozen] = len(places)
            form.numbers.append(number)
            form.rows.append(row)
            order.append(places[frozen])
        return {
            "v": VERSION,
            "forms": [self._write(form) for form in forms.values()],
            "order": pack(order),
            "refs": self._refs,
            "slots": [[slot.kind, slot.style, list(slot.path)] for slot in self._slots],
        }

    def _write(self, form: _Form) -> dict[str, Any]:
        block = self._blocks[form.sample]
        written: dict[str, Any] = {"before": block.before}
        if block.ident is not None:
            written["ident"] = pack([self._blocks[number].ident for number in form.numbers], numbers=form.numbers)
        if block.value is not ABSENT:
            written["after"] = block.after
            written["style"] = block.style
            columns = iter(zip(*form.rows, strict=True))
            data, constant = self._template(block.value, self._marks[form.sample], columns, form.numbers)
            written["data"] = self._constant(data) if constant else data
        return written

    def _refer(self, definition: list[Any]) -> dict[str, int]:
        name = repr(definition) if definition[0] == "copy" else ""
        if name and name in self._made:
            return {"$": self._made[name]}
        self._refs.append(definition)
        if name:
            self._made[name] = len(self._refs) - 1
        return {"$": len(self._refs) - 1}

    def _template(self, value: Any, marks: Any, columns: Any, numbers: list[int]) -> tuple[Any, bool]:
        """The data of a form, and whether it is constant (then it is still as it was)."""
        if type(marks) is Slot:
            return self._refer(["slot", self._slots[marks], pack(next(columns))]), False
        if type(value) is dict:
            pairs = {
                name: self._template(child, marks.get(name) if marks else None, columns, numbers)
                for name, child in value.items()
            }
            if all(constant for _, constant in pairs.values()):
                return value, True
            inner = {name: self._constant(child) if constant else child for name, (child, constant) in pairs.items()}
            return self._refer(["raw", inner]) if "$" in inner else inner, False
        if type(value) is list:
            items = [
                self._template(child, marks.get(place) if marks else None, columns, numbers)
                for place, child in enumerate(value)
            ]
            if all(constant for _, constant in items):
                return value, True
            return [self._constant(child) if constant else child for child, constant in items], False
        column = next(columns)
        if all(same(column[0], other) for other in column):
            return value, True
        return self._refer(["column", pack([self._constant(item) for item in column], numbers=numbers)]), False

    def _constant(self, value: Any) -> Any:
        """A constant part: as it is, or as a reference to ``final`` where that is shorter."""
        if type(value) not in (dict, list):
            worth = type(value) is str and len(value) >= _WORTH
            path = self._known.find(value) if worth else None
            return value if path is None else self._refer(["copy", list(path)])
        path = self._known.find(value) if len(value) > 0 else None
        if path is not None and len(repr(value)) >= _WORTH:
            return self._refer(["copy", list(path)])
        if type(value) is list:
            return [self._constant(child) for child in value]
        like = self._known.find_like(value)
        if like is not None:
            place, known = like
            other = {key: self._constant(child) for key, child in value.items() if not equal(known[key], child)}
            return self._refer(["like", list(place), other])
        inner = {key: self._constant(child) for key, child in value.items()}
        return self._refer(["raw", inner]) if "$" in inner else inner


def encode_shape(blocks: Sequence[Block], tail: Tail | None, draft: Draft) -> dict[str, Any]:
    """The shape of a stream whose final JSON is ``draft.final``, without its ``chunks``."""
    shape = _Encoder(blocks, draft).run()
    if tail is not None:
        shape["tail"] = [tail.drop, tail.extra, list(tail.rest)]
    return shape


class ShapeTooLarge(Exception):  # noqa: N818  (the caller turns it into an error of playhead)
    """A shape unfolds into more than any stream is."""


class _Changing:
    """A container of an event of which some parts change from event to event: a column's number, or another such."""

    __slots__ = ("base", "parts")

    def __init__(self, base: Any, parts: list[tuple[Any, Any]]) -> None:
        self.base = base
        self.parts = parts

    def make(self, row: int, columns: dict[int, list[Any]]) -> Any:
        value = self.base.copy()
        for key, part in self.parts:
            value[key] = columns[part][row] if type(part) is int else part.make(row, columns)
        return value


class _Decoder:
    """Builds the values of the events again. Refuses to unfold more than ``_MOST`` characters."""

    def __init__(self, final: Any, shape: dict[str, Any]) -> None:
        self._final = final
        self._refs: list[Any] = shape["refs"]
        self._slots: list[Any] = shape["slots"]
        self._forms: list[dict[str, Any]] = shape["forms"]
        self._order: list[int] = unpack(shape["order"])
        self._columns: dict[int, list[Any]] = {}
        self._opened: set[int] = set()
        self._left = _MOST

    def run(self) -> list[Block]:
        numbers: list[list[int]] = [[] for _ in self._forms]
        for number, place in enumerate(self._order):
            numbers[place].append(number)
        makers, costs, idents, users = [], [], [], []
        for form, own in zip(self._forms, numbers, strict=True):
            left = self._left
            used: list[int] = []
            root: list[Any] = [None]
            makers.append(_Changing(root, self._prepare_parts(enumerate([form.get("data")]), root, used)))
            costs.append(left - self._left + len(repr(form)))
            idents.append(unpack(form["ident"], numbers=own) if "ident" in form else None)
            users.append([ref for ref in used if self._refs[ref][0] == "slot"])
            for ref in used:
                if self._refs[ref][0] == "column":
                    column = unpack(self._refs[ref][1], numbers=own)
                    self._columns[ref] = [self._settle(value) if type(value) is dict else value for value in column]
        self._cut_slots(users)
        rows = [0] * len(self._forms)
        blocks: list[Block] = []
        for place in self._order:
            form, row, ids = self._forms[place], rows[place], idents[place]
            rows[place] += 1
            self._spend(costs[place])
            block = Block(form["before"])
            if "style" in form:
                [block.value] = makers[place].make(row, self._columns)
                block.after, block.style = form["after"], form["style"]
            block.ident = None if ids is None else ids[row]
            blocks.append(block)
        return blocks

    def _cut_slots(self, users: list[list[int]]) -> None:
        """Cut each slot at the lengths of its pieces, in the order of the events that bring them."""
        lengths = {ref: iter(unpack(self._refs[ref][2])) for refs in users for ref in refs}
        pieces: list[list[tuple[int, int]]] = [[] for _ in self._slots]
        for place in self._order:
            for ref in users[place]:
                pieces[self._refs[ref][1]].append((ref, next(lengths[ref])))
        for (kind, style, path), cuts in zip(self._slots, pieces, strict=True):
            whole = self._whole(kind, style, tuple(path))
            self._spend(len(whole))
            for (ref, _), piece in zip(cuts, _cut(whole, [length for _, length in cuts]), strict=True):
                self._columns.setdefault(ref, []).append(piece)

    def _whole(self, kind: str, style: str, path: Path) -> Any:
        value = look_up(self._final, path)
        if kind == "list":
            return value if type(value) is list else []
        if value is None or type(value) is str:
            return value or ""
        return dump(value, style or "c")

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ShapeTooLarge

    def _prepare_parts(self, pairs: Iterable[tuple[Any, Any]], base: Any, used: list[int]) -> list[tuple[Any, Any]]:
        """Put in ``base`` what is the same in all events, and give back what is not; ``used`` notes references."""
        parts: list[tuple[Any, Any]] = []
        for key, node in pairs:
            base[key] = None
            value = self._prepare(node, used)
            if type(value) is _Reference:
                used.append(value.number)
                parts.append((key, value.number))
            elif type(value) is _Changing:
                parts.append((key, value))
            else:
                base[key] = value
        return parts

    def _prepare(self, node: Any, used: list[int]) -> Any:
        if type(node) is dict and "$" in node:
            number = node["$"]
            definition = self._refs[number]
            if definition[0] in ("raw", "like"):
                if number in self._opened:
                    raise ShapeTooLarge  # the encoder writes one for each place; twice is how a bomb is built
                self._opened.add(number)
            self._spend(64 + len(repr(definition)))
            match definition[0]:
                case "slot" | "column":
                    return _Reference(number)
                case "copy":
                    part = look_up(self._final, tuple(definition[1]))
                    self._spend(len(repr(part)))
                    return part
                case "like":
                    part = look_up(self._final, tuple(definition[1]))
                    self._spend(len(repr(part)))
                    other = {key: self._settle(child) for key, child in definition[2].items()}
                    return part | other if type(part) is dict else other
            node = definition[1]
        if type(node) is dict:
            base: Any = {}
            parts = self._prepare_parts(node.items(), base, used)
        elif type(node) is list:
            base = [None] * len(node)
            parts = self._prepare_parts(enumerate(node), base, used)
        else:
            return node
        return _Changing(base, parts) if parts else base

    def _settle(self, node: Any) -> Any:
        """A node that has to be the same in all events."""
        used: list[int] = []
        value = self._prepare(node, used)
        if used or type(value) is _Reference:
            raise ValueError("a part that changes where none may")
        return value


class _Reference:
    """A column or a slot, found where a value may stand."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _cut(whole: Any, lengths: list[int]) -> list[Any]:
    """As many pieces as there are lengths.

    Where the lengths no longer add up (a mask or an edit changed the text), the pieces keep their share of it and
    the last takes what is left.
    """
    total, size = sum(lengths), len(whole)
    pieces: list[Any] = []
    at = done = 0
    for length in lengths:
        done += length
        end = done if total == size else done * size // max(total, 1)
        pieces.append(whole[at:end])
        at = end
    if pieces and at < size:
        pieces[-1] += whole[at:]
    return pieces


def decode_shape(final: Any, shape: Any) -> tuple[list[Block], Tail | None]:
    """The events of a stream again, and how its last one was left.

    Raises ShapeTooLarge for a bomb; ValueError, KeyError, IndexError, TypeError or AttributeError for what is no shape.
    """
    if shape["v"] != VERSION:
        raise ValueError("a shape of another version")
    blocks = _Decoder(final, shape).run()
    if "tail" not in shape:
        return blocks, None
    drop, extra, rest = shape["tail"]
    return blocks, Tail(drop, extra, bytes(rest))
