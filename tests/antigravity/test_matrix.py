"""Every scenario over every kind of connection: a strict replay without harness, server or key gives the same.

One of each is recorded in `make test`; the sweep records five of each.
"""

import pytest

from tests.antigravity._desk import KINDS, Recorded
from tests.antigravity._scenarios import ALL, two_agents, two_agents_the_other_way_round

pytestmark = pytest.mark.slow


def check(recorded, monkeypatch):
    result, report, desk = recorded.replay(monkeypatch)

    assert recorded.failures == []
    assert recorded.run.incomplete == ()
    assert result == recorded.result
    assert desk.ran == []
    assert report.ok, str(report)
    assert report.identical, str(report)


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [(scenario, KINDS[at % len(KINDS)]) for at, scenario in enumerate(ALL)],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_a_strict_replay_gives_what_was_recorded(scenario, kind, place, monkeypatch):
    check(Recorded(scenario, kind, place), monkeypatch)


@pytest.mark.sweep
@pytest.mark.parametrize("again", range(5))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: scenario.__name__)
def test_a_strict_replay_gives_what_was_recorded_whatever_the_harness_did(scenario, kind, again, place, monkeypatch):
    check(Recorded(scenario, kind, place), monkeypatch)


def check_the_other_way_round(recorded, monkeypatch):
    result, report, desk = recorded.replay(monkeypatch, two_agents_the_other_way_round)

    assert result == recorded.result
    assert desk.ran == []
    assert report.ok, str(report)


def test_two_agents_that_are_started_the_other_way_round_are_told_by_what_they_ask(place, monkeypatch):
    check_the_other_way_round(Recorded(two_agents, "gemini", place), monkeypatch)


@pytest.mark.sweep
@pytest.mark.parametrize("again", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_two_agents_are_told_by_what_they_ask_over_every_connection(kind, again, place, monkeypatch):
    check_the_other_way_round(Recorded(two_agents, kind, place), monkeypatch)
