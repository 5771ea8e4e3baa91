"""A flight recorder and time-travel debugger for AI agents.

Record a run with `record` or ``@agent``, find it again with `load`, replay it offline with `replay` or
`invoke`. Mark tools with ``@tool``, other boundaries with `model` and `wrap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from playhead._late_names import late_names as _late
from playhead._version import __version__

if TYPE_CHECKING:
    from playhead._decorators import agent, calling, checkpoint, cycle, model, tool, wrap
    from playhead._edits import Edits, edit
    from playhead._explicit import now, random, uuid4
    from playhead._forks import Fork, fork
    from playhead._here import here
    from playhead._replays import Replay, invoke, load, replay
    from playhead._runs import Run, record
    from playhead._state import AgentState
    from playhead.errors import DivergenceError, PlayheadError, PlayheadWarning
    from playhead.eventlog import Recording
    from playhead.player import Matcher, ReplayReport, Request, Verdict

_HOMES = {
    "AgentState": "_state",
    "DivergenceError": "errors",
    "Edits": "_edits",
    "Fork": "_forks",
    "Matcher": "player",
    "PlayheadError": "errors",
    "PlayheadWarning": "errors",
    "Recording": "eventlog",
    "Replay": "_replays",
    "ReplayReport": "player",
    "Request": "player",
    "Run": "_runs",
    "Verdict": "player",
    "agent": "_decorators",
    "calling": "_decorators",
    "checkpoint": "_decorators",
    "cycle": "_decorators",
    "edit": "_edits",
    "fork": "_forks",
    "here": "_here",
    "invoke": "_replays",
    "load": "_replays",
    "model": "_decorators",
    "now": "_explicit",
    "random": "_explicit",
    "record": "_runs",
    "replay": "_replays",
    "tool": "_decorators",
    "uuid4": "_explicit",
    "wrap": "_decorators",
}

__all__ = [
    "AgentState",
    "DivergenceError",
    "Edits",
    "Fork",
    "Matcher",
    "PlayheadError",
    "PlayheadWarning",
    "Recording",
    "Replay",
    "ReplayReport",
    "Request",
    "Run",
    "Verdict",
    "__version__",
    "agent",
    "calling",
    "checkpoint",
    "cycle",
    "edit",
    "fork",
    "here",
    "invoke",
    "load",
    "model",
    "now",
    "random",
    "record",
    "replay",
    "tool",
    "uuid4",
    "wrap",
]

__getattr__ = _late(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
