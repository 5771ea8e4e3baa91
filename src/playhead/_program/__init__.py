"""Running a program from outside, recorded or replayed, without a change to it.

The parent starts the command with an order in its environment and a folder before its path, in which the first
Python process finds the order, takes it up and steps aside. What only the end can tell, the two say to each
other through a mailbox: a folder of the parent's.
"""

from playhead._program._closing import Closed, close_recording
from playhead._program._launching import Ended, choose_hash_seed, launch
from playhead._program._mailbox import Mailbox
from playhead._program._orders import Order, variables

__all__ = ["Closed", "Ended", "Mailbox", "Order", "choose_hash_seed", "close_recording", "launch", "variables"]
