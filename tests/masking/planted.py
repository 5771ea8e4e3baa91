"""Secrets made up for tests, each with the part of it that must not survive, and texts that only look like secrets."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import uuid
from collections.abc import Callable
from functools import lru_cache

import pytest
from hypothesis import strategies as st

from playhead.masking import Masker
from playhead.masking._engine import EngineName

KEY = b"a key of the store"


def has_re2() -> bool:
    try:
        import re2  # noqa: F401
    except ImportError:
        return False
    return True


ENGINES: list[EngineName] = ["re2", "re"] if has_re2() else ["re"]
needs_re2 = pytest.mark.skipif(not has_re2(), reason="RE2 is not installed")


@lru_cache(maxsize=64)
def masker(engine: EngineName = "auto", secrets: tuple[str, ...] = ()) -> Masker:
    return Masker(key=KEY, engine=engine, secrets=secrets)


def _of(alphabet: str, length: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=length, max_size=length)


LETTERS_AND_DIGITS = string.ascii_letters + string.digits
URL_SAFE = LETTERS_AND_DIGITS + "_-"


def _token(prefix: str, length: int, alphabet: str = LETTERS_AND_DIGITS) -> st.SearchStrategy[str]:
    return _of(alphabet, length - 1).map(lambda tail: f"{prefix}{tail}7")


SECRETS: dict[str, st.SearchStrategy[str]] = {
    "openai": _token("sk-", 48),
    "openai project": _token("sk-proj-", 60, URL_SAFE),
    "anthropic": _token("sk-ant-api03-", 90, URL_SAFE),
    "google": _token("AIza", 35, URL_SAFE),
    "google token": _token("ya29.", 60, URL_SAFE),
    "groq": _token("gsk_", 52),
    "xai": _token("xai-", 80),
    "hugging face": _token("hf_", 34),
    "replicate": _token("r8_", 37),
    "perplexity": _token("pplx-", 48),
    "github": st.sampled_from(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]).flatmap(lambda prefix: _token(prefix, 36)),
    "github fine-grained": _token("github_pat_", 60),
    "gitlab": _token("glpat-", 20, URL_SAFE),
    "slack": st.sampled_from("abprs").flatmap(lambda kind: _token(f"xox{kind}-", 40)),
    "stripe": st.sampled_from(["sk_live_", "sk_test_", "rk_live_", "pk_live_", "pk_test_"]).flatmap(
        lambda prefix: _token(prefix, 24)
    ),
    "stripe webhook": _token("whsec_", 32),
    "stripe price": _token("price_1", 23),
    "npm": _token("npm_", 36),
    "pypi": _token("pypi-AgEIcHlwaS5vcmc", 60, URL_SAFE),
    "sendgrid": st.tuples(_token("SG.", 22), _token(".", 43)).map("".join),
    "twilio": _of("0123456789abcdef", 32).map(lambda tail: "S" + "K" + tail),
    "aws": st.sampled_from(["AKIA", "ASIA"]).flatmap(
        lambda p: _of(string.ascii_uppercase + "234567", 16).map(p.__add__)
    ),
    "jwt": st.tuples(_token("eyJ", 20), _token(".eyJ", 40), _token(".", 43)).map("".join),
    "e-mail": st.tuples(
        _of(string.ascii_lowercase, 6), _of(string.ascii_lowercase, 8), st.sampled_from(["org", "co.uk", "dev"])
    ).map(lambda parts: "{}.q@{}.{}".format(*parts)),
}
"""Telling by themselves, wherever they stand, as long as no letter or digit touches them."""

CONTEXTS: dict[str, Callable[[str], str]] = {
    "alone": str,
    "in a sentence": lambda s: f"the value {s} is it",
    "on a line": lambda s: f"line one\n{s}\nline three",
    "after a tab": lambda s: f"col\t{s}\tcol",
    "in quotes": lambda s: f'he said "{s}" twice',
    "in brackets": lambda s: f"call({s})",
    "in JSON": lambda s: json.dumps({"q": s, "n": 3}),
    "in JSON in JSON": lambda s: json.dumps(json.dumps({"q": s})),
    "in JSON in JSON in JSON": lambda s: json.dumps({"a": json.dumps([json.dumps(s)])}),
    "on a line in JSON": lambda s: json.dumps({"q": f"a\n{s}\nb"}),
    "on a line in JSON in JSON": lambda s: json.dumps({"q": json.dumps(f"a\n{s}\nb")}),
    "after a tab in JSON": lambda s: json.dumps(f"\t{s}"),
    "as a key of JSON": lambda s: json.dumps({s: 1}),
    "in the repr of a dict": lambda s: repr({"a": f"x\n{s}"}),
    "after an umlaut": lambda s: f"Grüße {s} 日本",
    "in an assignment": lambda s: f"X={s}",
    "in a shell line": lambda s: f"curl -H 'X-Thing: {s}' https://x.example",
    "after a path": lambda s: f"C:\\new\\{s}",
    "in base64": lambda s: base64.b64encode(s.encode()).decode(),
    "in JSON in base64": lambda s: base64.b64encode(json.dumps({"id": 1, "v": s}).encode()).decode(),
    "in base64 in base64": lambda s: base64.b64encode(base64.b64encode(f"a {s}".encode())).decode(),
    "in a data URI": lambda s: "data:text/plain;base64," + base64.b64encode(f"ü {s} ü".encode()).decode(),
    "after a NUL": lambda s: f"\0{s}\0",
    "beside a lone surrogate": lambda s: f"\ud800{s}\udfff",
}

_random = random.Random(7)

STRUCTURAL: dict[str, list[str]] = {
    "uuid": [str(uuid.UUID(int=_random.getrandbits(128), version=4)) for _ in range(1000)],
    "milliseconds": [str(1_700_000_000_000 + _random.randrange(10**11)) for _ in range(1000)],
    "microseconds": [str(1_700_000_000_000_000 + _random.randrange(10**14)) for _ in range(300)],
    "nanoseconds": [str(1_700_000_000_000_000_000 + _random.randrange(10**17)) for _ in range(300)],
    "seconds": [f"{1_700_000_000 + _random.random() * 1e8:.6f}" for _ in range(300)],
    "sha256": [hashlib.sha256(bytes([n])).hexdigest() for n in range(100)],
    "git": [hashlib.sha1(bytes([n])).hexdigest() for n in range(100)],
    "git, short": [hashlib.sha1(bytes([n])).hexdigest()[:9] for n in range(100)],
    "job": [
        *("job-eu-20260812-09", "build-1.2.3-rc.4+build.20261128"),
        *("2026-11-28T10:22:33.123456+01:00", "20261128102233"),
    ],
    "dates": [f"2026-{1 + n % 12:02d}-{1 + n % 28:02d} {n % 24:02d}:{n % 60:02d}:33,{n:03d}" for n in range(200)],
    "integrity": [
        "sha512-" + base64.b64encode(hashlib.sha512(bytes([n])).digest()).decode() for n in range(50)
    ],
    "image": ["data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + _random.randbytes(3000)).decode()],
    "ids of the wire": [
        prefix + "".join(_random.choices(LETTERS_AND_DIGITS, k=24))
        for prefix in ("call_", "toolu_01", "msg_", "resp_", "req_", "chatcmpl-", "fp_", "run_", "file-", "rs_", "fc_")
        for _ in range(40)
    ],
    "addresses of machines": ["192.168.10.24:8443", "10.0.0.1", "fe80::1ff:fe23:4567:890a", "00:1b:44:11:3a:b7"],
    "numbers": ["3.14159265358979323846", "-123456789.123456789", "1,234,567,890", "+1234567 (more)", "i+1", "+0.25"],
    "code": [
        "@property", "git@github.com:org/repo.git", "icon@2x.png", "max_tokens=4096", "f(token=self.token)", "key=len",
        "def f(password: str) -> None:", "sorted(x, key=lambda p: p[0])", "password = getpass()", "task-" + "a1" * 12,
        "sk-learn-compatible-estimators", "risk-assessment-2026-quarterly-report", "price_total_amount_net",
        "Bearer authentication", "Basic authentication is off", "secret: null", "pip install package==1.2.3",
        "https://example.org/a/b?next_page_token=abcdef&page=2", "token_count: 17", '{"token": 5, "password": null}',
    ],
}  # fmt: skip
"""What no rule may touch: identifiers, times, digests, numbers, code."""


def card_numbers(count: int) -> list[str]:
    """Test numbers with a right check digit, of several issuers, plain and in groups."""
    numbers = []
    for index in range(count):
        prefix, length = [("4", 16), ("51", 16), ("2221", 16), ("6011", 16), ("37", 15)][index % 5]
        body = prefix + "".join(_random.choices(string.digits, k=length - 1 - len(prefix)))
        number = next(body + d for d in string.digits if _luhn(body + d))
        groups = (
            [number[:4], number[4:8], number[8:12], number[12:]]
            if length == 16
            else [number[:4], number[4:10], number[10:]]
        )
        numbers.append(["", " ", "-"][index % 3].join(groups))
    return numbers


def _luhn(number: str) -> bool:
    digits = [int(d) for d in reversed(number)]
    return sum(digits[::2] + [sum(divmod(2 * d, 10)) for d in digits[1::2]]) % 10 == 0


PHONES = [
    "+49 30 901820", "+1 (415) 555-0132", "(212) 555-0187", "415-555-0132", "+44 20 7946 0958", "020 7946 0958",
    "+33 1 42 68 53 00", "01 42 68 53 00", "+1-202-555-0143", "+14155550123", "202.555.0143", "1-800-555-0199",
    "+81 3-1234-5678", "+61 2 9374 4000", "(030) 901820", "+4930901820", "0171/1234567", "+91 98765 43210",
    "+55 11 91234-5678", "+7 495 123-45-67",
]  # fmt: skip
