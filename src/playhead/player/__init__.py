"""Answering a program from its recording, and saying exactly where it asks something else."""

from playhead.player._answers import outcome_of
from playhead.player._attentive import Asked, AttentiveSession
from playhead.player._children import Errands, Handed
from playhead.player._differences import Difference, differences, word_difference
from playhead.player._mask_keys import tree_without_keys
from playhead.player._matching import LooseMatcher, Match, Matcher, Matching, StrictMatcher, Verdict
from playhead.player._prefix import PrefixSession, RecordedAnswers, boundary_of, model_of
from playhead.player._reads import NOTHING
from playhead.player._reexecuting import Others, ReexecutedAnswers, ReexecutingSession
from playhead.player._report import Divergence, Drift, Reordered, ReplayReport, Unplayed
from playhead.player._requests import Normaliser, Request, request_of_event
from playhead.player._session import ReplaySession
from playhead.player._stops import Halt, Stop, Stops, current_stop

__all__ = [
    "NOTHING",
    "Asked",
    "AttentiveSession",
    "Difference",
    "Divergence",
    "Drift",
    "Errands",
    "Halt",
    "Handed",
    "LooseMatcher",
    "Match",
    "Matcher",
    "Matching",
    "Normaliser",
    "Others",
    "PrefixSession",
    "RecordedAnswers",
    "ReexecutedAnswers",
    "ReexecutingSession",
    "Reordered",
    "ReplayReport",
    "ReplaySession",
    "Request",
    "Stop",
    "Stops",
    "StrictMatcher",
    "Unplayed",
    "Verdict",
    "boundary_of",
    "current_stop",
    "differences",
    "model_of",
    "outcome_of",
    "request_of_event",
    "tree_without_keys",
    "word_difference",
]
