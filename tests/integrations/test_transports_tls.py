"""Over TLS, directly and through a tunnel: recorded above both, replayed without either."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
import urllib3

from tests.integrations._sessions import MemoryRig
from tests.integrations._tls import TlsServer


def by_httpx(package: Any) -> Callable[[str, str | None], bytes]:
    def fetch(url: str, proxy: str | None) -> bytes:
        with package.Client(verify=False, proxy=proxy) as client:
            return bytes(client.get(url).content)

    return fetch


def by_requests(url: str, proxy: str | None) -> bytes:
    with requests.Session() as session:
        return bytes(session.get(url, verify=False, proxies={"https": proxy} if proxy else None).content)


def by_urllib3(url: str, proxy: str | None) -> bytes:
    options: Any = {"cert_reqs": "CERT_NONE", "retries": False}
    with urllib3.ProxyManager(proxy, **options) if proxy else urllib3.PoolManager(**options) as manager:
        return bytes(manager.request("GET", url).data)


def by_aiohttp(url: str, proxy: str | None) -> bytes:
    async def run() -> bytes:
        async with aiohttp.ClientSession() as session, session.get(url, ssl=False, proxy=proxy) as response:
            return await response.read()

    return asyncio.run(run())


FETCHERS = {
    "httpx": by_httpx(httpx),
    "httpx2": by_httpx(httpx2),
    "requests": by_requests,
    "urllib3": by_urllib3,
    "aiohttp": by_aiohttp,
}


@pytest.mark.parametrize("name", FETCHERS)
@pytest.mark.parametrize("way", ["direct", "tunnel"])
def test_a_request_over_tls_is_one_exchange_and_is_replayed_without_it(
    name: str, way: str, rig: MemoryRig, tmp_path: Path
) -> None:
    def program() -> tuple[bytes, list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", urllib3.exceptions.InsecureRequestWarning)
            body = FETCHERS[name](server.url, server.proxy if way == "tunnel" else None)
        insecure = urllib3.exceptions.InsecureRequestWarning
        return body, [str(warning.message) for warning in caught if warning.category is insecure]

    with TlsServer(tmp_path) as server:
        bare = program()
        with rig.record():
            recorded = program()
        assert server.tunnels == (2 if way == "tunnel" else 0)
    assert recorded == bare
    assert recorded[0] == b"secret"
    assert [exchange.request.url for exchange in rig.exchanges] == [server.url]
    with rig.replay():
        assert program() == recorded


@pytest.mark.parametrize("name", FETCHERS)
@pytest.mark.parametrize("way", ["direct", "tunnel"])
def test_a_certificate_that_is_not_trusted_is_refused_in_the_replay_too(
    name: str, way: str, rig: MemoryRig, tmp_path: Path
) -> None:
    strict: dict[str, Callable[[str, str | None], object]] = {
        "httpx": lambda url, proxy: httpx.get(url, proxy=proxy),
        "httpx2": lambda url, proxy: httpx2.get(url, proxy=proxy),
        "requests": lambda url, proxy: requests.get(url, proxies={"https": proxy} if proxy else None),
        "urllib3": lambda url, proxy: (
            urllib3.ProxyManager(proxy, retries=False) if proxy else urllib3.PoolManager(retries=False)
        ).request("GET", url),
        "aiohttp": lambda url, proxy: asyncio.run(_strict_aiohttp(url, proxy)),
    }

    def program() -> tuple[type, str]:
        with pytest.raises(Exception) as info:
            strict[name](server.url, server.proxy if way == "tunnel" else None)
        return type(info.value), str(info.value)

    with TlsServer(tmp_path) as server, rig.record():
        recorded = program()
    assert "certificate" in recorded[1].lower()
    with rig.replay():
        assert program() == recorded


async def _strict_aiohttp(url: str, proxy: str | None) -> None:
    async with aiohttp.ClientSession() as session:
        await session.get(url, proxy=proxy)


@pytest.mark.parametrize("name", ["httpx", "httpx2", "requests", "urllib3", "aiohttp"])
def test_a_proxy_that_is_not_there_is_not_there_in_the_replay(name: str, rig: MemoryRig) -> None:
    def program() -> tuple[type, str]:
        with pytest.raises(Exception) as info:
            FETCHERS[name]("https://127.0.0.1:9/", "http://127.0.0.1:9")
        return type(info.value), str(info.value)

    with rig.record():
        recorded = program()
    with rig.replay():
        assert program() == recorded
