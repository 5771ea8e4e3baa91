"""`datetime` reads: the types keep their identity, the values their class and zone."""

from __future__ import annotations

import os
import pickle
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.boundary import Lane, in_lane
from playhead.integrations import _rebinding, clock, datetimes
from playhead.integrations._zone import apply_zone, read_zone
from tests.integrations._reads import RecordingReads, ReplayingReads, installed, load_agent, run


class Moment(datetime):
    """A subclass of the agent's."""


class Day(date):
    """Another."""


OSLO = ZoneInfo("Europe/Oslo")


def read_all() -> list[Any]:
    return [
        datetime.now(),
        datetime.now(UTC),
        datetime.now(tz=OSLO),
        datetime.utcnow(),
        datetime.today(),
        date.today(),
        Moment.now(timezone(timedelta(hours=-3))),
        Moment.utcnow(),
        Moment.today(),
        Day.today(),
    ]


@pytest.mark.filterwarnings("ignore:datetime.datetime.utcnow")
def test_every_form_is_answered_with_the_same_value_class_and_zone() -> None:
    recorded = RecordingReads()
    with run(recorded, clock.install, datetimes.install):
        first = read_all()
    assert recorded.fns == [
        *("datetime.now", "datetime.now", "datetime.now", "datetime.utcnow", "datetime.today"),
        *("date.today", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    ]
    assert {type(value) for *_, value in recorded.reads} == {date, datetime}
    replay = ReplayingReads(recorded)
    with run(replay, clock.install, datetimes.install):
        again = read_all()
    assert again == first
    assert [type(value) for value in again] == [type(value) for value in first]
    assert [getattr(value, "tzinfo", None) for value in again] == [getattr(value, "tzinfo", None) for value in first]
    assert not replay.new


def test_the_types_are_the_same_objects_and_undo_is_exact() -> None:
    before = [(owner, dict(vars(owner))) for owner in (datetime, date)]
    with installed(datetimes.install):
        assert vars(datetime)["now"] is not before[0][1]["now"]
        assert isinstance(datetime.now(), datetime)
        assert sys.modules["datetime"].datetime is datetime
        sent = pickle.dumps(datetime.now)
    assert [dict(vars(owner)) for owner, _ in before] == [entries for _, entries in before]
    assert list(vars(datetime)) == list(before[0][1])
    assert pickle.loads(sent)() >= datetime.now() - timedelta(seconds=60)


def test_a_validating_model_accepts_recorded_times_and_its_factories_are_reads(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    source = """
        import uuid, time
        from datetime import datetime
        from pydantic import BaseModel, Field
        class Note(BaseModel):
            at: datetime = Field(default_factory=datetime.now)
            tick: float = Field(default_factory=time.time)
        def go():
            return Note()
        def check():
            return Note(at=datetime.now(), tick=1.0)
    """
    recorded = RecordingReads()
    with run(recorded, clock.install, datetimes.install):
        agent = load_agent(tmp_path, source)
        first, second = agent.go(), agent.check()
    assert recorded.fns == ["datetime.now", "time.time", "datetime.now"]
    with run(ReplayingReads(recorded), clock.install, datetimes.install):
        agent = load_agent(tmp_path, source)
        assert agent.go().model_dump() == first.model_dump()
        assert agent.check().model_dump() == second.model_dump()


def test_a_bound_method_taken_by_name_is_replaced_and_given_back(tmp_path: Path) -> None:
    agent = load_agent(tmp_path, "from datetime import datetime\nNOW = datetime.now\ndef go(): return NOW()")
    session = RecordingReads()
    with run(session, datetimes.install):
        agent.go()
        late = load_agent(
            tmp_path, "from datetime import date\nTODAY = date.today\ndef go(): return TODAY()", name="late"
        )
        late.go()
    assert session.fns == ["datetime.now", "date.today"]
    assert type(agent.NOW) is type(late.TODAY) is type(len)


def test_where_the_types_cannot_be_changed_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    session = RecordingReads()
    now = vars(datetime)["now"]
    with in_lane(Lane(session)), installed(datetimes.install):
        assert vars(datetime)["now"] is now
        datetime.now()
        assert _rebinding.unreachable == ["datetime.now", "datetime.utcnow", "date.today"]
    assert session.notices == [("clock not caught", {"reads": ["datetime.now", "datetime.utcnow", "date.today"]})]


@given(st.datetimes(timezones=st.sampled_from([None, UTC, OSLO, timezone(timedelta(minutes=-210))])))
def test_a_kept_moment_comes_back_in_its_zone(moment: datetime) -> None:
    kept = datetimes._plain(moment)
    try:
        again = datetimes._rebuild(datetime, kept, moment.tzinfo)
    except OverflowError:  # at the ends of the calendar
        return
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).astimezone(
            moment.tzinfo
        )  # a moment that is, not one that a change of the clocks skips
    assert again == moment
    assert again.tzinfo is moment.tzinfo
    assert again.fold == moment.fold


def test_a_zone_is_applied_and_taken_back() -> None:
    before = (os.environ.get("TZ"), read_zone())
    put_back = apply_zone("Pacific/Honolulu")
    try:
        assert read_zone() == ("Pacific/Honolulu", -36_000)
        assert datetime.now().astimezone().utcoffset() == timedelta(hours=-10)
    finally:
        put_back()
    assert (os.environ.get("TZ"), read_zone()) == before
