"""One way to drive every HTTP client that is recorded, plain and asynchronous."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any, Literal

import aiohttp
import httpx
import httpx2
import msgspec
import requests
import urllib3

Way = Literal["end", "break", "close", "raise", "cancel", "drop", "never"]
Pairs = list[tuple[str, str]]
WAYS: tuple[Way, ...] = ("break", "close", "raise", "cancel", "drop", "never")
PATIENT = 20.0


class Reply(msgspec.Struct):
    """What a client gives its program: everything but the objects themselves."""

    status: int
    reason: str
    headers: Pairs
    body: bytes
    cookies: dict[str, str]
    history: list[int]
    url: str


class LeftByRaising(Exception):
    """Raised by a program in the middle of a stream."""


class Client:
    """A client library. ``fetch`` reads a whole reply, ``stream`` reads pieces and may leave early."""

    name = ""
    awaits = False

    def fetch(self, url: str, *, follow: bool = True, patience: float = PATIENT, **asked: Any) -> Reply:
        raise NotImplementedError

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.name


class Httpx(Client):
    def __init__(self, package: Any) -> None:
        self.package = package
        self.name = package.__name__

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        with self.package.Client(follow_redirects=follow, timeout=patience, verify=False) as client:
            return self.reply(client, client.request(method, url, **asked))

    def reply(self, client: Any, response: Any) -> Reply:
        headers = [(name.decode(), value.decode()) for name, value in response.headers.raw]
        history = [hop.status_code for hop in response.history]
        code, reason, url = response.status_code, response.reason_phrase, str(response.url)
        return Reply(code, reason, headers, response.content, dict(client.cookies), history, url)

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        got: list[bytes] = []
        with self.package.Client(timeout=patience, verify=False) as client:
            response = client.send(client.build_request("GET", url), stream=True)
            try:
                if way != "never":
                    for piece in response.iter_bytes():
                        got.append(piece)
                        if way != "end" and len(got) == after:
                            if way == "raise":
                                raise LeftByRaising
                            break
                        seen()
            except LeftByRaising:
                response.close()
            if way in ("end", "break", "close"):
                response.close()
            del response
            gc.collect()
        return got


class AsyncHttpx(Httpx):
    awaits = True

    def __init__(self, package: Any) -> None:
        super().__init__(package)
        self.name += "-async"

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        async def run() -> Reply:
            async with self.package.AsyncClient(follow_redirects=follow, timeout=patience, verify=False) as client:
                return self.reply(client, await client.request(method, url, **asked))

        return asyncio.run(run())

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        return asyncio.run(self._stream(url, seen, way, after, patience))

    async def _stream(self, url: str, seen: Callable[[], None], way: Way, after: int, patience: float) -> list[bytes]:
        got: list[bytes] = []
        async with self.package.AsyncClient(timeout=patience, verify=False) as client:
            response = await client.send(client.build_request("GET", url), stream=True)
            read = _read(response.aiter_bytes(), got, seen, way, after)
            await _leave(read, way, response.aclose)
            del response, read
            gc.collect()
            await asyncio.sleep(0)
        return got


class Requests(Client):
    name = "requests"

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        if "content" in asked:
            asked["data"] = asked.pop("content")
        with requests.Session() as session:
            response = session.request(method, url, allow_redirects=follow, timeout=patience, **asked)
            headers = list(response.raw.headers.items())
            history = [hop.status_code for hop in response.history]
            cookies = session.cookies.get_dict()
            return Reply(
                response.status_code, response.reason, headers, response.content, cookies, history, response.url
            )

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        got: list[bytes] = []
        with requests.Session() as session:
            response = session.get(url, stream=True, timeout=patience)
            _read_plain(response.iter_content(None), response.close, got, seen, way, after)
            del response
            gc.collect()
        return got


class Urllib3(Client):
    name = "urllib3"

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        if "content" in asked:
            asked["body"] = asked.pop("content")
        with urllib3.PoolManager(timeout=patience) as manager:
            retries = urllib3.Retry(5, connect=0, read=0, other=0, redirect=5, raise_on_redirect=False)
            response = manager.request(method, url, redirect=follow, retries=retries, **asked)
            history = [hop.status or 0 for hop in response.retries.history] if response.retries else []
            headers = list(response.headers.items())
            return Reply(
                response.status, response.reason or "", headers, response.data, {}, history, response.geturl() or url
            )

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        got: list[bytes] = []
        with urllib3.PoolManager(timeout=patience) as manager:
            response = manager.request("GET", url, preload_content=False, retries=False)
            _read_plain(response.stream(), response.close, got, seen, way, after)
            del response
            gc.collect()
        return got


class Aiohttp(Client):
    name = "aiohttp"
    awaits = True

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        if "content" in asked:
            asked["data"] = asked.pop("content")

        async def run() -> Reply:
            timeout = aiohttp.ClientTimeout(sock_read=patience)
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.request(method, url, allow_redirects=follow, **asked) as response,
            ):
                headers = [(name.decode(), value.decode()) for name, value in response.raw_headers]
                body = await response.read()
                cookies = {name: morsel.value for name, morsel in response.cookies.items()}
                history = [hop.status for hop in response.history]
                return Reply(response.status, response.reason or "", headers, body, cookies, history, str(response.url))

        return asyncio.run(run())

    def stream(
        self, url: str, *, seen: Callable[[], None], way: Way = "end", after: int = 2, patience: float = PATIENT
    ) -> list[bytes]:
        return asyncio.run(self._stream(url, seen, way, after, patience))

    async def _stream(self, url: str, seen: Callable[[], None], way: Way, after: int, patience: float) -> list[bytes]:
        got: list[bytes] = []
        timeout = aiohttp.ClientTimeout(sock_read=patience)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            response = await session.get(url)
            read = _read(response.content.iter_chunked(65536), got, seen, way, after)

            async def close() -> None:
                response.close()

            await _leave(read, way, close)
            del response, read, close
            gc.collect()
            await asyncio.sleep(0)
        return got


def _read_plain(pieces: Any, close: Any, got: list[bytes], seen: Any, way: Way, after: int) -> None:
    try:
        if way != "never":
            for piece in pieces:
                got.append(piece)
                if way != "end" and len(got) == after:
                    if way == "raise":
                        raise LeftByRaising
                    break
                seen()
    except LeftByRaising:
        close()
    if way in ("end", "break", "close"):
        close()


async def _read(pieces: Any, got: list[bytes], seen: Any, way: Way, after: int) -> None:
    async for piece in pieces:
        got.append(piece)
        if way == "cancel" and len(got) == after:
            asyncio.current_task().cancel()  # type: ignore[union-attr]
        elif way != "end" and len(got) == after:
            if way == "raise":
                raise LeftByRaising
            return
        else:
            seen()


async def _leave(read: Any, way: Way, close: Any) -> None:
    """Read in a task of its own, and let go of the response as ``way`` says."""
    if way == "never":
        read.close()
        return
    task = asyncio.ensure_future(read)
    try:
        await task
    except (LeftByRaising, asyncio.CancelledError):
        await close()
    except BaseException:
        await close()
        raise
    if way in ("end", "break", "close"):
        await close()


CLIENTS: tuple[Client, ...] = (
    Httpx(httpx),
    AsyncHttpx(httpx),
    Httpx(httpx2),
    AsyncHttpx(httpx2),
    Requests(),
    Urllib3(),
    Aiohttp(),
)
