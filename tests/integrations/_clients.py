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
WAYS: tuple[Way, ...] = ("break", "close", "raise", "cancel", "drop", "never")
PATIENT = 20.0


class Reply(msgspec.Struct):
    """What a client gives its program: everything but the objects themselves."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes
    cookies: dict[str, str]
    history: list[int]
    url: str


class LeftByRaisingError(Exception):
    """Raised by a program in the middle of a stream."""


class Reading(msgspec.Struct):
    """How a program reads a stream, and what it got: it leaves after two pieces in its ``way``."""

    seen: Callable[[], None] = lambda: None
    way: Way = "end"
    patience: float = PATIENT
    got: list[bytes] = msgspec.field(default_factory=list)

    def takes(self, piece: bytes) -> bool:
        """Take a piece; false where it is the last one that the program wants."""
        self.got.append(piece)
        if self.way != "end" and len(self.got) == 2:
            if self.way == "raise":
                raise LeftByRaisingError
            return False
        self.seen()
        return True

    def plain(self, pieces: Any, close: Callable[[], None]) -> None:
        try:
            for piece in pieces if self.way != "never" else ():
                if not self.takes(piece):
                    if self.way == "close":
                        close()
                    break
        except LeftByRaisingError:
            close()
        if self.way in ("end", "break"):
            close()

    async def awaited(self, pieces: Any, close: Callable[[], Any]) -> None:
        """In a task of its own, so that it can be cancelled."""

        async def read() -> None:
            async for piece in pieces:
                if not self.takes(piece):
                    if self.way != "cancel":
                        break
                    task = asyncio.current_task()
                    assert task is not None
                    task.cancel()

        if self.way == "never":
            return
        try:
            await asyncio.ensure_future(read())
        except BaseException as error:
            await close()
            if not isinstance(error, LeftByRaisingError | asyncio.CancelledError):
                raise
        if self.way in ("end", "break", "close"):
            await close()


class Client:
    """A client library. ``fetch`` reads a whole reply, ``stream`` pieces."""

    name = ""
    awaits = False

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        raise NotImplementedError

    def stream(self, url: str, reading: Reading) -> list[bytes]:
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

    def stream(self, url: str, reading: Reading) -> list[bytes]:
        with self.package.Client(timeout=reading.patience, verify=False) as client:
            response = client.send(client.build_request("GET", url), stream=True)
            reading.plain(response.iter_bytes(), response.close)
            del response
            gc.collect()
        return reading.got


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

    def stream(self, url: str, reading: Reading) -> list[bytes]:
        async def run() -> None:
            async with self.package.AsyncClient(timeout=reading.patience, verify=False) as client:
                response = await client.send(client.build_request("GET", url), stream=True)
                await reading.awaited(response.aiter_bytes(), response.aclose)
                del response
                gc.collect()
                await asyncio.sleep(0)

        asyncio.run(run())
        return reading.got


class Requests(Client):
    name = "requests"

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        if "content" in asked:
            asked["data"] = asked.pop("content")
        with requests.Session() as session:
            found = session.request(method, url, allow_redirects=follow, timeout=patience, **asked)
            headers = list(found.raw.headers.items())
            history = [hop.status_code for hop in found.history]
            cookies = session.cookies.get_dict()
            return Reply(found.status_code, found.reason, headers, found.content, cookies, history, found.url)

    def stream(self, url: str, reading: Reading) -> list[bytes]:
        with requests.Session() as session:
            response = session.get(url, stream=True, timeout=reading.patience)
            reading.plain(response.iter_content(None), response.close)
            del response
            gc.collect()
        return reading.got


class Urllib3(Client):
    name = "urllib3"

    def fetch(
        self, url: str, *, follow: bool = True, patience: float = PATIENT, method: str = "GET", **asked: Any
    ) -> Reply:
        if "content" in asked:
            asked["body"] = asked.pop("content")
        with urllib3.PoolManager(timeout=patience) as manager:
            retries = urllib3.Retry(5, connect=0, read=0, other=0, redirect=5, raise_on_redirect=False)
            found = manager.request(method, url, redirect=follow, retries=retries, **asked)
            history = [hop.status or 0 for hop in found.retries.history] if found.retries else []
            headers, reason = list(found.headers.items()), found.reason or ""
            return Reply(found.status, reason, headers, found.data, {}, history, found.geturl() or url)

    def stream(self, url: str, reading: Reading) -> list[bytes]:
        with urllib3.PoolManager(timeout=reading.patience) as manager:
            response = manager.request("GET", url, preload_content=False, retries=False)
            reading.plain(response.stream(), response.close)
            del response
            gc.collect()
        return reading.got


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
                session.request(method, url, allow_redirects=follow, **asked) as found,
            ):
                headers = [(name.decode(), value.decode()) for name, value in found.raw_headers]
                body, reason = await found.read(), found.reason or ""
                cookies = {name: morsel.value for name, morsel in found.cookies.items()}
                history = [hop.status for hop in found.history]
                return Reply(found.status, reason, headers, body, cookies, history, str(found.url))

        return asyncio.run(run())

    def stream(self, url: str, reading: Reading) -> list[bytes]:
        async def run() -> None:
            timeout = aiohttp.ClientTimeout(sock_read=reading.patience)
            async with aiohttp.ClientSession(timeout=timeout) as session:
                response = await session.get(url)
                await reading.awaited(response.content.iter_chunked(65536), _closer(response))
                del response
                gc.collect()
                await asyncio.sleep(0)

        asyncio.run(run())
        return reading.got


def _closer(response: Any) -> Callable[[], Any]:
    async def close() -> None:
        response.close()

    return close


CLIENTS: tuple[Client, ...] = (
    Httpx(httpx),
    AsyncHttpx(httpx),
    Httpx(httpx2),
    AsyncHttpx(httpx2),
    Requests(),
    Urllib3(),
    Aiohttp(),
)
