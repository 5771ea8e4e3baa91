"""Masking takes time in proportion to the length of a text, whatever the text is, with either engine."""

from __future__ import annotations

import base64
import random
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from playhead.masking._engine import EngineName
from tests.masking.planted import ENGINES, masker, needs_re2

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000
_random = random.Random(3)


def fill(piece: str) -> str:
    return (piece * (MEGABYTE // len(piece) + 1))[:MEGABYTE]


PROSE = fill("The quick brown fox jumps over the lazy dog, and then it thinks about what it did there. ")
HOSTILE = {
    "hex": _random.randbytes(MEGABYTE // 2).hex(),
    "base64url": base64.urlsafe_b64encode(_random.randbytes(MEGABYTE * 3 // 4)).decode(),
    "base64": base64.b64encode(_random.randbytes(MEGABYTE * 3 // 4)).decode(),
    "base64 of text": base64.b64encode(PROSE[: MEGABYTE * 3 // 4].encode()).decode(),
    "digits": "".join(_random.choices("0123456789", k=MEGABYTE)),
    "plus": fill("+4930"),
    "BEGIN lines": fill("-----BEGIN RSA PRIVATE KEY-----\n"),
    "END lines": fill("-----END RSA PRIVATE KEY-----\n"),
    "half BEGIN": fill("-----BEGIN "),
    "at signs": fill("@"),
    "local parts": fill("a@"),
    "dots": fill("."),
    "brackets": fill("["),
    "braces": fill('{"'),
    "parentheses": fill("("),
    "blanks": fill(" "),
    "line ends": fill("\n"),
    "backslashes": fill("\\"),
    "escaped escapes": fill("\\\\n"),
    "percent signs": fill("%"),
    "quotes": fill('"'),
    "eyJ": fill("eyJ"),
    "sk-": fill("sk-"),
    "task-": fill("task-ask-sk-"),
    "xai-": fill("xai-xai-x"),
    "SG.": fill("SG.aaaaaaaaaaaaaaaa.aaaaaaaa"),
    "schemes": fill("://"),
    "userinfo": fill("://a:"),
    "names": fill("token"),
    "assignments": fill("password="),
    "bearers": fill("bearer "),
    "half placeholders": fill("[masked:"),
    "non-ASCII": fill("日本語é"),
    "surrogates": fill("\ud800"),
}


DENSE = {
    "digits in groups": fill("4111 1111 1111 "),
    "numbers": fill("415-555-013 "),
    "domains": fill("@a.b-c."),
    "percent of percent": fill("%25"),
    "percent letters": fill("%41%6a"),
    "unicode escapes": fill("\\u0041"),
    "open strings": fill('"token": "a'),
    "secret objects": fill('"password":{'),
    "eyJ with dots": fill("eyJabcdefghi."),
    "spread names": fill("password  :"),
    "cookies": fill("cookie: a=;"),
    "queries": fill("?key=&sig="),
    "placeholders": fill("[masked:secret:0123456789]"),
}
"""A secret, a placeholder or something to decode every few characters: each costs some microseconds."""


def least_time(call: Callable[[], object]) -> float:
    """Processor time, the least of three: other work on the machine does not count."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


@pytest.fixture(scope="module")
def prose_times() -> dict[EngineName, float]:
    return {engine: least_time(partial(masker(engine, ("FAKE-heron-77",)).text, PROSE)) for engine in ENGINES}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_costs_more_than_thirty_times_prose(
    engine: EngineName, kind: str, prose_times: dict[EngineName, float]
) -> None:
    mask = masker(engine, ("FAKE-heron-77",))
    text = HOSTILE[kind]
    took = least_time(partial(mask.text, text))
    assert took < 30 * prose_times[engine]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", DENSE)
def test_a_text_full_of_secrets_takes_time_in_proportion_to_its_length(engine: EngineName, kind: str) -> None:
    """Four times the length takes four times as long, give or take; a quadratic rule would take sixteen times."""
    mask = masker(engine, ("FAKE-heron-77",))
    short, long = (least_time(partial(mask.text, DENSE[kind][:length])) for length in (40_000, 160_000))
    assert long < 9 * short


@needs_re2
@pytest.mark.parametrize("kind", [*HOSTILE, *DENSE])
def test_both_engines_agree_on_long_texts(kind: str) -> None:
    text = (HOSTILE | DENSE)[kind][:80_000] + " ana@example.org " + (HOSTILE | DENSE)[kind][:80_000]
    assert masker("re2").find(text) == masker("re").find(text)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_secret_across_the_edge_of_a_window_is_found(engine: EngineName) -> None:
    secret = "sk-ant-api03-" + "aB3_" * 20
    for place in range(65_536 - len(secret) - 3, 65_536 + 3, 7):
        text = " " * place + secret + " " * 70_000
        assert "aB3_" not in masker(engine).text(text)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_megabyte_does_not_keep_other_threads_from_running(engine: EngineName) -> None:
    """The longest wait of another thread stays a small part of the time that masking takes."""
    mask = masker(engine)
    text = fill('{"name": "Ana", "path": "/repo/src/a.py", "call": "call_aB3aB3aB3aB3aB3aB3", "at": 1732790000123}\n')
    gaps: list[float] = []
    done = threading.Event()

    def beat() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=beat)
    thread.start()
    start = time.perf_counter()
    for _ in range(10):
        mask.text(text)
    took = time.perf_counter() - start
    done.set()
    thread.join()
    assert sorted(gaps)[-10] < took / 10
