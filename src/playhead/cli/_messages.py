"""The page of messages, as it is installed with the command line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_INSTALLED: Final = Path(__file__).with_name("messages.md")
_IN_CHECKOUT: Final = Path(__file__).parents[3] / "docs" / "reference" / "messages.md"

_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")
_EMPHASIS: Final = re.compile(r"(?<!\w)\*{1,2}([^*]+)\*{1,2}(?!\w)")
_ITEM: Final = re.compile(r"^(?:\d+\.|-) ")


def read_messages() -> dict[str, str]:
    """The text under each heading of the page, by the heading."""
    page = (_INSTALLED if _INSTALLED.exists() else _IN_CHECKOUT).read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:])
    return {title.strip(): text.strip() for title, _, text in sections}


def wrapped(markdown: str, width: int) -> Iterator[str]:
    """A section in lines of a terminal: no marks for links and emphasis, each item of a list begins a line."""
    for paragraph in _EMPHASIS.sub(r"\1", _LINK.sub(r"\1", markdown)).split("\n\n"):
        yield ""
        for item in re.split(r"\n(?=(?:\d+\.|-) )", paragraph):
            hanging = _ITEM.match(item)
            indent = "  " + " " * (len(hanging[0]) if hanging else 0)
            yield from textwrap.wrap(
                item,
                width,
                initial_indent="  ",
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
