"""Who works in a session's lanes, who of them waits, and what is put off until nobody does."""

from __future__ import annotations

import threading

from playhead.boundary import Activity, at_work


def test_an_action_waits_for_the_last_thread_at_work_and_for_no_other_session() -> None:
    done: list[str] = []
    activity, other = Activity(), Activity()
    activity.when_idle(lambda: done.append("at once"))
    with at_work(activity):
        with at_work(activity):
            activity.when_idle(lambda: done.append("later"))
            other.when_idle(lambda: done.append("other"))
        assert done == ["at once", "other"]
    assert done == ["at once", "other", "later"]


def test_who_waits_does_not_run_until_it_is_woken_and_each_rest_is_told() -> None:
    told: list[list[object]] = []
    activity = Activity(settled=lambda: told.append(activity.running))
    me = threading.get_ident()
    with at_work(activity):
        activity.begin("expected")
        assert activity.running == [me, "expected"]
        activity.wait(me)
        activity.end("expected")
        assert told == [["expected"], []]
        activity.wake(me)
        assert activity.running == [me]
    assert activity.running == []


def test_who_is_not_at_work_cannot_wait() -> None:
    told: list[str] = []
    activity = Activity(settled=lambda: told.append("rest"))
    activity.wait("stranger")
    assert told == []
    assert not activity.is_known("stranger")
