"""Running a program from outside, recorded or replayed, without a change to it.

The parent starts the command with an order in its environment and a folder before its path, in which the first
Python process finds the order, takes it up and steps aside. What only the end can tell, the two say to each
other through a mailbox: a folder of the parent's.
"""

from playhead._program._capturing import Captured, capture
from playhead._program._child import Task, begin_child, begin_in_fork
from playhead._program._closing import Closed, close_recording
from playhead._program._controlled import Reply, Request
from playhead._program._launching import Ended
from playhead._program._many import Play, Played
from playhead._program._orders import ForkOrder, Stopping, variables
from playhead._program._recording import Recorded, record_program
from playhead._program._replaying import Match, Replayed, replay_program
from playhead._program._routes import KEYS, find_routes
from playhead._program._suites import SuitePlayer, count_cores, keys_of, play_suite

__all__ = [
    "KEYS",
    "Captured",
    "Closed",
    "Ended",
    "ForkOrder",
    "Match",
    "Play",
    "Played",
    "Recorded",
    "Replayed",
    "Reply",
    "Request",
    "Stopping",
    "SuitePlayer",
    "Task",
    "begin_child",
    "begin_in_fork",
    "capture",
    "close_recording",
    "count_cores",
    "find_routes",
    "keys_of",
    "play_suite",
    "record_program",
    "replay_program",
    "variables",
]
