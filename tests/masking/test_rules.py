"""Secrets of the field are found in every place; what only looks like one is left alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from playhead.errors import ConfigurationError, PlayheadWarning
from playhead.masking import Masker, Rule, default_rules, is_placeholder
from playhead.masking._engine import EngineName
from playhead.masking._rules import check_pattern
from tests.masking.planted import CONTEXTS, ENGINES, KEY, PHONES, SECRETS, STRUCTURAL, card_numbers, masker

MASKERS = {engine: masker(engine) for engine in ENGINES}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", SECRETS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_planted_secret_survives_in_any_context(engine: EngineName, kind: str, data: st.DataObject) -> None:
    secret = data.draw(SECRETS[kind])
    for name, context in CONTEXTS.items():
        text = context(secret)
        masked = MASKERS[engine].text(text)
        assert not leaks(secret, masked), (name, text, masked)
        assert MASKERS[engine].text(masked) == masked, (name, text)


def leaks(secret: str, text: str) -> bool:
    """Whether twelve characters of ``secret`` in a row are in ``text`` (the prefix of a key tells nothing)."""
    tail = secret[-12:] if "@" not in secret else secret
    return tail in text


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", STRUCTURAL)
def test_structural_ids_are_not_damaged(engine: EngineName, kind: str) -> None:
    """B82: identifiers, times, digests and blobs are not cards, telephone numbers or keys."""
    mask = MASKERS[engine]
    changed = [
        text
        for text in STRUCTURAL[kind]
        if mask.text(text) != text or mask.text(f"id {text} done") != f"id {text} done"
    ]
    assert changed == []
    joined = "\n".join(STRUCTURAL[kind])
    assert mask.text(joined) is joined
    rows = [{"id": text, "n": 1} for text in STRUCTURAL[kind]]
    assert mask.value(rows) is rows


@pytest.mark.parametrize("engine", ENGINES)
def test_cards_and_telephone_numbers_in_prose_are_masked(engine: EngineName) -> None:
    """B82: 40 of 40."""
    mask = MASKERS[engine]
    for number in card_numbers(20):
        text = f"pay with {number}, please"
        assert number not in mask.text(text)
        assert [finding.rule for finding in mask.find(text)] == ["card"]
    for number in PHONES:
        for text in (f"call {number} now", f"Tel.: {number}", f"{number}"):
            assert number not in mask.text(text), text
            assert [finding.rule for finding in mask.find(text)] == ["phone"], text


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "around", ["in 2026 {}", "{} 12/28", "{} 123", "2 x {} now", "no.{}", "tel={}", "{}, {}", "{}\n{}"]
)
def test_other_numbers_beside_a_card_or_a_telephone_number_do_not_hide_it(engine: EngineName, around: str) -> None:
    for number in [*card_numbers(6), "+49 30 901820", "+1 (415) 555-0132", "(212) 555-0187", "415-555-0132"]:
        assert number not in MASKERS[engine].text(around.format(number, number)), around.format(number, number)


def test_a_table_of_numbers_is_no_card() -> None:
    table = "5120 1024 2048 4096 8192 1111\n4111 1111 1111 1111 5120 1024"
    assert masker().text(table) is table


def test_a_card_with_a_wrong_check_digit_is_no_card() -> None:
    number = card_numbers(1)[0]
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert masker().text(wrong) == wrong


@pytest.mark.parametrize("gap", [" ", "  ", ",", "\t", "; ", "\n", " 🙂 "])
def test_each_of_several_addresses_is_masked_and_the_rest_stays(gap: str) -> None:
    """B81: positions are right, whatever stands between the addresses and before them."""
    addresses = ["a1@example.org", "b2@example.org", "c3@example.org"]
    text = "🙂 " + gap.join(addresses) + gap + "end"
    found = masker().find(text)
    assert [text[finding.start : finding.end] for finding in found] == addresses
    utf16 = text.encode("utf-16-le")
    for finding, address in zip(found, addresses, strict=True):
        start = len(text[: finding.start].encode("utf-16-le"))
        assert utf16[start : start + 2 * len(address)].decode("utf-16-le") == address
    masked = masker().text(text)
    parts = re.split(r"masked-[0-9a-f]{10}@masked\.invalid", masked)
    assert parts == ["🙂 ", gap, gap, gap + "end"]


PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "\n".join("MIIEow" + "aB3+/x" * 9 for _ in range(6))
PEM_END = "\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text", [PEM + PEM_END, PEM, f"a\n{PEM}{PEM_END}\nb", f"a {PEM}", PEM.split("\n", 1)[1] + PEM_END]
)
def test_a_private_key_is_masked_whole_with_or_without_its_ends(text: str) -> None:
    masked = masker().text(text)
    assert "aB3+/x" not in masked
    assert "[masked:private-key:" in masked
    assert masker().text(masked) == masked


def test_what_stands_around_a_private_key_stays() -> None:
    masked = masker().text(f"before\n{PEM}{PEM_END}\nafter -----BEGIN CERTIFICATE-----")
    assert masked.startswith("before\n[masked:private-key:")
    assert masked.endswith("]\nafter -----BEGIN CERTIFICATE-----")


NAMED = {
    "password=FAKE-heron": "FAKE-heron",
    "a=1&password=heron&b=2": "heron",
    "password=heron": "heron",
    'password = "two words"': "two words",
    "api_key: 'abc'": "abc",
    '{"client_secret": "x y z", "n": 1}': "x y z",
    "{'password': 'it\\'s me'}": "it\\'s me",
    '{"password":"a\\"b"}': 'a\\"b',
    '{"password": "cut off': "cut off",
    'os.environ["GITHUB_TOKEN"] = "not-shaped"': "not-shaped",
    "export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYFAKEKEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYFAKEKEY",
    "DefaultEndpointsProtocol=https;AccountKey=" + "Ab1/" * 20 + "==;x=y": "Ab1/" * 20 + "==",
    "Authorization: Token abc def\nAccept: x": "abc def",
    "Cookie: session=abc; theme=dark\nHost: h": "abc",
    "X-Api-Key: k3y-value": "k3y-value",
    'curl -H "Authorization: Bearer FAKE.abc" "http://h"': "FAKE.abc",
    "db://ana:FAKEpw@h/x": "FAKEpw",
    "https://x.example/?key=abcdef&q=1": "abcdef",
    "https://x.example/?sig=ab%2Fcd&q=1": "ab%2Fcd",
    "Basic dXNlcjpGQUtFcHc=": "dXNlcjpGQUtFcHc",
    '{"password": {"a": ["deep one", {"b": "deep two"}]}, "c": "stays"}': "deep two",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("text", "secret"), NAMED.items())
def test_a_value_is_secret_by_the_name_before_it(engine: EngineName, text: str, secret: str) -> None:
    masked = MASKERS[engine].text(text)
    assert secret not in masked
    assert MASKERS[engine].text(masked) == masked
    start = text.index(secret)
    assert masked.startswith(text[: min(start, 8)])


def test_a_model_s_tokens_are_no_secrets() -> None:
    text = '{"token": "Hello", "logprob": -0.1, "bytes": [72]}'
    assert masker().text(text) is text
    tree = [{"token": "Hello", "logprob": -0.1}, {"token": " there", "bytes": [1]}]
    assert masker().value(tree) is tree


def test_own_rules_are_patterns_and_functions() -> None:
    own = [
        Rule("badge", pattern=r"badge-[0-9]{6}"),
        Rule("start", pattern=r"^secretive [a-z]+$"),
        Rule("umlaut", pattern=r"größe-\d+"),
        Rule("even", pattern="[0-9]{4}", check=lambda value: int(value) % 2 == 0),
        Rule("looks-ahead", pattern=r"foo(?=bar)"),
        Rule("shout", find=lambda text: [(m.start(), m.end()) for m in re.finditer("[A-Z]{5,}", text)]),
    ]
    for engine in ENGINES:
        mask = Masker(key=KEY, rules=own, engine=engine)
        masked = mask.value(
            {
                "a": "badge-123456 of badge-654321",
                "b": "secretive thing",
                "c": "größe-12",
                "d": "1234 1235",
                "e": "HELLO",
                "f": "foobar",
            }
        )
        assert re.fullmatch(r"\[masked:badge:\w{10}\] of \[masked:badge:\w{10}\]", masked["a"])
        assert is_placeholder(masked["b"])
        assert is_placeholder(masked["c"])
        assert masked["d"].endswith("] 1235")
        assert is_placeholder(masked["e"])
        assert masked["f"].endswith("]bar")
        assert mask.text("not secretive thing") == "not secretive thing"


def test_a_rule_that_fails_masks_all_and_tells_nothing() -> None:
    """B76: neither the warning nor the placeholder quotes the text."""

    def broken(text: str) -> list[tuple[int, int]]:
        raise ValueError(f"cannot judge {text}")

    mask = Masker(key=KEY, rules=[Rule("broken", find=broken)])
    with pytest.warns(PlayheadWarning, match="'broken' raised ValueError") as caught:
        assert is_placeholder(mask.text("FAKE-heron-77"))
    assert not any("heron" in str(one.message) for one in caught)


def test_a_broken_pattern_is_refused_without_being_quoted() -> None:
    """B76: the pattern may hold the secret itself."""
    with pytest.raises(ConfigurationError) as caught:
        Rule("mine", pattern="FAKE-heron(")
    assert "heron" not in str(caught.value)
    assert "'mine'" in str(caught.value)
    for pattern, find in ((None, None), ("a", lambda text: [])):
        with pytest.raises(ConfigurationError):
            Rule("mine", pattern=pattern, find=find)
    with pytest.raises(ConfigurationError):
        Rule("mine", pattern="a*")
    with pytest.raises(ConfigurationError):
        Rule("has blanks", pattern="a")


def test_the_patterns_of_the_field_are_patterns_and_match_something() -> None:
    """What the rules of a project are asked when they are made; these are compiled when they are first needed."""
    patterns = {rule.pattern: rule.name for rule in default_rules() if rule.pattern is not None}
    for pattern, name in patterns.items():
        check_pattern(name, pattern)
    assert len(patterns) > 50


def test_own_rules_join_the_default_ones() -> None:
    mask = Masker(key=KEY, rules=(*default_rules(), Rule("badge", pattern=r"badge-[0-9]{6}")))
    masked = mask.text("badge-123456 ana@example.org")
    assert "[masked:badge:" in masked
    assert "@masked.invalid" in masked
