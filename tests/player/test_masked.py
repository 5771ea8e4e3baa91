"""A mask keeps values equal, not the same: where that makes a replay diverge, the explanation says so."""

from __future__ import annotations

import pytest

import playhead
from playhead.player import Divergence
from tests.player.conftest import record

CARD, PHONE, KEY = "4111 1111 1111 1111", "+1 415 555 2671", "sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCDEFG"
CUSTOMER = {"card": CARD, "phone": PHONE, "key": KEY, "mail": "ann@example.com", "name": "Ann Lee"}


@playhead.tool
def look_up(name: str) -> dict[str, str]:
    return CUSTOMER


@playhead.tool
def say(text: str) -> None: ...


def replayed(then: str, now: str | None = None) -> Divergence | None:
    """How a replay diverges in which a program says something else; ``{…}`` is what it was told of the customer."""

    def program(text: str) -> None:
        found = look_up("ann")
        last, bare = found["card"][-4:], found["phone"].replace(" ", "").removeprefix("+")
        say(text.format(**found, last=last, bare=bare, prefix=found["key"][:8]))

    recording, _ = record(lambda: program(then))
    try:
        with playhead.replay(recording):
            program(now or then)
    except playhead.DivergenceError as error:
        found: Divergence = error.divergence
        assert all(f"\n  cause: {cause}" in found.message for cause in found.causes)
        assert not any(value in found.message for value in (CARD, PHONE, KEY))
        return found
    return None


def test_a_program_that_hands_a_masked_value_on_replays() -> None:
    assert replayed("charge {card}, call {phone}, write {mail}, use {key}") is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ending in {last}", "card number"),
        ("call 00{bare}", "telephone number"),
        ("it begins with {prefix}", "openai-key"),
    ],
)
def test_a_program_that_makes_something_else_of_a_masked_value_is_told_why_it_diverges(text: str, kind: str) -> None:
    found = replayed(text)
    assert found is not None
    used = "the program used a masked value of a recorded answer, and in a replay that is a placeholder: "
    assert found.causes[0].startswith(used)
    assert kind in found.causes[0]


@pytest.mark.parametrize(
    ("then", "now", "kind"),
    [
        ("use " + KEY, "use " + KEY.replace("abc", "xyz"), "openai-key"),
        ("write bob@example.com", "write eve@example.com", "e-mail address"),
        ("pay with 5500 0000 0000 0004", "pay with 4242 4242 4242 4242", "card number"),
    ],
)
def test_a_masked_value_that_is_another_one_is_said_to_be(then: str, now: str, kind: str) -> None:
    found = replayed(then, now)
    assert found is not None
    assert found.causes == (f"a masked value changed: {kind}",)


def test_what_has_nothing_to_do_with_a_mask_is_not_laid_on_it() -> None:
    found = replayed("Ann asks for 1234 pieces, from {mail}", "Ann asks for 98765 pieces, from {mail}")
    assert found is not None
    assert not any("mask" in cause for cause in found.causes)
