"""A comparison as a page: one file without scripts, to be attached to a ticket."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from playhead.cli._side_by_side import Line, Sides, cell, list_differences, told
from playhead.eventlog import counted, printable

_WIDE: Final = 400
_MOST: Final = 200
_CLASSES: Final = {"+": "added", "-": "removed", "~": "changed", "≈": "close", " ": "equal"}

_STYLE: Final = """
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 110rem; padding: 0 1rem; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; }
th, td { overflow-wrap: anywhere; padding: .2rem .6rem; text-align: left; vertical-align: top; }
td { border-top: 1px solid #8883; font-family: ui-monospace, monospace; font-size: 12px; }
.sign { width: 1.5rem; } .name { width: 7rem; }
.equal, .facts td { opacity: .65; }
.added td { background: #2a22; } .removed td { background: #c222; } .changed td { background: #ca02; }
.close td { background: #08c1; }
.facts .differs td { opacity: 1; }
.verdict { font-weight: 600; }
"""


def page(sides: Sides) -> str:
    """The whole page."""
    return "\n".join(_lines(sides)) + "\n"


def _lines(sides: Sides) -> Iterator[str]:
    found = sides.found
    before, after = _text(found.before), _text(found.after)
    yield f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{before} → {after}</title>'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<style>{_STYLE}</style>\n<h1>{before} → {after}</h1>"
    yield f'<p class="verdict">{_text(sides.verdict())}</p>'
    yield f'<table class="facts"><tr><th class="name"></th><th>{before}</th><th>{after}</th></tr>'
    for name, old, new in sides.facts():
        differs = ' class="differs"' if old != new else ""
        yield f"<tr{differs}><th>{_text(name)}</th><td>{_text(old)}</td><td>{_text(new)}</td></tr>"
    yield f'</table>\n<table><tr><th class="sign"></th><th>{before}</th><th>{after}</th></tr>'
    for line in sides.lines(wide=_WIDE):
        yield from _row(line)
    yield "</table>"
    yield from _list("The ending", list(list_differences("ending", found.result, most=_MOST)))
    yield from _list("Other ids and times", list(list_differences("", found.renamed, most=_MOST)))
    yield "</html>"


def _row(line: Line) -> Iterator[str]:
    if line.equal:
        yield f'<tr class="equal"><td></td><td colspan="2">… {_text(counted(line.equal, "exchange"))} equal</td></tr>'
        return
    cells = "".join(f"<td>{_text(cell(row))}</td>" for row in (line.before, line.after))
    yield f'<tr class="{_CLASSES[line.sign]}"><td>{line.sign}</td>{cells}</tr>'
    texts = list(told(line.change, most=_MOST)) if line.change is not None else []
    if texts:
        opened = " open" if line.change is not None and line.change.counts else ""
        items = "<br>".join(map(_text, texts))
        summary = f"<summary>{_text(counted(len(texts), 'difference'))}</summary>"
        yield f'<tr><td></td><td colspan="2"><details{opened}>{summary}{items}</details></td></tr>'


def _list(title: str, texts: list[str]) -> Iterator[str]:
    if texts:
        yield f"<h2>{_text(title)}</h2>\n<ul>"
        yield from (f"<li>{_text(text.strip())}</li>" for text in texts)
        yield "</ul>"


def _text(text: str) -> str:
    """Text that is nothing but text, in a browser as on a terminal."""
    return escape(printable(text, limit=10_000))
