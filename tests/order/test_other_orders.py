"""Laws of replays in other orders than the recorded one, over programs that are made up at random."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings

import playhead
from playhead.causality import find_orders, read_graph
from tests.examples import up_to
from tests.order.loops import run_unhurried
from tests.order.test_programs import Steps, programs, run

pytestmark = pytest.mark.slow


@settings(max_examples=up_to(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=programs)
def test_any_program_comes_to_an_end_in_any_other_order_with_the_recorded_answers(
    steps: Steps, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("store")
    with playhead.record(kind="made-up", store=store) as recorded:
        log = run(steps, run_unhurried)
    recording = playhead.load(recorded.id, store=store)
    for other in islice(find_orders(recording, read_graph(recording)), 4):
        replay = playhead.replay(recording, store=store, order=other.order)
        found: list[str] = []
        try:
            with replay:
                found = run(steps)
        except playhead.DivergenceError:
            assert replay.report.divergence is not None
        else:
            assert _called(found) <= _called(log)  # another may lose a race, and is cancelled before it is answered
            assert replay.report.answered == len(recording.exchanges)


def _called(log: list[str]) -> Counter[str]:
    """What the calls gave, to whom, whatever the order."""
    return Counter(line for line in log if line[-1:].isdigit())


@settings(max_examples=up_to(40), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=programs)
def test_the_recorded_order_given_as_another_leaves_nothing_out(
    steps: Steps, tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("store")
    with playhead.record(kind="made-up", store=store) as recorded:
        log = run(steps, run_unhurried)
    recording = playhead.load(recorded.id, store=store)
    with playhead.replay(recording, store=store, order=[moment.seq for moment in recording.moments()]) as replay:
        assert run(steps) == log
    assert replay.report.identical
