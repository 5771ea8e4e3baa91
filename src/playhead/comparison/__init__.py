"""Comparing two recordings: what was asked, what was answered, how it ended. Timings do not count."""

from playhead.comparison._aligning import Pair, align
from playhead.comparison._comparing import Change, Comparison, compare

__all__ = ["Change", "Comparison", "Pair", "align", "compare"]
