"""What the harness does by itself, seen in its frames: commands, files, sub-agents, workflows, tools of other servers.

Each is an exchange with a tool, in a lane of the trajectory that it belongs to. It begins with the frame in which the
action is named and ends with the one in which it is done; what the session gives as its answer stands in that frame.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

from playhead.boundary import Arguments, Call, Lane, Outcome, Raised, Returned, Ticket, finish_async
from playhead.integrations.antigravity._frames import camel, is_finished, snake

_NO_ACTIONS = frozenset({"compaction", "customTool", "error", "finish", "questionsRequest", "toolConfirmationRequest"})
_FOUND = {
    "findFile": {"output"},
    "generateImage": {"imagePaths", "outputPath"},
    "listDirectory": {"results"},
    "editFile": {"diffBlock"},
    "readUrlContent": {"title", "summary", "contentPath"},
    "runCommand": {"exitCode", "combinedOutput"},
    "runWorkflow": {"output"},
    "searchDirectory": {"numResults"},
    "searchWeb": {"summary"},
    "skillLookup": {"resolvedSkillNames", "errorMessage"},
    "viewFile": {"contentOffset"},
}
"""What of an action is an answer, though it may stand in the first frame that names it."""


class _Begun(NamedTuple):
    ticket: Ticket
    asked: dict[str, Any]


class Actions:
    """The actions of one conversation that are going on; ``lane`` is that of the conversation."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._lanes: dict[str, Lane] = {}
        self._begun: dict[tuple[str, str], _Begun] = {}

    async def follow(self, frame: Any, *, seen_in: Lane) -> Any:
        """Take note of what ``frame``, which came in the lane ``seen_in``, says of an action; the frame as it is to be.

        Raises the session's `DivergenceError` where it knows nothing of the action.
        """
        step = frame.get("stepUpdate") if isinstance(frame, dict) else None
        if not isinstance(step, dict):
            return frame
        trajectory = str(step.get("trajectoryId", ""))
        lane = self._lane_of(trajectory, str(step.get("parentTrajectoryId", "")))
        key = _action_in(step)
        if key is None:
            return frame
        place = (trajectory, str(step.get("stepIndex", 0)))
        begun = self._begun.get(place)
        if begun is None:
            begun = self._begun[place] = _begin(lane, key, step[key], ":".join(place), seen_in=seen_in)
        if not is_finished(step):
            return frame
        del self._begun[place]
        outcome = await finish_async(begun.ticket, _outcome(begun, key, step))
        return {**frame, "stepUpdate": _put_back(step, key, outcome)}

    def _lane_of(self, trajectory: str, parent: str) -> Lane:
        """The lane of a trajectory: that of the conversation for the first, else a sub-agent's below its parent's."""
        found = self._lanes.get(trajectory)
        if found is None:
            above = self._lanes.get(parent)
            found = self._lanes[trajectory] = self._lane if above is None else above.child("subagent")
        return found


def _action_in(step: dict[str, Any]) -> str | None:
    return next((key for key, value in step.items() if isinstance(value, dict) and key not in _NO_ACTIONS), None)


def _begin(lane: Lane, key: str, action: dict[str, Any], call_id: str, *, seen_in: Lane) -> _Begun:
    asked = {name: value for name, value in action.items() if name not in _FOUND.get(key, ())}
    name, arguments = snake(key), {snake(each): value for each, value in asked.items()}
    if key == "mcpTool":
        name, arguments = f"mcp_{action.get('serverName')}_{action.get('toolName')}", _mcp_arguments(action)
    lane.session.follows(lane, seen_in)
    call = Call("tool", name, Arguments(Actions.follow, (), arguments), call_id)
    return _Begun(lane.session.begin(lane, call), asked)


def _mcp_arguments(action: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(action.get("argumentsJson") or "{}")
    except ValueError:
        found = action["argumentsJson"]
    return found if isinstance(found, dict) else {"arguments": found}


def _outcome(begun: _Begun, key: str, step: dict[str, Any]) -> Outcome:
    """What became of an action: all that its last frame says beyond what was asked."""
    if step["state"] == "STATE_ERROR":
        return Raised(_failure(str(step.get("errorMessage", "")), begun.ticket.call.name))
    return Returned({snake(name): value for name, value in step[key].items() if begun.asked.get(name) != value})


def _failure(message: str, name: str) -> Exception:
    types: Any = sys.modules["google.antigravity.types"]
    error: Exception = types.ToolExecutionError(message, tool_name=name)
    return error


def _put_back(step: dict[str, Any], key: str, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, Raised):
        return {**step, "state": "STATE_ERROR", "errorMessage": str(outcome.error)}
    value = outcome.value if isinstance(outcome, Returned) else None
    if not isinstance(value, dict):  # edited into something else: the text that such an action may have
        value = {} if value is None else {"output": str(value)}
    left = {name: held for name, held in step.items() if name != "errorMessage"}
    return {**left, "state": "STATE_DONE", key: {**step[key], **{camel(name): held for name, held in value.items()}}}
