"""Secrets in base64: found by decoding what decodes to text, replaced by encoding what was masked.

The base64 of printable ASCII has a tell-tale pattern in each group of four characters, at whatever place of the
run it begins. Three such groups in a row are worth a decoding; images, digests and random identifiers have few.
What is replaced stays base64, so a program that decodes it goes on; runs without a secret are left alone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator

__all__ = ["BASE64_PATTERN", "list_runs", "recode"]

_GROUP = "[CDI-Za-f][AQgwC-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
BASE64_PATTERN = f"{_GROUP}{_GROUP}{_GROUP}(?:{_GROUP})*"
"""Twelve characters and more that decode to printable ASCII, blanks or line ends."""

_STRETCH = re.compile(f"(?:{_GROUP}){{3,}}+")
_RUN = re.compile(r"[A-Za-z0-9+/_-]++={0,2}")
_RUN_BACKWARDS = re.compile(r"[A-Za-z0-9+/_-]*+")
_WRAP = re.compile(r"\r?\n(?=[A-Za-z0-9+/]{4})")
_TO_STANDARD = str.maketrans("-_", "+/")
_LEAST_LINE = 60


def list_runs(text: str, places: Iterable[int]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The runs of base64 around ``places``, ascending: (start, end, where in the run its groups may begin: 0 to 3)."""
    done = 0
    for place in places:
        if place < done:
            continue
        start = _run_start(text, place, done)
        end = _run_end(text, place)
        done = end
        offsets = sorted({(stretch.start() - start) % 4 for stretch in _STRETCH.finditer(text, start, end)})
        yield start, end, tuple(offsets) if "\n" not in text[start:end] else (0,)


def _run_start(text: str, place: int, floor: int) -> int:
    start = place
    reach = 64
    while start > floor:
        before = _RUN_BACKWARDS.match(text[max(floor, start - reach) : start][::-1])
        length = before.end() if before else 0
        start -= length
        if length < reach:
            break
        reach *= 4
    return start


def _run_end(text: str, place: int) -> int:
    """The end of the run, over the line ends of a block of lines of 60 characters and more."""
    end = place
    while run := _RUN.match(text, end):
        line, end = run.end() - end, run.end()
        wrap = _WRAP.match(text, end)
        if wrap is None or line < _LEAST_LINE or text[end - 1] == "=":
            break
        end = wrap.end()
    return end


def recode(run: str, offset: int, mask: Callable[[bytes], bytes]) -> str | None:
    """``run`` with what it decodes to (from ``offset`` on) masked, or ``None`` if that changed nothing."""
    body = "".join(run[offset:].split()) if "\n" in run else run[offset:]
    bare = body.rstrip("=")
    if len(bare) % 4 == 1:
        bare = bare[:-1]
    standard = bare.translate(_TO_STANDARD)
    decoded = base64.b64decode(standard + "=" * (-len(standard) % 4))
    masked = mask(decoded)
    if masked == decoded:
        return None
    encode = base64.urlsafe_b64encode if standard != bare else base64.b64encode
    coded = encode(masked).decode("ascii")
    return run[:offset] + (coded if len(body) % 4 == 0 else coded.rstrip("="))
