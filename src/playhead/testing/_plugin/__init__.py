"""What the pytest plugin does: one recording a test, made when asked for, replayed otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from playhead.testing._plugin._hooks import begin, end_body, note_report
from playhead.testing._plugin._tests import RecordedTest

if TYPE_CHECKING:
    from playhead.testing._plugin._suite import collect_suites
    from playhead.testing._plugin._unused import list_unused

__all__ = ["RecordedTest", "begin", "collect_suites", "end_body", "list_unused", "note_report"]


def __getattr__(name: str) -> Any:
    """What few sessions use is imported there: the play of suites brings much with it."""
    if name == "collect_suites":
        from playhead.testing._plugin._suite import collect_suites

        return collect_suites
    if name == "list_unused":
        from playhead.testing._plugin._unused import list_unused

        return list_unused
    raise AttributeError(f"module 'playhead.testing._plugin' has no attribute {name!r}")
