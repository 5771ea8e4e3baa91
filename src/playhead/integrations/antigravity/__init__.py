"""Google Antigravity: agents whose model calls, and many of whose tools, are made by another process, the harness.

The SDK talks with the harness over a websocket. That conversation is what is recorded: each frame to the harness is a
question, each frame from it the answer to one. So a replay needs neither the harness nor a key. The tools that run in
Python cross as tools do, and what the harness does by itself is seen in its frames (see `_actions`).

All of this stands on names that the SDK keeps to itself. They are looked at before anything is replaced; where one is
not as it was, nothing is, and that is said.
"""

from playhead.integrations.antigravity._patching import KNOWN_VERSIONS, find_changed, install

__all__ = ["KNOWN_VERSIONS", "find_changed", "install"]
