"""A text that arrives in pieces is masked as one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.masking import PLACEHOLDER
from tests.masking.planted import SECRETS, masker

SECRET = "FAKE-heron-77"


def cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end] for start, end in pairwise(edges)]


def test_a_secret_over_three_deltas_is_masked_in_the_first() -> None:
    """B79: the count of the pieces is kept, their sum is the masked text."""
    mask = masker(secrets=(SECRET,))
    out = mask.pieces(["key is FA", "KE-her", "on-77 ok"])
    assert out == [f"key is {mask.text(SECRET)}", "", " ok"]


def test_the_start_of_a_secret_before_the_stream_is_cut_is_masked() -> None:
    """B79: no part longer than three characters is kept."""
    mask = masker(secrets=(SECRET,))
    for length in range(4, len(SECRET)):
        out = mask.pieces(["key is ", SECRET[:length]])
        assert SECRET[:4] not in "".join(out)
        assert mask.text(f"key is {SECRET[:length]}", cut=True) == "".join(out)
        assert SECRET[:4] not in str(mask.value({"text": f"key is {SECRET[:length]}", "n": 1}, cut=True))
    assert mask.pieces(["key is ", SECRET[:3]]) == ["key is ", SECRET[:3]]
    assert "aB3" not in "".join(masker().pieces(["it is ", "sk-ant-", "aB3"]))
    assert "aB3" not in "".join(masker().pieces(["it is ", "ghp_", "aB3"]))


@pytest.mark.parametrize("kind", ["openai", "jwt", "e-mail", "github"])
@given(data=st.data())
def test_however_a_text_is_cut_the_sum_is_masked_and_the_count_is_kept(kind: str, data: st.DataObject) -> None:
    secret = data.draw(SECRETS[kind])
    around = st.text("xyz \n🙂", max_size=20)
    text = f"{data.draw(around)} {secret} {data.draw(around)} {SECRET}."
    pieces = cut(text, data.draw(st.lists(st.integers(0, 500), max_size=12)))
    mask = masker(secrets=(SECRET,))
    out = mask.pieces(pieces)
    assert len(out) == len(pieces)
    assert "".join(out) == mask.text(text, cut=True)
    assert SECRET not in "".join(out)
    for piece in out:
        assert not any(secret[start : start + 4] in PLACEHOLDER.sub("", piece) for start in range(3, len(secret) - 3))


@given(st.lists(st.text(alphabet="ab c\n", max_size=5), max_size=6))
def test_pieces_without_a_secret_stay_as_they_are(pieces: list[str]) -> None:
    assert masker().pieces(pieces) == pieces
