"""A secret is found below the encodings it stands in, and what is replaced keeps them."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playhead.masking import is_placeholder
from playhead.masking._engine import EngineName
from tests.masking.planted import ENGINES, masker

SECRET = "FAKE-heron-77"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQ" * 30 + "\n-----END PRIVATE KEY-----\n"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODED = {
    "percent": "x=who%40example.org",
    "percent, twice": "c=https%3A%2F%2Fh%2F%3Fu%3Dwho%2540example.org",
    "percent, in a query": f"https://h/?q={quote('who@example.org')}&n=1",
    "base64 alone": b64(SECRET),
    "base64 without padding": b64(SECRET).rstrip("="),
    "base64 in JSON": json.dumps({"file": b64(SECRET), "n": 1}),
    "base64 of JSON": b64(json.dumps({"file": SECRET, "n": 1})),
    "base64 of base64": b64(f"a {b64(SECRET)} b"),
    "base64 of a PEM": b64(PEM),
    "base64 of a PEM's beginning": b64(PEM[:60]),
    "base64 in lines": "\n".join(b64(f"{'x' * 60}{SECRET}{'y' * 60}" * 3)[n : n + 76] for n in range(0, 540, 76)),
    "base64, URL-safe": base64.urlsafe_b64encode(f"ÿÿ? {SECRET} ÿÿ?".encode()).decode(),
    "base64 of binary": base64.b64encode(b"\x89PNG\xff\xfe\x00" + SECRET.encode() + b"\xff\x00\xfe" * 9).decode(),
    "base64 behind a path": f"/api/v1/{b64('user: ' + SECRET)}",
    "base64, percent-encoded": quote(b64(f"{SECRET}?>"), safe=""),
    "basic": "Basic " + b64(f"user:{SECRET}"),
    "escapes": '{"e": "\\u0046AKE\\u002dheron-77"}',
    "data URI": f"data:text/plain;base64,{b64(SECRET)}",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ENCODED)
def test_an_encoded_secret_is_found_by_the_mask_and_by_the_check(engine: EngineName, kind: str) -> None:
    """B86"""
    mask = masker(engine, secrets=(SECRET,))
    text = ENCODED[kind]
    assert mask.find(text)
    masked = mask.text(text)
    for spelled in spellings(masked):
        assert SECRET not in spelled
        assert "who@example" not in spelled
        assert "MIIEvQMIIEvQ" not in spelled
    assert mask.find(masked) == []
    assert mask.text(masked) == masked
    if text.startswith("{"):
        assert json.loads(masked).keys() == json.loads(text).keys()


def spellings(text: str) -> list[str]:
    """``text`` with its encodings taken off, twice."""
    found = [text, unquote(text), unquote(unquote(text))]
    for depth in (0, 1):
        for spelled in list(found)[depth * 3 :] if depth else list(found):
            for run in "".join(spelled.split("\n")).replace('"', " ").replace(",", " ").replace("=", " ").split():
                for start in range(4):
                    bare = run[start:].translate(str.maketrans("-_", "+/"))
                    padded = bare[: len(bare) - (len(bare) % 4 == 1)]
                    try:
                        found.append(base64.b64decode(padded + "=" * (-len(padded) % 4)).decode("latin-1"))
                    except ValueError:
                        continue
    return found


def test_what_was_base64_stays_base64_and_decodes_to_the_masked_text() -> None:
    mask = masker(secrets=(SECRET,))
    content = f"# Grüße\nuser = {SECRET}\nmail = ana@example.org\n"
    masked = mask.text(f'{{"content":"{b64(content)}","n":1}}')
    assert base64.b64decode(json.loads(masked)["content"]).decode() == mask.text(content)


def test_a_blob_without_a_secret_is_left_alone() -> None:
    blob = base64.b64encode(bytes(range(256)) * 40).decode()
    assert masker(secrets=(SECRET,)).text(blob) is blob
    text = b64("nothing of interest in here, only words and numbers 123456")
    assert masker(secrets=(SECRET,)).text(text) is text


@pytest.mark.parametrize("shift", range(3))
@pytest.mark.parametrize("secret", [SECRET, "s3cr3t", "pässwörd", "a b\"c\\d'e"])
def test_a_registered_secret_is_found_in_every_alignment_of_base64(secret: str, shift: int) -> None:
    mask = masker(secrets=(secret,))
    for before, after in ((b"\xff" * shift, b"\xff\xff\xff"), (b"x" * shift, b"y z"), (b"\0" * shift, b"")):
        blob = base64.b64encode(before + secret.encode() + after).decode()
        masked = mask.text(f"v: {blob}.")
        assert masked != f"v: {blob}."
        assert mask.text(masked) == masked


def test_a_header_whose_value_is_an_object_a_list_and_a_number() -> None:
    """B77"""
    text = json.dumps(
        {
            "command": 'curl -H "Authorization: Bearer FAKE.abc" "http://h"',
            "headers": {
                "authorization": {"scheme": "x", "value": "FAKE.abc"},
                "cookie": ["FAKE.abc", 5],
                "x-api-key": 7,
            },
            "one": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqh",
            "two": "kiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
        }
    )
    for masked in (json.loads(masker().text(text)), masker().value(json.loads(text))):
        assert "FAKE.abc" not in json.dumps(masked)
        assert masked["command"].startswith('curl -H "Authorization: Bearer [masked:secret:')
        assert masked["command"].endswith(']" "http://h"')
        assert masked["headers"]["authorization"].keys() == {"scheme", "value"}
        assert masked["headers"]["cookie"][1] == 5
        assert masked["headers"]["x-api-key"] == 7
        assert "MIIEvQ" not in masked["one"]
        assert "kiG9w0" not in masked["two"]


SINKS = {
    "system prompt": lambda s: {"messages": [{"role": "system", "content": f"use {s}"}]},
    "tool argument": lambda s: {"arguments": json.dumps({"q": s})},
    "tool result": lambda s: {"content": json.dumps(json.dumps({"q": [s]}))},
    "exception": lambda s: {"message": f"HTTPError: 403 for url https://h/?q={quote(s)}"},
    "header": lambda s: {"headers": [["X-Thing", s], ["Authorization", f"Bearer {s}"]]},
    "query": lambda s: {"url": f"https://h/?x={quote(s, safe='')}"},
    "metadata": lambda s: {"tags": {f"tag-{s}": s}},
    "name": lambda s: {"name": f"span {s}"},
    "data URI": lambda s: {"url": f"data:application/json;base64,{b64(json.dumps({'k': s}))}"},
    "attachment": lambda s: {"file": {"$t": "bytes", "base64": base64.b64encode(b"\0\xff" + s.encode()).decode()}},
    "bytes": lambda s: {"file": b"\0\xff" + s.encode()},
    "environment": lambda s: {"env": {"THING": s, "PATH": f"/opt/{s}/bin"}},
    "tool schema": lambda s: {"parameters": {"properties": {"password": {"type": "string", "default": s}}}},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("secret", [SECRET, "a b\"c\\d'e/ü"])
def test_every_place_of_an_event_is_covered(engine: EngineName, sink: str, secret: str) -> None:
    """B75: raw, base64 and URL-encoded forms of a registered secret are gone from all of them."""
    masked = masker(engine, secrets=(secret,)).value(SINKS[sink](secret))
    text = repr(masked)
    assert secret not in text
    assert quote(secret) not in text
    assert secret not in "".join(spellings(text))
    flat = json.dumps(masked, default=lambda value: value.decode("latin-1"))
    assert json.dumps(secret)[1:-1] not in flat
    assert secret.encode() not in next(iter(masked.values())) if sink == "bytes" else True


@given(st.text(alphabet='sk-aA1%"\\/u0046 n', max_size=60))
def test_escapes_of_any_kind_never_break_the_mask(text: str) -> None:
    mask = masker(
        secrets=(
            "a1a1A1A1",
            'a"\\/a1',
        )
    )
    masked = mask.text(text)
    assert mask.text(masked) == masked


def test_a_password_with_quotes_is_masked_to_its_end_at_every_depth() -> None:
    tree: object = {"password": 'a"b\\c'}
    for _ in range(4):
        text = json.dumps(tree)
        masked = masker().text(text)
        inner = masked
        while isinstance(inner, str):
            inner = json.loads(inner)
            if isinstance(inner, dict) and "x" in inner:
                inner = inner["x"]
        assert is_placeholder(inner["password"])
        tree = {"x": text}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("number", ["0171 1234567", "4111111111111111", "415-555-0132", "01 42 68 53 00"])
def test_a_number_right_after_an_escape_is_found(engine: EngineName, number: str) -> None:
    for escape in ("\\n", "\\t", "\\u4e2d", "%0A", "\\\\n"):
        text = f'{{"a": "x{escape}{number}"}}'
        assert number not in masker(engine).text(text), text
        assert number not in str(masker(engine).value({"b": text}))
