"""Answering a program from its recording, and saying exactly where it asks something else."""

from playhead.player._children import Errands, Handed
from playhead.player._differences import Difference, differences, word_difference
from playhead.player._matching import LooseMatcher, Match, Matcher, Matching, StrictMatcher, Verdict
from playhead.player._report import Divergence, Drift, Reordered, ReplayReport, Unplayed
from playhead.player._requests import Normaliser, Request, request_of_event
from playhead.player._session import ReplaySession

__all__ = [
    "Difference",
    "Divergence",
    "Drift",
    "Errands",
    "Handed",
    "LooseMatcher",
    "Match",
    "Matcher",
    "Matching",
    "Normaliser",
    "Reordered",
    "ReplayReport",
    "ReplaySession",
    "Request",
    "StrictMatcher",
    "Unplayed",
    "Verdict",
    "differences",
    "request_of_event",
    "word_difference",
]
