"""The real SDKs give a program the same from a stream that came and from the same stream played back."""

from __future__ import annotations

import functools
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from playhead.providers import merge_stream, play_stream
from tests.providers.corpus import FOLDER, Recorded
from tests.providers.test_corpus_streams import cut, read_streams

pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no corpus at {FOLDER}; PLAYHEAD_CORPUS names its folder")


class StreamServer(http.server.ThreadingHTTPServer):
    """Answers every POST with ``chunks``, each sent by itself."""

    daemon_threads = True
    chunks: list[bytes]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that stops reading is what some of these tests are about."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: StreamServer

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in filter(None, self.server.chunks):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[StreamServer]:
    server = StreamServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@functools.cache
def connect(sdk: str, url: str) -> Any:
    """One client of each SDK for all streams: building one costs more than reading a stream."""
    if sdk == "google.genai":
        return pytest.importorskip(sdk).Client(api_key="k", http_options={"base_url": url})
    name = {"openai": "OpenAI", "anthropic": "Anthropic"}[sdk]
    return getattr(pytest.importorskip(sdk), name)(base_url=url, api_key="k", max_retries=0)


def ask_chat(url: str) -> Iterator[Any]:
    turns = [{"role": "user", "content": "x"}]
    yield from connect("openai", url).chat.completions.create(model="m", messages=turns, stream=True)


def ask_responses(url: str) -> Iterator[Any]:
    yield from connect("openai", url).responses.create(model="m", input="x", stream=True)


def ask_messages(url: str) -> Iterator[Any]:
    turns = [{"role": "user", "content": "x"}]
    yield from connect("anthropic", url).beta.messages.create(model="m", max_tokens=1, messages=turns, stream=True)


def ask_generate(url: str) -> Iterator[Any]:
    yield from connect("google.genai", url).models.generate_content_stream(model="m", contents="x")


ASK: dict[str, Callable[[str], Iterator[Any]]] = {
    "openai.chat": ask_chat,
    "openai.responses": ask_responses,
    "anthropic.messages": ask_messages,
    "gemini.generate": ask_generate,
}


def see(ask: Callable[[str], Iterator[Any]], server: StreamServer, chunks: list[bytes]) -> list[Any]:
    """All that the SDK gives a program: each object with its class, and the exception that ended it."""
    server.chunks = chunks
    seen: list[Any] = []
    try:
        for item in ask(server.url):
            data = item.model_dump(mode="json", exclude={"sdk_http_response"})
            data.pop("obfuscation", None)
            seen.append((type(item).__name__, data))
    except Exception as error:
        seen.append((type(error).__name__, str(error)))
    return seen


@pytest.mark.parametrize("provider", ASK)
def test_the_sdk_gives_the_same_objects_from_the_stream_played_back(provider: str, server: StreamServer) -> None:
    count = 0
    for name, exchange in read_streams():
        if name != provider:
            continue
        count += 1
        chunks = cut(exchange.body.encode(), "events")
        merged = merge_stream(provider, exchange.content_type, chunks, complete=True)
        assert merged is not None
        played = play_stream(provider, json.loads(json.dumps(merged.final)), merged.shape)
        assert len(before := see(ASK[provider], server, chunks)) > 0
        assert see(ASK[provider], server, played) == before, exchange.file
    assert count > 0


@pytest.mark.parametrize("part", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("provider", ASK)
def test_the_sdk_gives_the_same_from_a_stream_that_broke_off(provider: str, part: float, server: StreamServer) -> None:
    """B26: cut inside an event, the stream ends for the program as it did."""
    for exchange in [exchange for name, exchange in read_streams() if name == provider][:4]:
        body = exchange.body.encode()
        chunks = cut(body[: int(len(body) * part)], "5")
        merged = merge_stream(provider, exchange.content_type, chunks, complete=False)
        assert merged is not None, exchange.file
        played = play_stream(provider, merged.final, merged.shape)
        assert see(ASK[provider], server, played) == see(ASK[provider], server, chunks), exchange.file


def test_the_final_message_is_the_one_the_sdk_puts_together(server: StreamServer) -> None:
    client = connect("anthropic", server.url)
    for exchange in [exchange for name, exchange in read_streams() if name == "anthropic.messages"]:
        server.chunks = [exchange.body.encode()]
        turns = [{"role": "user", "content": "x"}]
        with client.beta.messages.stream(model="m", max_tokens=1, messages=turns) as stream:
            theirs = json.loads(stream.get_final_message().to_json(exclude_unset=True))
        assert strip(final_of(exchange), theirs) == theirs, exchange.file


def final_of(exchange: Recorded) -> Any:
    merged = merge_stream("anthropic.messages", exchange.content_type, [exchange.body.encode()], complete=True)
    assert merged is not None
    return merged.final


def strip(ours: Any, theirs: Any) -> Any:
    """Ours without what the SDK leaves out."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {key: strip(ours.get(key), value) for key, value in theirs.items()}
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [strip(one, two) for one, two in zip(ours, theirs, strict=True)]
    return ours
