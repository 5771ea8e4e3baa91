"""Running a program from outside, recorded or replayed, without a change to it.

The parent starts the command with an order in its environment and a folder before its path, in which the first
Python process finds the order, takes it up and steps aside. What only the end can tell, the two say to each
other through a mailbox: a folder of the parent's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from playhead._late_names import late_names as _late

if TYPE_CHECKING:
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

_HOMES = {
    "Captured": "_capturing",
    "Closed": "_closing",
    "Ended": "_launching",
    "ForkOrder": "_orders",
    "KEYS": "_routes",
    "Match": "_replaying",
    "Play": "_many",
    "Played": "_many",
    "Recorded": "_recording",
    "Replayed": "_replaying",
    "Reply": "_controlled",
    "Request": "_controlled",
    "Stopping": "_orders",
    "SuitePlayer": "_suites",
    "Task": "_child",
    "begin_child": "_child",
    "begin_in_fork": "_child",
    "capture": "_capturing",
    "close_recording": "_closing",
    "count_cores": "_suites",
    "find_routes": "_routes",
    "keys_of": "_suites",
    "play_suite": "_suites",
    "record_program": "_recording",
    "replay_program": "_replaying",
    "variables": "_orders",
}

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

__getattr__ = _late(__name__, _HOMES)
