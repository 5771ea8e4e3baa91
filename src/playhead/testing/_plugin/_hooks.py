"""From the hooks of pytest to the recording or the replay of the test that they are about."""

from __future__ import annotations

import pytest

from playhead.errors import PlayheadError
from playhead.testing._plugin._failures import explain
from playhead.testing._plugin._places import find_place
from playhead.testing._plugin._recording import TestRecording
from playhead.testing._plugin._replaying import TestReplay
from playhead.testing._plugin._tests import RecordedTest

_KEY = pytest.StashKey[RecordedTest]()


def begin(item: pytest.Item) -> RecordedTest:
    """Record or replay ``item`` from here on. Raises the error that says why it cannot be replayed."""
    place = find_place(item)
    asked = item.config.getoption("playhead")
    records = asked == "record" or (asked == "new" and not place.path.exists())
    recorded = (TestRecording if records else TestReplay)(item, place)
    item.stash[_KEY] = recorded
    return recorded


def end_body(item: pytest.Item) -> None:
    """The body of ``item`` has ended without an exception that came past pytest's hooks."""
    recorded = item.stash.get(_KEY, None)
    if recorded is not None:
        recorded.end_body(failed=bool(getattr(item, "_excinfo", None)))  # unittest keeps its failures there


def note_report(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Tell the recording how a phase of ``item`` came out, and put playhead's own words in the place of a traceback."""
    recorded = item.stash.get(_KEY, None)
    error = call.excinfo.value if call.excinfo is not None else None
    ours = (recorded.failure if recorded is not None else None) or (error if isinstance(error, PlayheadError) else None)
    if report.failed and call.excinfo is not None and ours is not None and not item.config.option.fulltrace:
        report.longrepr = explain(call.excinfo, ours, recorded)
        vars(report)["playhead_failed"] = report.when == "setup"
    if recorded is None:
        return
    if report.when != "teardown":
        recorded.came_out(error, passed=report.passed and report.when == "call", failed=report.failed)
    else:
        vars(report)["playhead_told"] = recorded.told
