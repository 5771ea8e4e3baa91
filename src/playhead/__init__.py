"""A flight recorder and time-travel debugger for AI agents."""

from playhead._version import __version__

__all__ = ["__version__"]
