"""Finding the step at which a run went wrong: few checks, and no answer where there is none.

`bisect` is the search itself, over anything that has steps. `bisect_recording` runs it over the prefixes of a
recording, with a function of one's own (`check_of`), a program (`command_check`) or rules by name (`make_check`).
`Marking` is a search by hand. `blame` finds which answers of a failing run made it fail, by replays with answers of a
passing one, and `shrink` the shortest recording that still fails.
"""

from playhead.bisection._blaming import Blamed, blame, edits_played
from playhead.bisection._checks import (
    GOOD,
    Bisected,
    Check,
    Judgement,
    all_of,
    bisect_recording,
    check_failed,
    check_of,
    held_so_far,
)
from playhead.bisection._commands import command_check, prefix_as_data
from playhead.bisection._loading import load_function
from playhead.bisection._marking import Mark, Marking, forget_marks
from playhead.bisection._mixing import Difference
from playhead.bisection._prefixes import Prefix, Prefixes, Return
from playhead.bisection._rules import RULES, Rule, make_check
from playhead.bisection._search import Finding, Search, Turn, Verdict, bisect
from playhead.bisection._shrinking import Shrunk, shrink

__all__ = [
    "GOOD",
    "RULES",
    "Bisected",
    "Blamed",
    "Check",
    "Difference",
    "Finding",
    "Judgement",
    "Mark",
    "Marking",
    "Prefix",
    "Prefixes",
    "Return",
    "Rule",
    "Search",
    "Shrunk",
    "Turn",
    "Verdict",
    "all_of",
    "bisect",
    "bisect_recording",
    "blame",
    "check_failed",
    "check_of",
    "command_check",
    "edits_played",
    "forget_marks",
    "held_so_far",
    "load_function",
    "make_check",
    "prefix_as_data",
    "shrink",
]
