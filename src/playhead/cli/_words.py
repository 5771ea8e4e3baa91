"""Times, sizes and amounts as people say them."""

from __future__ import annotations

import re
from typing import Final

import click

_SECOND_NS: Final = 1_000_000_000
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def duration(ns: int) -> str:
    """Nanoseconds in two or three digits and a unit.

    >>> [duration(ns) for ns in (900, 4_200_000, 61_000_000_000, 7_300_000_000_000)]
    ['1 µs', '4.2 ms', '1m 01s', '2h 01m']
    """
    if ns < 1_000_000:
        return f"{max(ns, 0) / 1000:.0f} µs"
    if ns < _SECOND_NS:
        return f"{ns / 1e6:.1f} ms" if ns < 10_000_000 else f"{ns / 1e6:.0f} ms"
    seconds = ns / _SECOND_NS
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    return f"{whole // 3600}h {whole % 3600 // 60:02}m"


def ago(ns: int) -> str:
    """How long ago something was, roughly.

    >>> [ago(seconds * 1_000_000_000) for seconds in (3, 200, 7300, 200_000)]
    ['just now', '3 min ago', '2 h ago', '2 days ago']
    """
    seconds = ns // _SECOND_NS
    if seconds < 60:
        return "just now" if seconds < 10 else f"{seconds} s ago"
    if seconds < 3600:
        return f"{seconds // 60} min ago"
    if seconds < 48 * 3600:
        return f"{seconds // 3600} h ago"
    return f"{seconds // 86_400} days ago"


def size(count: int) -> str:
    """Bytes in a readable unit.

    >>> [size(count) for count in (512, 4_300, 61_000_000)]
    ['512 B', '4.3 kB', '61 MB']
    """
    if count < 1000:
        return f"{count} B"
    amount, units = count / 1000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while amount >= 999.5 and (larger := next(units, None)):
        amount, unit = amount / 1000, larger
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"


class Span(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic from click 8.3 on
    """A stretch of time on the command line, such as ``24h`` or ``7d``; in nanoseconds."""

    name = "span"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The nanoseconds of ``value``."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", str(value))
        if match is None:
            self.fail(f"{value!r} is not a span of time such as 30m, 24h or 7d", param, ctx)
        return int(float(match[1]) * _UNITS[match[2]] * _SECOND_NS)
