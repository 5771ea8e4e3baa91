"""A loopback server whose requests cross the boundary, for agents whose model calls are made by another process.

Whatever takes a base URL, in any language, is pointed at `Gateway.url`; what it asks is asked of the upstream, and
recorded, or answered from a recording. The gateway does not know which.
"""

from playhead.gateway._addresses import VARIABLES, set_address, usual_addresses
from playhead.gateway._conversations import Conversations
from playhead.gateway._gateway import Gateway

__all__ = ["VARIABLES", "Conversations", "Gateway", "set_address", "usual_addresses"]
