"""Stopping in a debugger: pdb in the agent's own frame, any other one in a frame that shows the agent's line."""

from __future__ import annotations

import ast
import os
import pdb
import sys
import threading
from types import FrameType
from typing import Any

from playhead.integrations._frames import agent_frame, is_within_ours
from playhead.player import Stop, Stops

_HOOK = "playhead_stops_here"
_ROUND = "playhead_round"
_pdbs = threading.local()


def halt_in_debugger(stops: Stops, stop: Stop) -> bool:
    """Let a person look at the agent where it asked for a step; whether the replay goes on.

    Which debugger that is `sys.breakpointhook` says, and so PYTHONBREAKPOINT: ``0`` there stops nowhere.
    """
    frame = agent_frame(sys._getframe(1))
    named = os.environ.get("PYTHONBREAKPOINT", "")
    if sys.breakpointhook is not sys.__breakpointhook__:
        _call_hook(frame)
    elif named in ("", "pdb.set_trace"):
        return _enter_pdb(stops, stop, frame)
    elif named != "0":
        _call_hook(frame)
    return True


def _call_hook(frame: FrameType) -> None:
    """Call `sys.breakpointhook` from a frame that stands at the agent's line and has its variables.

    A debugger shows where it is called from, or stops where the next line begins there. That is the same line again,
    in the second round of a loop: so it sees the agent before the answer.
    """
    module = ast.parse(f"for {_ROUND} in (1, 2): {_ROUND} == 1 and {_HOOK}()")
    for node in ast.walk(module):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno = node.end_lineno = frame.f_lineno
    code = compile(module, frame.f_code.co_filename, "exec").replace(co_name=frame.f_code.co_name)
    exec(code, frame.f_globals, {**frame.f_locals, _HOOK: sys.breakpointhook})


def _enter_pdb(stops: Stops, stop: Stop, frame: FrameType) -> bool:
    debugger = getattr(_pdbs, "debugger", None)
    if debugger is None:
        debugger = _pdbs.debugger = _AgentPdb()
    return bool(debugger.stop(stops, stop, frame))


class _AgentPdb(pdb.Pdb):
    """pdb that begins in the agent's frame, passes our own by, and ends the replay when it is left."""

    def __init__(self) -> None:
        super().__init__(skip=["playhead", "playhead.*"])
        self._stops: Stops
        self._at: Stop
        self._is_asking = False
        self._is_left = False

    def stop(self, stops: Stops, stop: Stop, frame: FrameType) -> bool:
        """Prompt in ``frame``; whether the replay goes on."""
        sys.settrace(None)
        self._stops, self._at = stops, stop
        self.set_trace(frame)  # has the frame and its callers traced; that begins when we have returned to it
        sys.settrace(None)
        self._is_asking = True
        try:
            self.message(f"replay of {stop.recording.id} stopped at step {stop.step} (more: playhead.here)")
            super().interaction(frame, None)
        finally:
            self._is_asking = False
        if self._is_left:
            return False
        if self.breaks or self.stoplineno != -1:
            sys.settrace(self.trace_dispatch)
        return True

    def set_trace(self, frame: FrameType | None = None, **how: Any) -> None:
        """Begin to trace ``frame`` and its callers."""
        assert frame is not None
        self.reset()
        each: FrameType | None = frame
        while each is not None:
            each.f_trace = self.trace_dispatch
            each.f_trace_lines = True
            self.botframe = each
            each = each.f_back
        self.set_step()

    def interaction(self, *where: Any) -> None:
        """A prompt after a step on from there: nobody else goes on meanwhile either."""
        with self._stops.held():
            super().interaction(*where)

    def stop_here(self, frame: FrameType) -> bool:
        """Whether to stop in ``frame``: never in what ours call on their way back to the agent."""
        return bool(super().stop_here(frame)) and not is_within_ours(frame)

    def do_step(self, arg: str) -> Any:
        """Where a step is asked for there is nothing to step into: its answer comes from the recording."""
        return self.do_next(arg) if self._is_asking else super().do_step(arg)

    do_s = do_step

    def do_quit(self, arg: str) -> Any:
        """Leave the debugger, and end the replay here."""
        self._is_left = True
        self.set_continue()
        sys.settrace(None)
        if not self._is_asking:
            self._error = self._stops.end(self._at.step)
        return True

    do_q = do_exit = do_quit

    def do_EOF(self, arg: str) -> Any:  # noqa: N802
        """The end of the input: the same."""
        self.message("")
        return self.do_quit(arg)

    def trace_dispatch(self, *event: Any) -> Any:
        """As pdb; leaving it ends the program as the end of its replay does."""
        found = super().trace_dispatch(*event)
        if self._is_left:
            raise self._error
        return found
