"""How the benchmarks measure and what they print: interleaved rounds, medians, one table, one JSON file each.

A figure stands beside a yardstick that was measured in the same run, since absolute times drift with what else the
machine does. Nothing here fails for being slow; a figure says whether it keeps its budget.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

RESULTS = Path(__file__).parent / "results"

REFERENCE_US = 3.4
"""What `json.dumps` of `_SMALL` took on the machine that the budgets are for, in microseconds."""

_SMALL = {
    "seq": 17,
    "kind": "tool.called",
    "lane": "main",
    "at": 1790000000.25,
    "name": "look_up",
    "arguments": {"order": "A-1042", "limit": 10, "open": True},
}
_factors: list[float] = []

SIZES = ("kB", "MB", "x", "%", "ns on top")
"""Units of what does not depend on how busy the machine is."""


@dataclass(frozen=True)
class Figure:
    """One measured number.

    ``budget`` is in ``unit`` (DESIGN section 12), ``beside`` is the yardstick's own number in ``unit``, and
    ``ratio_budget`` what the ratio of the two may be.
    """

    what: str
    value: float
    unit: str
    budget: float | None = None
    yardstick: str = ""
    beside: float | None = None
    ratio_budget: float | None = None
    better: Literal["lower", "higher"] = "lower"

    @property
    def ratio(self) -> float | None:
        """The number over that of its yardstick."""
        return self.value / self.beside if self.beside else None

    def beside_of(self, yardstick: str, beside: float) -> Figure:
        """The same beside ``yardstick``, whose number in ``unit`` is ``beside``."""
        return replace(self, yardstick=yardstick, beside=beside)

    def verdict(self, factor: float) -> str:
        """``kept``, ``MISSED``, or nothing where there is no budget.

        ``factor`` is how much slower this machine is now than the one that the budgets of time are for.
        """
        slower = 1.0 if self.unit in SIZES else factor if self.better == "lower" else 1 / factor
        budget = self.budget * slower if self.budget is not None else None
        checks = [(self.value, budget), (self.ratio, self.ratio_budget)]
        judged = [(value, limit) for value, limit in checks if value is not None and limit is not None]
        if not judged:
            return ""
        kept = all(value <= limit if self.better == "lower" else value >= limit for value, limit in judged)
        return "kept" if kept else "MISSED"

    def as_dict(self, factor: float) -> dict[str, Any]:
        """What goes into the JSON."""
        return {**asdict(self), "ratio": self.ratio, "verdict": self.verdict(factor)}


def gauge() -> float:
    """Measure once more how much slower this machine is now than the reference machine."""
    begun = time.perf_counter()
    for _ in range(40):
        json.dumps(_SMALL)
    _factors.append((time.perf_counter() - begun) / 40 * 1e6 / REFERENCE_US)
    return _factors[-1]


def factor_now() -> float:
    """How much slower than the reference machine, over all that was gauged so far."""
    while len(_factors) < 30:
        gauge()
    return statistics.median(_factors)


def median_rounds(
    cases: Mapping[str, Callable[[], object]],
    *,
    calls: int = 1,
    rounds: int = 60,
    timer: Callable[[], float] = time.perf_counter,
    between: Callable[[], object] = lambda: None,
) -> dict[str, float]:
    """Microseconds for one call of each case: the median of short bursts of ``calls``, the cases taking turns.

    ``between`` is called, unmeasured, after each burst. The first tenth of the rounds warms up and is not counted.
    """
    seen: dict[str, list[float]] = {name: [] for name in cases}
    turns = range(calls)
    for number in range(rounds + max(1, rounds // 10)):
        gauge()
        for name, work in cases.items():
            begun = timer()
            for _ in turns:
                work()
            taken = timer() - begun
            between()
            if number >= max(1, rounds // 10):
                seen[name].append(taken / calls * 1e6)
    return {name: statistics.median(times) for name, times in seen.items()}


def keep(name: str, figures: Sequence[Figure], *, extra: Mapping[str, Any] | None = None) -> str:
    """Write ``results/<name>.json``, and give its text."""
    factor = factor_now()
    data = {"name": name, "slower_than_reference": factor, "figures": [each.as_dict(factor) for each in figures]}
    data.update(extra or {})
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(data, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return text


def report(name: str, figures: Sequence[Figure], *, note: str = "", extra: Mapping[str, Any] | None = None) -> None:
    """`keep` the figures; print the same with ``--json``, and a table otherwise."""
    text = keep(name, figures, extra=extra)
    if "--json" in sys.argv:
        print(text)
        return
    factor = factor_now()
    print(table([(figure, factor) for figure in figures]))
    print(f"\nThis machine is now {factor:.1f} x as slow as the one that budgets of time are for. {note}".rstrip())


def table(figures: Sequence[tuple[Figure, float]]) -> str:
    """Figures as lines of equal columns, each with how slow the machine was."""
    rows: list[tuple[str, ...]] = [("what", "measured", "budget", "yardstick", "its number", "ratio", "")]
    rows += [row(figure, factor) for figure, factor in figures]
    widths = [max(len(line[column]) for line in rows) for column in range(len(rows[0]))]
    left = (0, 3, 6)
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in rows
    )


def row(figure: Figure, factor: float) -> tuple[str, ...]:
    """The cells of one line."""
    sign = "<=" if figure.better == "lower" else ">="
    budget = f"{sign} {shown(figure.budget)}" if figure.budget is not None else ""
    if figure.ratio_budget is not None:
        budget += f"{', ' if budget else ''}{sign} {figure.ratio_budget:g} x"
    beside = f"{shown(figure.beside)} {figure.unit}" if figure.beside is not None else ""
    ratio = f"{figure.ratio:.3g} x" if figure.ratio is not None else ""
    measured = f"{shown(figure.value)} {figure.unit}"
    return figure.what, measured, budget, figure.yardstick, beside, ratio, figure.verdict(factor)


def shown(value: float | None) -> str:
    """A number with three places that mean something."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
