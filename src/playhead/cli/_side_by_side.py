"""Two recordings as two columns: what a terminal shows of a comparison, and what its page shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final, Literal

import click
import msgspec

from playhead.cli._output import say, width
from playhead.cli._timeline import Row, row_of
from playhead.cli._words import duration
from playhead.comparison import Change, Comparison, Place, Spent
from playhead.eventlog import Recording, counted, printable
from playhead.player import Difference

_PIPED: Final = 160
_NARROW: Final = 60
_SHOWN: Final = 12
_LONG: Final = 600
_AROUND: Final = 1
"""How many equal exchanges are shown before and after a change."""

_COLOURS = {"+": "green", "-": "red", "~": "yellow", "≈": "cyan", " ": None}


class Line(msgspec.Struct, frozen=True):
    """A row of the two columns, or, where ``equal`` is more than 0, so many equal exchanges in a row."""

    sign: Literal["+", "-", "~", "≈", " "] = " "
    before: Row | None = None
    after: Row | None = None
    change: Change | None = None
    equal: int = 0


class Sides:
    """Both recordings and what was found between them."""

    def __init__(self, before: Recording, after: Recording, found: Comparison) -> None:
        self.before = before
        self.after = after
        self.found = found

    def lines(self, *, wide: int, whole: bool = False) -> Iterator[Line]:
        """The rows; ``wide`` is about how long a cell may be. Equal ones far from a change are summed up.

        ``whole`` shows all of them.
        """
        places = self.found.places
        near = set(range(len(places)) if whole else self._near())
        skipped = 0
        for number, place in enumerate(places):
            if number not in near:
                skipped += 1
                continue
            if skipped:
                yield Line(equal=skipped)
            skipped = 0
            yield self._line(place, wide)
        if skipped:
            yield Line(equal=skipped)

    def _near(self) -> Iterator[int]:
        for number, place in enumerate(self.found.places):
            if place.change is not None:
                yield from range(number - _AROUND, number + _AROUND + 1)

    def _line(self, place: Place, wide: int) -> Line:
        change = self.found.changes[place.change] if place.change is not None else None
        ours = _row(self.before, self._ours, place.seq, wide)
        return Line(sign_of(change), ours, _row(self.after, self._theirs, place.seq_after, wide), change)

    @cached_property
    def _ours(self) -> dict[int, int]:
        return {question.seq: at for at, question in enumerate(self.before.questions)}

    @cached_property
    def _theirs(self) -> dict[int, int]:
        return {question.seq: at for at, question in enumerate(self.after.questions)}

    def facts(self) -> Iterator[tuple[str, str, str]]:
        """What is told of both runs as a whole: a name, and how it is in each."""
        found = self.found
        yield "outcome", found.outcomes[0], found.outcomes[1]
        yield "steps", str(found.steps[0]), str(found.steps[1])
        yield "tools", _calls(found.calls[0]), _calls(found.calls[1])
        yield "models", _models(found.models[0]), _models(found.models[1])
        first, second = found.spent
        if first != Spent() or second != Spent():
            yield "tokens", _tokens(first), _tokens(second)
            yield "cost", _cost(first), _cost(second)
        yield "took", duration(found.took_ns[0]), duration(found.took_ns[1])

    def verdict(self) -> str:
        """Whether they are the same, as closely as they were compared, and how many places are not."""
        found = self.found
        here = sum(change.counts for change in found.changes)
        places = f"{counted(found.equal, 'exchange')} equal, {len(found.changes)} not"
        if here < len(found.changes):
            places += f", of which {here} count"
        how = {"names": "by names", "shapes": "by names and shapes", "values": "by values"}[found.on]
        if found.outcomes[0] != found.outcomes[1]:
            places += "; the outcome differs"
        return f"{'the same' if found.same else 'different'} {how}: {places}"


def sign_of(change: Change | None) -> Literal["+", "-", "~", "≈", " "]:
    """The sign of a change; ``≈`` for one that does not count."""
    if change is None:
        return " "
    if not change.counts:
        return "≈"
    return "+" if change.kind == "added" else "-" if change.kind == "removed" else "~"


def _row(recording: Recording, places: dict[int, int], seq: int | None, wide: int) -> Row | None:
    return row_of(recording.exchanges[places[seq]], width=wide) if seq is not None else None


def _calls(calls: dict[str, int]) -> str:
    named = (f"{name} × {count}" if count > 1 else name for name, count in sorted(calls.items()))
    return printable(", ".join(named) or "none", limit=_LONG)


def _models(names: tuple[str, ...]) -> str:
    return printable(", ".join(names) or "none", limit=_LONG)


def _tokens(spent: Spent) -> str:
    unknown = f", {spent.uncounted} unknown" if spent.uncounted else ""
    return f"{spent.input_tokens:,} in, {spent.output_tokens:,} out{unknown}"


def _cost(spent: Spent) -> str:
    known = f"${spent.usd:.4f}" if spent.usd else ""
    return ", ".join(part for part in (known, f"{spent.unpriced} unknown" if spent.unpriced else "") if part) or "$0"


def cell(row: Row | None) -> str:
    """An exchange in one cell."""
    if row is None:
        return ""
    step = str(row.step) if row.step is not None else "·"
    lane = f" [{printable(row.lane.removeprefix('main/'))}]" if row.lane != "main" else ""
    return f"{step} {row.kind} {row.name} {row.said}{lane}".rstrip()


def told(change: Change, *, most: int = _SHOWN) -> Iterator[str]:
    """What differs at a place, a line each."""
    for title, found in (("asked", change.asked), ("answered", change.answered)):
        yield from list_differences(title, found, most=most)


def list_differences(title: str, found: tuple[Difference, ...], *, most: int = _SHOWN) -> Iterator[str]:
    """Differences, a line each, at most so many of them."""
    for each in found[:most]:
        yield f"{title} {printable(each.path or '/')}: {printable(each.words(), limit=_LONG)}"
    if len(found) > most:
        yield f"{title}: … and {counted(len(found) - most, 'place')} more"


def print_sides(sides: Sides) -> None:
    """Print the two columns, and below each change that counts what differs."""
    found = sides.found
    columns = max(width(piped=_PIPED), _NARROW)
    half = (columns - 3) // 2
    _print_row(" ", printable(found.before), printable(found.after), half, bold=True)
    for name, old, new in sides.facts():
        fg = "yellow" if old != new and name == "outcome" else None
        _print_row(
            " " if old == new else "~" if fg else "≈", f"{name}: {old}", f"{name}: {new}", half, fg=fg, dim=fg is None
        )
    click.echo()
    for line in sides.lines(wide=half):
        if line.equal:
            click.secho(f"  … {counted(line.equal, 'exchange')} equal", dim=True)
            continue
        _print_row(line.sign, cell(line.before), cell(line.after), half, fg=_COLOURS[line.sign], dim=line.sign == " ")
        if line.change is not None and line.change.counts:
            for text in told(line.change):
                click.echo(f"      {text}")
    _print_end(sides)


def _print_end(sides: Sides) -> None:
    found = sides.found
    if found.on == "values":
        for text in list_differences("ending", found.result):
            click.echo(text)
        for text in list_differences("other id or time", found.renamed):
            click.secho(f"  {text}", dim=True)
    click.secho(sides.verdict(), fg="green" if found.same else "red", bold=True)
    hidden = sum(not change.counts for change in found.changes) + (found.on != "values" and bool(found.result))
    if hidden:
        say(f"  what else differs (≈): playhead diff {printable(found.before)} {printable(found.after)} --values")


def _print_row(sign: str, before: str, after: str, half: int, **style: Any) -> None:
    click.secho(f"{sign} {_fitted(before, half - 2)} │ {_fitted(after, half - 2)}".rstrip(), **style)


def _fitted(text: str, size: int) -> str:
    from rich.cells import cell_len, set_cell_size

    return set_cell_size(text, size) if cell_len(text) <= size else f"{set_cell_size(text, size - 1)}…"
