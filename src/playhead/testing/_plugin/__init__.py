"""What the pytest plugin does: one recording a test, made when asked for, replayed otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playhead._late_names import late_names as _late
from playhead.testing._plugin._hooks import begin, end_body, note_report
from playhead.testing._plugin._tests import RecordedTest

if TYPE_CHECKING:
    from playhead.testing._plugin._suite import collect_suites
    from playhead.testing._plugin._unused import list_unused

__all__ = ["RecordedTest", "begin", "collect_suites", "end_body", "list_unused", "note_report"]

__getattr__ = _late(__name__, {"collect_suites": "_suite", "list_unused": "_unused"})
# What few sessions use is imported there: the play of suites brings much with it.
