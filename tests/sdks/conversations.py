"""What a program does with each SDK, and all that the SDK gives it, as plain data that can be compared.

``python -m tests.sdks.conversations JOBS`` replays recordings in a process of its own and prints what was seen.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Literal, NamedTuple

import playhead
from playhead.testing import forbid_connections

How = Literal["plain", "raw", "stream", "helper", "leave", "unread"]
Mode = Literal["sync", "async"]

_TURNS = [{"role": "user", "content": "Where is order 7?"}]
_CHAT = {"model": "gpt-4o", "messages": _TURNS}
_RESPONSES = {"model": "gpt-4o", "input": "Where is order 7?"}
_MESSAGES = {"model": "claude-opus-5", "max_tokens": 99, "messages": _TURNS}
_GENERATE = {"model": "gemini-2.5-flash", "contents": "Where is order 7?"}


class Way(NamedTuple):
    """How one conversation goes. ``timeout`` is in seconds."""

    how: How
    retries: int = 0
    timeout: float = 20.0


class Sdk(NamedTuple):
    """One SDK: what it needs to be imported, its clients, its calls."""

    module: str
    base: Callable[[Any], str]
    client: Callable[[str, Mode, Way], Any]
    ask: Callable[[Any, How], Any]


def _openai(url: str, mode: Mode, way: Way) -> Any:
    import openai

    make: Any = openai.OpenAI if mode == "sync" else openai.AsyncOpenAI
    http: Any = openai.DefaultHttpxClient if mode == "sync" else openai.DefaultAsyncHttpxClient
    settings = {"api_key": "k", "base_url": url, "max_retries": way.retries, "timeout": way.timeout}
    return make(**settings, http_client=http(verify=False))  # TLS is most of what a client costs


def _anthropic(url: str, mode: Mode, way: Way) -> Any:
    import anthropic

    make: Any = anthropic.Anthropic if mode == "sync" else anthropic.AsyncAnthropic
    http: Any = anthropic.DefaultHttpxClient if mode == "sync" else anthropic.DefaultAsyncHttpxClient
    settings = {"api_key": "k", "base_url": url, "max_retries": way.retries, "timeout": way.timeout}
    return make(**settings, http_client=http(verify=False))


def _genai(url: str, mode: Mode, way: Way, **more: Any) -> Any:
    from google import genai

    retry = genai.types.HttpRetryOptions(attempts=way.retries + 1, initial_delay=0.001, max_delay=0.01, jitter=0.001)
    options = genai.types.HttpOptions(
        base_url=url, timeout=int(way.timeout * 1000), retry_options=retry, client_args={"verify": False}, **more
    )
    client = genai.Client(api_key="k", http_options=options)
    return client if mode == "sync" else client.aio


def _genai_httpx(url: str, mode: Mode, way: Way) -> Any:
    """Async without aiohttp, as it is where that is not installed."""
    import httpx2

    return _genai(url, mode, way, async_client_args={"transport": httpx2.AsyncHTTPTransport(verify=False)})


def _ask_chat(client: Any, how: How) -> Any:
    chat = client.chat.completions
    match how:
        case "plain":
            return chat.create(**_CHAT)
        case "raw":
            return chat.with_raw_response.create(**_CHAT, logprobs=True, top_logprobs=2)
        case "helper":
            return chat.stream(**_CHAT, stream_options={"include_usage": True})
        case _:
            return chat.create(**_CHAT, stream=True, stream_options={"include_usage": True})


def _ask_responses(client: Any, how: How) -> Any:
    match how:
        case "plain":
            return client.responses.create(**_RESPONSES)
        case "raw":
            return client.responses.with_raw_response.create(**_RESPONSES)
        case "helper":
            return client.responses.stream(**_RESPONSES)
        case _:
            return client.responses.create(**_RESPONSES, stream=True)


def _ask_messages(client: Any, how: How) -> Any:
    match how:
        case "plain":
            return client.messages.create(**_MESSAGES)
        case "raw":
            return client.messages.with_raw_response.create(**_MESSAGES)
        case "helper":
            return client.messages.stream(**_MESSAGES)
        case _:
            return client.messages.create(**_MESSAGES, stream=True)


def _ask_generate(client: Any, how: How) -> Any:
    if how in ("plain", "raw"):
        return client.models.generate_content(**_GENERATE)
    return client.models.generate_content_stream(**_GENERATE)


SDKS = {
    "openai.chat": Sdk("openai", lambda server: server.openai_url, _openai, _ask_chat),
    "openai.responses": Sdk("openai", lambda server: server.openai_url, _openai, _ask_responses),
    "anthropic.messages": Sdk("anthropic", lambda server: server.anthropic_url, _anthropic, _ask_messages),
    "gemini.generate": Sdk("google.genai", lambda server: server.gemini_url, _genai, _ask_generate),
    "gemini.generate over httpx2": Sdk("google.genai", lambda server: server.gemini_url, _genai_httpx, _ask_generate),
}


def converse(sdk: str, mode: Mode, url: str, way: Way) -> dict[str, Any]:
    """Have the conversation; all that the program was given, in order, and the exception that ended it."""
    items: list[Any] = []
    error = None
    try:
        if mode == "sync":
            client: AbstractContextManager[Any] = SDKS[sdk].client(url, mode, way)
            with client as entered:
                for item in _sync_items(SDKS[sdk].ask(entered, way.how), way.how):
                    items.append(see(item))
        else:
            asyncio.run(_converse(sdk, url, way, items))
    except Exception as caught:
        error = see_error(caught)
    return _without_padding(json.loads(json.dumps({"items": items, "error": error})))


def _without_padding(tree: Any) -> Any:
    """What came, without the random padding that its provider adds against eavesdroppers and recordings leave out."""
    if isinstance(tree, dict):
        return {key: _without_padding(value) for key, value in tree.items() if key != "obfuscation"}
    return [_without_padding(value) for value in tree] if isinstance(tree, list) else tree


async def _converse(sdk: str, url: str, way: Way, items: list[Any]) -> None:
    client: AbstractAsyncContextManager[Any] = SDKS[sdk].client(url, "async", way)
    async with client as entered:
        asked = SDKS[sdk].ask(entered, way.how)
        async for item in _async_items(asked, way.how):
            items.append(await _see_awaited(item) if way.how == "raw" else see(item))


def _sync_items(asked: Any, how: How) -> Iterator[Any]:
    if how in ("plain", "raw"):
        yield asked
        return
    if how == "helper" and hasattr(asked, "__enter__"):
        with asked as stream:
            yield from stream
            yield _final(stream)()
        return
    yield asked
    left = 2
    for item in asked if how != "unread" else ():
        yield item
        left -= 1
        if how == "leave" and not left:
            break
    if hasattr(asked, "close"):
        asked.close()


async def _async_items(asked: Any, how: How) -> AsyncIterator[Any]:
    if how in ("plain", "raw"):
        yield await asked
        return
    if how == "helper" and hasattr(asked, "__aenter__"):
        async with asked as stream:
            async for item in stream:
                yield item
            yield await _final(stream)()
        return
    stream = await asked
    yield stream
    left = 0 if how == "unread" else 2
    if left:
        async for item in stream:
            yield item
            left -= 1
            if how == "leave" and not left:
                break
    close = getattr(stream, "close", None) or getattr(stream, "aclose", None)
    if close is not None:
        await close()


def _final(stream: Any) -> Callable[[], Any]:
    names = ("get_final_completion", "get_final_response", "get_final_message")
    return next(getattr(stream, name) for name in names if hasattr(stream, name))


def see(item: Any) -> Any:
    """Everything about one object that a program could look at."""
    seen: dict[str, Any] = {"class": f"{type(item).__module__}.{type(item).__qualname__}"}
    if hasattr(item, "model_dump"):
        seen["data"] = item.model_dump(mode="json", warnings=False)
        seen["request id"] = getattr(item, "_request_id", None)
    elif hasattr(item, "parse"):
        seen["head"] = _see_head(item.http_response)
        seen["request id"] = item.request_id
        seen["text"], seen["parsed"] = item.http_response.text, item.parse().model_dump(mode="json", warnings=False)
    elif hasattr(item, "response"):
        seen["head"] = _see_head(item.response)
    return seen


async def _see_awaited(item: Any) -> Any:
    """`see`, for a raw response whose body has to be awaited."""
    if inspect.iscoroutinefunction(getattr(item, "parse", None)):
        parsed = await item.parse()
        return {"head": _see_head(item.http_response), "text": await item.text(), "parsed": see(parsed)}
    return see(item)


def _see_head(response: Any) -> dict[str, Any]:
    return {
        "status": response.status_code,
        "reason": response.reason_phrase,
        "version": response.http_version,
        "headers": list(response.headers.multi_items()),
        "url": str(response.url),
    }


def see_error(error: BaseException) -> dict[str, Any]:
    """Everything about an exception that a program could look at, and what caused it."""
    text = re.sub(r" at 0x[0-9a-f]+", " at 0x", str(error))  # aiohttp puts the address of an object into its messages
    seen: dict[str, Any] = {"class": f"{type(error).__module__}.{type(error).__qualname__}", "text": text}
    for name in ("status_code", "status", "code", "type", "param", "body", "details", "request_id", "message"):
        if hasattr(error, name):
            seen[name] = getattr(error, name)
    response = getattr(error, "response", None)
    if response is not None and hasattr(response, "headers"):
        seen["headers"] = [[name, value] for name, value in response.headers.items()]
    if error.__cause__ is not None:
        seen["cause"] = see_error(error.__cause__)
    return seen


class Replayed(NamedTuple):
    """A conversation as it was replayed: what the program saw, and what the replay says of itself."""

    seen: Any
    report: list[str]
    identical: bool
    attempts: list[str]


def replay(store: str, run: str, sdk: str, mode: Mode, url: str, way: Way) -> Replayed:
    """Have a recorded conversation again, with nobody to talk to."""
    seen: Any = None
    with forbid_connections() as guard:
        playing = playhead.replay(run, store=store)
        try:
            with playing:
                seen = converse(sdk, mode, url, way)
        except playhead.PlayheadError as error:
            seen = {"playhead": str(error)}
    return Replayed(seen, playing.report.lines(), playing.report.identical, guard.attempts)


def main(path: str) -> None:
    """Replay each of the jobs in a file; print what was seen as JSON."""
    with open(path, encoding="utf-8") as file:
        jobs = json.load(file)
    for module in {SDKS[job["sdk"]].module for job in jobs}:
        importlib.import_module(module)
    print(json.dumps([replay(**{**job, "way": Way(*job["way"])}) for job in jobs]))


if __name__ == "__main__":
    main(sys.argv[1])
