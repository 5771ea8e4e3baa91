"""No byte of a planted secret gets into any file, message, output or exception text."""

from __future__ import annotations

import base64
import io
import json
import logging
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openai import OpenAI

import playhead
from playhead.errors import PlayheadError
from playhead.testing import ModelServer, Raw, Text, ToolCall, ToolCalls

HERON = "FAKE-heron-77"
KEY = "sk-proj-Zx81kQpLmN4vBt7yRw2sHd93jf5Gc6Ua"
GITHUB = "ghp_1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"
MAIL = "ana.maria@example.org"
CARD = "4111 1111 1111 1111"
SECRETS = (HERON, KEY, GITHUB, MAIL, CARD)
SAID = f"key {KEY} of {MAIL}, card {CARD}, {GITHUB} and {HERON}."


@pytest.fixture(autouse=True)
def store(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLAYHEAD_SECRETS", HERON)
    return own_store


def spellings(secret: str) -> Iterator[bytes]:
    """The ways in which a secret could be found again."""
    yield secret.encode()
    yield urllib.parse.quote(secret, safe="").encode()
    yield json.dumps(secret)[1:-1].encode()
    for shift in range(3):
        yield base64.b64encode(b" " * shift + secret.encode())[4 if shift else 0 : -4]


def leaks(data: bytes) -> list[str]:
    return [secret for secret in SECRETS for spelling in spellings(secret) if spelling in data]


def kept(store: Path) -> bytes:
    """Everything in the store, compressed recordings in plain."""
    found = io.BytesIO()
    for path in sorted(store.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found.write(data + path.name.encode())
            if data[:4] == b"\x28\xb5\x2f\xfd":
                found.write(_plain(data))
    return found.getvalue()


def _plain(data: bytes) -> bytes:
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd
    return bytes(zstd.ZstdFile(io.BytesIO(data)).read())


class VendorError(Exception):
    def __init__(self, text: str, token: str) -> None:
        super().__init__(text)
        self.token = token


@playhead.tool
def careless(note: str, password: str = "") -> dict[str, Any]:
    return {"echo": note, "nested": json.dumps({"inner": json.dumps({"api_key": note})}), "raw": note.encode(), note: 1}


@playhead.tool
def failing(note: str) -> None:
    raise VendorError(f"refused {note}", note) from ValueError(note)


@playhead.tool
def trickling() -> Iterator[str]:
    yield from ("key is FA", "KE-her", "on-77 ok, sk-proj-Zx81kQp", "LmN4vBt7yRw2sHd93jf5Gc6Ua end")


def everything(server: ModelServer) -> list[Any]:
    """An agent that puts every secret into every place that there is."""
    client = OpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0)
    tools: Any = [{"type": "function", "function": {"name": "t", "description": SAID, "parameters": {"default": SAID}}}]
    messages: Any = [{"role": "system", "content": SAID}, {"role": "user", "content": f"and {SAID}"}]
    out: list[Any] = [careless(SAID, password="swordfish-9x"), list(trickling())]
    with pytest.raises(VendorError):
        failing(SAID)
    answer = client.chat.completions.create(model="m", messages=messages, tools=tools, logprobs=True)
    out.append(answer.choices[0].message.content)
    out.append(
        "".join(
            chunk.choices[0].delta.content or ""
            for chunk in client.chat.completions.create(model="m", messages=messages, stream=True)
            if chunk.choices
        )
    )
    out.append(client.chat.completions.create(model="m", messages=messages).choices[0].message.tool_calls)
    quoted = urllib.parse.quote(SAID)
    headers = {"x-api-key": KEY, "cookie": f"session={HERON}", "x-note": HERON}
    page = httpx2.post(f"{server.url}/page?token={quoted}&note={quoted}", json={"note": SAID}, headers=headers)
    out.append([page.json(), page.headers["set-cookie"]])
    out.append(httpx2.post(f"{server.url}/page", content=f"data:text/plain;base64,{_b64(SAID)}").status_code)
    return out


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def serve() -> ModelServer:
    said = {"content-type": "application/json", "set-cookie": f"sid={HERON}"}
    page = Raw(200, json.dumps({"said": SAID}).encode(), headers=said)
    pieces = ["key is FA", "KE-her", "on-77 ok ", KEY[:9], KEY[9:20], KEY[20:], " by ", MAIL[:5], MAIL[5:]]
    script = [
        Text(SAID),
        Text("".join(pieces), stream_pieces=pieces),
        ToolCalls([ToolCall("t", {"note": SAID, "secret": HERON})]),
    ]
    return ModelServer(script, routes={"POST /page": page})


def test_no_planted_secret_is_in_any_file_and_the_masked_recording_replays_strictly(store: Path) -> None:
    """B15, B75, B79"""
    with serve() as server, playhead.record(kind="leak", task=f"task {HERON}", policy={"note": SAID}) as run:
        live = everything(server)
        run.succeed(SAID)
    assert HERON in str(live), "the running program has the real values"
    assert leaks(kept(store)) == []
    with playhead.replay(run.id) as replay:
        masked = everything(server)
    assert leaks(repr(masked).encode()) == []
    assert replay.report.answered == 8
    assert "swordfish-9x" not in kept(store).decode("latin-1")


def test_messages_reports_outputs_and_logs_show_no_secret(store: Path, caplog: pytest.LogCaptureFixture) -> None:
    """B17: not in the exception's text, its repr, the log, the JSON report, or what the command line prints."""
    caplog.set_level(logging.DEBUG)

    def ask(url: str, word: str) -> None:
        httpx2.post(url, json={"password": "FAKE-heron", "note": f"{word} {SAID}"})

    with serve() as server:
        url = f"{server.url}/page"
        with playhead.record(kind="leak") as run:
            ask(url, "first")
    with pytest.raises(playhead.DivergenceError) as caught, playhead.replay(run.id) as strict:
        ask(url, "second")
    with playhead.replay(run.id, match="loose") as loose:
        ask(url, "second")
    texts = [
        str(caught.value),
        repr(caught.value),
        repr(caught.value.facts),
        repr(caught.value.divergence),
        json.dumps(strict.report.to_dict(), default=str),
        json.dumps(loose.report.to_dict(), default=str),
        "\n".join(loose.report.lines()),
    ]
    assert "[-first-]{+second+}" in texts[0]
    playheads = [record.getMessage() for record in caplog.records if record.name.startswith("playhead")]
    for words in (["show", f"{run.id}"], ["show", run.id, "--json"], ["runs", "--json"], ["verify", run.id]):
        done = subprocess.run(
            [sys.executable, "-m", "playhead.cli", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        texts += [done.stdout, done.stderr]
    assert leaks("\n".join(texts + playheads).encode()) == []
    assert "FAKE-heron" not in "\n".join(texts + playheads)


def test_a_secret_that_the_cut_end_of_a_stream_begins_is_masked(store: Path) -> None:
    """B79: the secret's start is in the last piece before the connection breaks."""
    with ModelServer([Text(f"it is {HERON}", stream_pieces=["it is ", HERON[:9], HERON[9:]], drop_after=3)]) as server:
        client = OpenAI(base_url=server.openai_url, api_key=KEY, max_retries=0)
        with playhead.record(kind="leak") as run, pytest.raises(Exception) as broken:
            for _ in client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "?"}], stream=True
            ):
                pass
    assert not isinstance(broken.value, PlayheadError)
    assert HERON[:9].encode() not in kept(store)
    assert playhead.load(run.id).steps[0].answer is not None


def test_nothing_of_the_environment_is_kept_but_what_a_replay_needs(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B75: the environment"""
    monkeypatch.setenv("VENDOR_TOKEN", HERON)
    monkeypatch.setattr(sys, "argv", ["agent.py", "--token", HERON])
    with playhead.record(kind="leak") as run:
        pass
    assert leaks(kept(store)) == []
    assert run.path is not None


def test_a_recording_masked_with_another_key_replays_strictly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B87: placeholders of two stores differ; they are compared by rule where the key is another."""
    with serve() as server, playhead.record(kind="leak") as run:
        everything(server)
    assert run.path is not None
    monkeypatch.setenv("PLAYHEAD_STORE", str(tmp_path / "other"))
    with playhead.replay(run.path) as replay:
        everything(server)
    assert replay.report.answered == 8
