"""Clients that fetch an exchange of the corpus, and all that they give a program, as plain data."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from playhead.providers import recognise
from tests.corpus.traffic import Exchange

_LONG = 60.0


class Reply(NamedTuple):
    """What a client was given."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: list[bytes]


def fetch_httpx2(base: str, exchanges: Sequence[Exchange]) -> list[Reply]:
    import httpx2

    replies = []
    with httpx2.Client(timeout=_LONG, verify=False) as client:
        for one in exchanges:
            with client.stream(one.method, base + one.path, headers=one.headers, content=one.body) as response:
                pieces = list(response.iter_raw())
            replies.append(Reply(response.status_code, tuple(response.headers.multi_items()), pieces))
    return replies


def fetch_httpx_async(base: str, exchanges: Sequence[Exchange]) -> list[Reply]:
    import httpx

    async def fetch() -> list[Reply]:
        replies = []
        async with httpx.AsyncClient(timeout=_LONG, verify=False) as client:
            for one in exchanges:
                asked = client.stream(one.method, base + one.path, headers=list(one.headers), content=one.body)
                async with asked as response:
                    pieces = [piece async for piece in response.aiter_raw()]
                replies.append(Reply(response.status_code, tuple(response.headers.multi_items()), pieces))
        return replies

    return asyncio.run(fetch())


def fetch_requests(base: str, exchanges: Sequence[Exchange]) -> list[Reply]:
    import requests

    replies = []
    with requests.Session() as session:
        for one in exchanges:
            response = session.request(
                one.method,
                base + one.path,
                headers=dict(one.headers),
                data=one.body,
                stream=True,
                timeout=_LONG,
                allow_redirects=False,
            )
            pieces = list(response.raw.stream(65536, decode_content=False))
            response.close()
            headers = tuple((name, value) for name, value in response.raw.headers.iteritems())
            replies.append(Reply(response.status_code, headers, pieces))
    return replies


def fetch_aiohttp(base: str, exchanges: Sequence[Exchange]) -> list[Reply]:
    import aiohttp
    from yarl import URL

    async def fetch() -> list[Reply]:
        replies = []
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(_LONG)) as session:
            for one in exchanges:
                url = URL(base + one.path, encoded=True)
                asked = session.request(one.method, url, headers=one.headers, data=one.body, allow_redirects=False)
                async with asked as response:
                    pieces = [piece async for piece, _ in response.content.iter_chunks()]
                replies.append(Reply(response.status, tuple(response.headers.items()), pieces))
        return replies

    return asyncio.run(fetch())


CLIENTS: dict[str, tuple[str, Callable[[str, Sequence[Exchange]], list[Reply]]]] = {
    "httpx2": ("httpx2", fetch_httpx2),
    "httpx, async": ("httpx", fetch_httpx_async),
    "requests": ("requests", fetch_requests),
    "aiohttp": ("aiohttp", fetch_aiohttp),
}
"""By name: the package that is needed, and how it fetches."""


def provider_of(exchange: Exchange) -> str:
    """The wire format of a model that an exchange is in; ``""`` where it is no call of a model."""
    call = recognise(exchange.method, "http://host" + exchange.path, exchange.headers, exchange.body)
    return call.provider if call is not None else ""


SDKS = {
    "openai.chat": "openai",
    "openai.responses": "openai",
    "anthropic.messages": "anthropic",
    "gemini.generate": "google.genai",
}


def has_sdk(provider: str) -> bool:
    package = SDKS.get(provider, "")
    names = (package.partition(".")[0], package)
    return package != "" and all(importlib.util.find_spec(name) is not None for name in names)


def hear(base: str, exchange: Exchange) -> list[Any]:
    """All that the real SDK makes of an exchange: each object with its class, and the exception that ended it."""
    provider = provider_of(exchange)
    seen: list[Any] = []
    try:
        for item in _ASK[provider](f"{base}/{exchange.number}", exchange.is_stream):
            data = item.model_dump(mode="json", warnings=False)
            seen.append((type(item).__qualname__, _without_padding(data)))
    except Exception as error:
        seen.append((type(error).__qualname__, str(error), getattr(error, "body", None)))
    return seen


@functools.cache
def _connect(package: str) -> Any:
    """One client for all exchanges: building one costs more than what is measured here."""
    if package == "google.genai":
        from google import genai

        return genai.Client(api_key="k")
    if package == "openai":
        import openai

        return openai.OpenAI(api_key="k", base_url="http://nowhere.invalid", max_retries=0)
    import anthropic

    return anthropic.Anthropic(api_key="k", max_retries=0)


_TURNS = [{"role": "user", "content": "x"}]


def _ask_chat(base: str, stream: bool) -> Any:
    chat = _connect("openai").with_options(base_url=base).chat.completions
    return chat.create(model="m", messages=_TURNS, stream=True) if stream else [chat.create(model="m", messages=_TURNS)]


def _ask_responses(base: str, stream: bool) -> Any:
    responses = _connect("openai").with_options(base_url=base).responses
    return responses.create(model="m", input="x", stream=True) if stream else [responses.create(model="m", input="x")]


def _ask_messages(base: str, stream: bool) -> Any:
    create = _connect("anthropic").with_options(base_url=base).beta.messages.create
    asked = create(model="m", max_tokens=1, messages=_TURNS, stream=stream)
    return asked if stream else [asked]


def _ask_generate(base: str, stream: bool) -> Any:
    config = {"http_options": {"base_url": base}}
    models = _connect("google.genai").models
    if stream:
        return models.generate_content_stream(model="m", contents="x", config=config)
    return [models.generate_content(model="m", contents="x", config=config)]


_ASK = {
    "openai.chat": _ask_chat,
    "openai.responses": _ask_responses,
    "anthropic.messages": _ask_messages,
    "gemini.generate": _ask_generate,
}


def _without_padding(tree: Any) -> Any:
    """What came, without the random padding that its provider adds and recordings leave out."""
    if isinstance(tree, dict):
        return {key: _without_padding(value) for key, value in tree.items() if key != "obfuscation"}
    return [_without_padding(value) for value in tree] if isinstance(tree, list) else tree
