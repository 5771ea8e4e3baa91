"""What the pytest plugin does: one recording a test, made when asked for, replayed otherwise."""

from __future__ import annotations

from playhead.testing._plugin._hooks import begin, end_body, note_report
from playhead.testing._plugin._suite import collect_suites
from playhead.testing._plugin._tests import RecordedTest
from playhead.testing._plugin._unused import list_unused

__all__ = ["RecordedTest", "begin", "collect_suites", "end_body", "list_unused", "note_report"]
