"""The agent and the scripted model behind ``playhead demo``.

``agent.py`` is an agent as anyone would write it: a ticket, a model, four tools, one of which is turned down late.
It stands alone, so it can be copied and run anywhere. ``script.py`` is its model.
"""

from pathlib import Path

from .script import answer, serve

__all__ = ["AGENT_PATH", "answer", "serve"]

AGENT_PATH = Path(__file__).with_name("agent.py")
"""The agent's source file."""
