"""What guards a session outlasts it for as long as threads work in its lanes."""

from __future__ import annotations

from playhead.boundary import at_work, when_idle
from tests.boundary.test_streams import Session


def test_an_action_waits_for_the_last_thread_at_work_and_for_no_other_session() -> None:
    done: list[str] = []
    session, other = Session(), Session()
    when_idle(session, lambda: done.append("at once"))
    with at_work(session):
        with at_work(session):
            when_idle(session, lambda: done.append("later"))
            when_idle(other, lambda: done.append("other"))
        assert done == ["at once", "other"]
    assert done == ["at once", "other", "later"]
