"""Secrets in base64: found by decoding what decodes to text, replaced by encoding what was masked.

The base64 of printable ASCII has a tell-tale pattern in each group of four characters, at whatever place of the
run it begins. Three such groups in a row are worth a decoding; images, digests and random identifiers have few.
What is replaced stays base64, so a program that decodes it goes on; runs without a secret are left alone.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from playhead.masking._patterns import regex

__all__ = ["BASE64_PATTERN", "Run", "list_runs", "recode"]

_GROUP = "[CDI-Za-f][AQgwC-HS-Xi-ny-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
BASE64_PATTERN = f"{_GROUP}{_GROUP}{_GROUP}(?:{_GROUP})*"
"""Twelve characters and more that decode to printable ASCII, blanks or line ends."""

_RUN = regex(r"[A-Za-z0-9+/_-]++={0,2}")
_RUN_BACKWARDS = regex(r"[A-Za-z0-9+/_-]*+")
_WRAP = regex(r"\r?\n(?=[A-Za-z0-9+/]{4})")
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_LEAST_LINE = 60


@dataclass(slots=True)
class Run:
    """A run of base64, and the stretches of it that decode to text, by where in the run their groups begin."""

    start: int
    end: int
    is_wrapped: bool
    stretches: dict[int, list[tuple[int, int]]]

    def probe(self, text: str, offset: int) -> bytes:
        """What the stretches and a group at both sides of each decode to: enough to tell that there is no secret."""
        if self.is_wrapped:
            return _decode("".join(text[self.start : self.end].split()))
        return b"\n".join(
            [
                _decode(text[first - 4 if first - 4 >= self.start else first : min(last + 4, self.end)])
                for first, last in self.stretches[offset]
            ]
        )


def list_runs(text: str, stretches: Iterable[tuple[int, int]]) -> list[Run]:
    """The runs around ``stretches``, which ascend and are what `BASE64_PATTERN` matches."""
    runs: list[Run] = []
    for first, last in stretches:
        if not runs or first >= runs[-1].end:
            start, end = _run_start(text, first, runs[-1].end if runs else 0), _run_end(text, first)
            runs.append(Run(start, end, "\n" in text[start:end], {}))
        run = runs[-1]
        run.stretches.setdefault(0 if run.is_wrapped else (first - run.start) % 4, []).append((first, last))
    return runs


def _decode(coded: str) -> bytes:
    bare = coded.rstrip("=").encode("ascii").translate(_TO_STANDARD)
    if len(bare) % 4 == 1:
        bare = bare[:-1]
    return base64.b64decode(bare + b"=" * (-len(bare) % 4))


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


def recode(run: str, offset: int, mask: Callable[[bytes], bytes]) -> str:
    """``run`` with what it decodes to (from ``offset`` on) masked; as it was if that changed nothing."""
    body = "".join(run[offset:].split()) if "\n" in run else run[offset:]
    decoded = _decode(body)
    masked = mask(decoded)
    if masked == decoded:
        return run
    encode = base64.urlsafe_b64encode if "-" in body or "_" in body else base64.b64encode
    coded = encode(masked).decode("ascii")
    return run[:offset] + (coded if len(body) % 4 == 0 else coded.rstrip("="))
