"""The alignment of two texts."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from playhead.player import word_difference
from playhead.player._texts import align, changed_length

words = st.lists(st.sampled_from(["a", "bb", "ccc", " ", "\n", ".", "é", "\U0001f600"]), max_size=60).map("".join)


@given(words, words)
def test_the_blocks_put_together_are_the_two_texts(before: str, after: str) -> None:
    blocks = align(before, after)
    assert "".join(block[0] for block in blocks) == before
    assert "".join(block[1] for block in blocks) == after


@given(words)
def test_equal_texts_have_no_change(text: str) -> None:
    assert changed_length(text, text) == 0


def test_words_that_change_one_after_the_other_are_one_change() -> None:
    assert word_difference("Look first. Be kind.", "Look first. Never lie.") == "Look first. [-Be kind-]{+Never lie+}."
    assert word_difference("one two three", "one 2 three") == "one [-two-]{+2+} three"


def test_time_follows_the_length_also_of_texts_that_repeat_themselves() -> None:
    def took(times: int) -> float:
        before = "amber birch " * times + "end"
        after = "start " + "amber birch " * times + "amber cedar end"
        start = time.perf_counter()
        align(before, after)
        return time.perf_counter() - start

    took(1000)
    assert took(40_000) < 400 * max(took(4_000), 0.001), "ten times the text takes about ten times as long"
