"""Requests that hold secrets: masked in the recording, real in the program, and equal all the same."""

from __future__ import annotations

from typing import Any

import pytest

import playhead
from tests.player.conftest import Ask, record

WORD = "Tr0ub4dor-and-three"
MASKED: dict[str, dict[str, Any]] = {
    "one text under an open and a secret name": {"user": WORD, "metadata": {"password": WORD}},
    "a top-level key whose name is secret": {"note": WORD, "api_key": WORD},
    "a list whose name is secret": {"notes": [WORD], "passwords": [WORD]},
    "an address": {"user": "ana@example.org"},
}


@pytest.mark.parametrize("extra", MASKED.values(), ids=MASKED)
def test_a_request_with_a_secret_is_answered_strictly(ask: Ask, extra: dict[str, Any]) -> None:
    recording, answers = record(lambda: [ask("one", **extra), ask("two", **extra), ask("three")])
    with playhead.replay(recording) as replay:
        assert [ask("one", **extra), ask("two", **extra), ask("three")] == answers
    assert replay.report.identical


def test_another_secret_under_the_same_name_is_another_request(ask: Ask) -> None:
    recording, _ = record(lambda: ask("one", metadata={"password": WORD}))
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(recording):
        ask("one", metadata={"password": WORD[::-1]})
    assert WORD[::-1] not in str(caught.value)


def test_a_secret_where_the_recording_has_the_same_text_open_is_another_request(ask: Ask) -> None:
    recording, _ = record(lambda: ask("one", metadata={"password": WORD}, user="somebody"))
    with pytest.raises(playhead.DivergenceError), playhead.replay(recording):
        ask("one", metadata={"password": "somebody"}, user=WORD)
