"""What a person reads of a failed test: the divergence, the line of the test that met it, the command to type next."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import pytest

from playhead.errors import DivergenceError, PlayheadError
from playhead.eventlog import shown_path
from playhead.integrations._sites import current_scope
from playhead.testing._plugin._tests import RecordedTest


def explain(caught: pytest.ExceptionInfo[BaseException], ours: PlayheadError, recorded: RecordedTest | None) -> Any:
    """The representation of ``ours`` for the report: its message under the frames of the test's own code.

    ``caught`` is what ended the test, which need not be the same: a library may have wrapped or replaced it.
    """
    _complete(ours, caught.value, recorded)
    trace = _own_trace(ours.__traceback__) or _own_trace(caught.tb)
    shown = pytest.ExceptionInfo.from_exc_info((type(ours), ours, trace or caught.tb))
    return shown.getrepr(style="short" if trace is not None else "value", funcargs=False, chain=False)


def _complete(ours: PlayheadError, caught: BaseException, recorded: RecordedTest | None) -> None:
    """Say what the test made of it, and commands that work from here: the run is not in a store but in a file."""
    if recorded is None or getattr(ours, "completed", False):
        return
    if caught is not ours and not isinstance(caught, DivergenceError | pytest.fail.Exception):
        ours.message += f"\n  the test itself ended with {type(caught).__name__}"
    if isinstance(ours, DivergenceError) and ours.next is not None:
        _, mark, step = ours.next.partition("#")
        ours.next = f"playhead show {shown_path(recorded.path)}{mark}{step}"
        ours.message += f"\n  meant so? record again: {recorded.record_command}"
    ours.completed = True  # type: ignore[attr-defined]


def _own_trace(trace: types.TracebackType | None) -> types.TracebackType | None:
    """``trace`` without the frames of libraries, of pytest and of ourselves."""
    own: types.TracebackType | None = None
    for each in reversed(list(_walk(trace))):
        if _is_own(each.tb_frame):
            own = types.TracebackType(own, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return own


def _walk(trace: types.TracebackType | None) -> Iterator[types.TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _is_own(frame: types.FrameType) -> bool:
    name = frame.f_globals.get("__name__", "")
    return name != "_playhead_pytest" and current_scope().owns_file(frame.f_code.co_filename, name)
