"""A placeholder keeps equality and form, and tells nothing of the value."""

from __future__ import annotations

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.errors import ConfigurationError
from playhead.masking import PLACEHOLDER, Masker, Pseudonyms, is_placeholder
from tests.masking.planted import KEY, card_numbers, masker


def test_guessing_a_pin_fails_without_the_key() -> None:
    """B87: all 10 000 PINs under the usual plain hashes and keys, against what is stored."""
    stored = masker().value({"pin": "0042"})["pin"]
    digest = re.fullmatch(r"\[masked:secret:([0-9a-f]{10})\]", stored)
    assert digest is not None
    for number in range(10_000):
        guess = f"{number:04d}".encode()
        for hashed in (
            hashlib.sha256(guess).hexdigest(),
            hashlib.sha256(b"\0" + guess).hexdigest(),
            hashlib.md5(guess).hexdigest(),
            hmac.digest(b"", guess, "sha256").hex(),
            hmac.digest(masker().key_id.encode(), b"\0" + guess, "sha256").hex(),
        ):
            assert digest.group(1) not in hashed
    known = {masker().value({"pin": f"{number:04d}"})["pin"]: number for number in range(10_000)}
    assert known[stored] == 42


def test_equal_values_are_equal_under_one_key_and_differ_under_another() -> None:
    """B87"""
    text = "ana@example.org +49 30 901820 password=FAKE-heron"
    assert masker().text(text) == masker().text(text) == Masker(key=KEY).text(text)
    one, other = masker().text(text).split(), Masker(key=b"another").text(text).split()
    assert all(a != b for a, b in zip(one, other, strict=True))
    assert masker().key_id != Masker(key=b"another").key_id
    assert masker().key_id == Masker(key=KEY).key_id


def test_a_value_has_one_placeholder_wherever_it_stands() -> None:
    """B15: the token of an answer and the token in the next request's header stay equal."""
    token = "FAKE-t0k-9"
    body = masker().value({"token": token})["token"]
    assert masker().headers([("Authorization", f"Bearer {token}")]) == [("Authorization", f"Bearer {body}")]
    assert masker().url(f"https://h/?access_token={token}&x=1") == f"https://h/?access_token={body}&x=1"
    assert masker().text(f'{{"token": "{token}"}}') == f'{{"token": "{body}"}}'
    key = "sk-ant-api03-" + "a1B2" * 8
    named = masker().value({"x": key, "api_key": key, "authorization": f"Bearer {key}"})
    assert named["x"] == named["api_key"] == named["authorization"].removeprefix("Bearer ")
    card = card_numbers(1)[0]
    grouped = f"{card[:4]}-{card[4:8]}-{card[8:12]}-{card[12:]}"
    assert masker().text(grouped).replace("-", "") == masker().text(card)


def test_the_live_data_is_untouched() -> None:
    """B15: the mask makes new objects and changes none."""
    live = {"token": "FAKE-t0k-9", "list": [{"cookie": "a=b"}], "raw": bytearray(b"password=FAKE-heron")}
    before = repr(live)
    assert masker().value(live) != live
    assert repr(live) == before


def test_the_form_is_kept_where_a_program_looks_at_it() -> None:
    text = masker().text("ana@example.org")
    assert re.fullmatch(r"[\w.-]+@[\w-]+\.\w+", text)
    for number in card_numbers(20):
        masked = masker().text(number)
        assert [len(group) for group in re.split("[ -]", masked)] == [len(group) for group in re.split("[ -]", number)]
        digits = [int(digit) for digit in reversed(re.sub("[ -]", "", masked))]
        assert sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0
        assert masked.startswith("9999")
    assert re.fullmatch(r"\+999[0-9]{12}", masker().text("+49 30 901820"))
    assert masker().text("postgres://ana:FAKEpw@h:5/x").startswith("postgres://ana:masked.url-password.")
    assert masker().headers([("Set-Cookie", "id=FAKE; Path=/; HttpOnly")])[0][1].endswith("; Path=/; HttpOnly")


def test_no_output_quotes_the_match() -> None:
    """B76: the placeholder holds the rule's name and a digest, the finding a name and a place."""
    secret = "FAKEpwFAKEpw"
    mask = masker(
        secrets=(
            secret,
            "a",
        )
    )
    text = f"db://ana:{secret}@h/x and {secret}"
    outputs = [
        mask.text(text),
        repr(mask.find(text)),
        repr(mask.refused),
        str(mask.refused[0]),
        repr(mask),
        mask.key_id,
    ]
    assert not any(secret[start : start + 4] in output for output in outputs for start in range(len(secret) - 3))
    assert repr(KEY)[2:-1] not in repr(mask)


@given(st.text(min_size=1), st.binary(min_size=1))
def test_every_placeholder_is_recognised_and_is_not_masked_again(value: str, key: bytes) -> None:
    names = Pseudonyms(key)
    for placeholder in (
        names.plain("rule", value),
        names.in_url("rule", value),
        names.email("", value),
        names.phone("", value),
    ):
        assert is_placeholder(placeholder)
        assert PLACEHOLDER.fullmatch(placeholder)
        assert masker().text(placeholder) == placeholder
        assert masker().value({"password": placeholder}) == {"password": placeholder}
        assert masker().headers([("authorization", f"Bearer {placeholder}")])[0][1] == f"Bearer {placeholder}"


@pytest.mark.parametrize("number", card_numbers(10))
def test_a_masked_card_is_recognised(number: str) -> None:
    assert is_placeholder(masker().text(number))
    assert not is_placeholder(number)
    assert not is_placeholder("9999123412341234")


def test_a_forged_placeholder_hides_no_key() -> None:
    key = "ghp_" + "a1B2" * 9
    assert key not in masker().text(f"[masked:{key}:0123456789]")
    assert key not in str(masker().value({"password": f"[masked:{key}:0123456789]"}))


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        Masker(key=b"")
