"""Recordings that are derived from others: edits as data, the named faults, and the writing of what they make.

The recording that is edited stays as it is. What is derived names it as its parent, lists the edits, and holds all
events after an edit as they were recorded: a replay goes on with them for as long as the program asks the same.
"""

from playhead.editing._applying import with_manner
from playhead.editing._deriving import derive
from playhead.editing._edits import (
    FAULTS,
    Adds,
    Answers,
    Asks,
    Delays,
    Drops,
    Edit,
    Ends,
    FaultName,
    Faults,
    Place,
    Raises,
    Reads,
    Responds,
    Returns,
    Says,
    Takes,
    Wanted,
    as_place,
)
from playhead.editing._errors import error_tree
from playhead.editing._fork_rules import LIVE, ForkRules
from playhead.editing._forking import ForkSession
from playhead.editing._prefixes import copy_prefix, find_point
from playhead.editing._saying import first_said

__all__ = [
    "FAULTS",
    "LIVE",
    "Adds",
    "Answers",
    "Asks",
    "Delays",
    "Drops",
    "Edit",
    "Ends",
    "FaultName",
    "Faults",
    "ForkRules",
    "ForkSession",
    "Place",
    "Raises",
    "Reads",
    "Responds",
    "Returns",
    "Says",
    "Takes",
    "Wanted",
    "as_place",
    "copy_prefix",
    "derive",
    "error_tree",
    "find_point",
    "first_said",
    "with_manner",
]
