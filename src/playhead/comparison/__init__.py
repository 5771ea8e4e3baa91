"""Comparing two recordings: what was asked, what was answered, how it ended. Timings do not count."""

from playhead.comparison._aligning import Pair, align
from playhead.comparison._comparing import Change, Comparison, Level, Place, compare
from playhead.comparison._sequences import Item, align_items, common_subsequence
from playhead.comparison._spending import Spending, Spent, has_prices

__all__ = [
    "Change",
    "Comparison",
    "Item",
    "Level",
    "Pair",
    "Place",
    "Spending",
    "Spent",
    "align",
    "align_items",
    "common_subsequence",
    "compare",
    "has_prices",
]
