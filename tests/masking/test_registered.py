"""Registered secrets are masked wherever they stand; those that would damage every text are refused and said."""

from __future__ import annotations

import pytest

from playhead.masking import Masker
from playhead.masking._engine import EngineName
from tests.masking.planted import ENGINES, KEY

PAGE = "This is true: a normal page of text, number 1234, with    blanks and a FAKE-long-value in it."


@pytest.mark.parametrize("engine", ENGINES)
def test_short_and_common_values_are_refused_and_said(engine: EngineName) -> None:
    """B84"""
    given = ["", "a", "true", "1234", " ", None, "FAKE-long-value", "password", "aaaaaaaa", "12345678"]
    mask = Masker(key=KEY, secrets=given, engine=engine)  # type: ignore[arg-type]
    masked = mask.text(PAGE)
    assert masked.startswith(PAGE[: PAGE.index("FAKE")] + "[masked:registered:")
    assert masked.endswith("] in it.")
    assert [refused.place for refused in mask.refused] == [1, 2, 3, 4, 5, 6, 8, 9, 10]
    said = [str(refused) for refused in mask.refused]
    assert said[0] == "secret number 1 is not masked: it is empty"
    assert said[2] == "secret number 3 is not masked: it is shorter than 6 characters"
    assert said[5] == "secret number 6 is not masked: it is not a string"


def test_the_longer_of_two_overlapping_secrets_wins() -> None:
    mask = Masker(key=KEY, secrets=["FAKE-heron", "FAKE-heron-77", "heron-77-x"])
    one, other = mask.text("FAKE-heron-77"), mask.text("FAKE-heron")
    assert one != other
    assert mask.text("FAKE-heron-77-x").count("masked") == 1
    assert "heron" not in mask.text("FAKE-heron-77-x FAKE-heron_77")


def test_blanks_around_a_registered_value_do_not_count() -> None:
    assert "heron" not in Masker(key=KEY, secrets=["  FAKE-heron-77\n"]).text("xFAKE-heron-77x")
